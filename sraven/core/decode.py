"""Decodes the Parquet files of a submission, in a process of its own with bounded memory and time.

Run as a script, never imported by the package: whatever a hostile file does to the decoder, it does
to a process that holds nothing. Standard input is a line of JSON, ``{"rows", "dtype", "width",
"lengths"}``, and the files one after the other. Standard output is, for each file, a line of JSON and
then its indices (int64) and its predictions: ``{"rows": n}``, or ``{"error": "..."}`` alone.
"""

import json
import os
import resource
import sys
from typing import Any

MEMORY, SECONDS = 2 << 30, 60
"""Bytes of address space and seconds of processor time that decoding may take."""

_METADATA = 1 << 20
_ROW_GROUPS = 256


def decode(data: bytes, rows: int, dtype: str, width: int) -> tuple[Any, Any]:
    """Return the indices and predictions in a Parquet file.

    Args:
        data: the file.
        rows: how many it may have at most.
        dtype: name of the type of the predictions.
        width: length of the list that is a prediction; 0 for a single number.

    Raises:
        ValueError: if it is anything else than such a file; the message says what.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    element = pa.from_numpy_dtype(np.dtype(dtype))
    wanted = f"fixed-size list of {width} {dtype}" if width else dtype
    limits = {"thrift_string_size_limit": _METADATA, "thrift_container_size_limit": _METADATA}
    with pq.ParquetFile(pa.BufferReader(data), **limits) as file:
        metadata, schema = file.metadata, file.schema_arrow
        if metadata.num_rows > rows:
            raise ValueError(f"declares {metadata.num_rows:,} rows; the split has {rows:,}")
        if metadata.num_row_groups > _ROW_GROUPS:
            raise ValueError(f"has {metadata.num_row_groups:,} row groups; expected {_ROW_GROUPS} or fewer")
        if schema.names != ["index", "prediction"]:
            names = ", ".join(map(ascii, schema.names[:4]))
            raise ValueError(f"has the columns {names}; expected index, prediction")
        index, prediction = (field.type for field in schema)
        if index != pa.int64():
            raise ValueError(f"has index of type {index}; expected int64")
        fits = prediction == element
        if width:
            fits = pa.types.is_fixed_size_list(prediction) and (
                prediction.value_type,
                prediction.list_size,
            ) == (element, width)
        if not fits:
            raise ValueError(f"has prediction of type {prediction}; expected {wanted}")
        table = file.read(use_threads=False)
    if table.num_rows != metadata.num_rows:
        raise ValueError(f"has {table.num_rows:,} rows, but declares {metadata.num_rows:,}")
    table.validate(full=True)
    columns = []
    for name in ("index", "prediction"):
        column = table.column(name).combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) and column.num_chunks else column
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise ValueError(f"row {row}: {name} is missing")
        if name == "prediction" and width:
            values = column.flatten()
            if values.null_count or len(values) != width * len(column):
                raise ValueError("has a prediction with missing entries")
            column = values
        columns.append(column.to_numpy(zero_copy_only=False).astype(column.type.to_pandas_dtype()))
    return columns[0], columns[1]


def _limit(kind: int, most: int) -> None:
    try:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (OSError, ValueError):  # a system without this limit
        pass


def main() -> None:
    """Decode what standard input holds."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    _limit(resource.RLIMIT_AS, MEMORY)
    _limit(resource.RLIMIT_CPU, SECONDS)
    source, goal = sys.stdin.buffer, sys.stdout.buffer
    request = json.loads(source.readline())
    for length in request["lengths"]:
        data = source.read(length)
        try:
            index, prediction = decode(data, request["rows"], request["dtype"], request["width"])
        except MemoryError:
            goal.write(b'{"error": "needs more memory to decode than any submission should"}\n')
        except Exception as error:  # the decoder's errors are many, all mean the same
            lines = str(error).splitlines() or [type(error).__name__]
            goal.write(json.dumps({"error": lines[0][:300]}).encode() + b"\n")
        else:
            goal.write(json.dumps({"rows": len(index)}).encode() + b"\n")
            goal.write(index.tobytes() + prediction.tobytes())
        goal.flush()


if __name__ == "__main__":
    main()
