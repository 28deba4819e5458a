"""Arrays to Arrow tables and back, without copies where Arrow allows it."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.roles import Arrays, Column


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the schema of a dataset: numbers and flat lists of fixed size, no metadata."""

    def arrow_type(column: Column) -> pa.DataType:
        element = pa.from_numpy_dtype(np.dtype(column.dtype))
        return pa.list_(element, prod(column.shape)) if column.shape else element

    return pa.schema([pa.field(column.name, arrow_type(column)) for column in columns])


def to_table(arrays: Arrays, columns: Sequence[Column]) -> pa.Table:
    """Return an Arrow table that shares the arrays' memory."""
    schema = arrow_schema(columns)

    def to_arrow(column: Column) -> pa.Array:
        values = pa.array(arrays[column.name].reshape(-1))
        if not column.shape:
            return values
        return pa.FixedSizeListArray.from_arrays(values, type=schema.field(column.name).type)

    return pa.Table.from_arrays([to_arrow(column) for column in columns], schema=schema)


def _column_to_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column of numbers ``[n]`` or of fixed-size lists ``[n, size]``.

    A column in one chunk isn't copied. `flatten` respects the offset of a slice, unlike `values`.
    """
    if column.null_count:
        raise ConfigurationError("the column has missing values; the benchmark writes none")
    if column.num_chunks == 1:
        array = column.chunk(0)
    else:
        array = pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    if not pa.types.is_fixed_size_list(array.type):
        numbers = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
        return np.asarray(array.to_numpy(zero_copy_only=numbers))
    values = np.asarray(array.flatten().to_numpy(zero_copy_only=True))
    return values.reshape(len(array), array.type.list_size)


def to_arrays(dataset: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a `datasets.Dataset` or `pyarrow.Table` by name, lists of fixed size as rows.

    Raises:
        ConfigurationError: for anything else.
    """
    if hasattr(dataset, "with_format") and isinstance(getattr(dataset, "num_rows", None), int):
        dataset = dataset.with_format("arrow")[:]  # applies the order of a shuffled dataset
    if not isinstance(dataset, pa.Table):
        raise ConfigurationError(
            f"expected a datasets.Dataset (one split) or a pyarrow.Table, got {type(dataset).__name__}"
        )
    return {name: _column_to_numpy(dataset.column(name)) for name in dataset.column_names}
