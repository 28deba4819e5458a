"""Decodes the Parquet files of a submission, in a process of its own with bounded memory and time.

Run as a script: whatever a hostile file does to the decoder, it does to a process that holds
nothing. Standard input is a line of JSON, ``{"dtype", "width", "files": [{"bytes", "rows"}, ...]}``,
and the files one after the other. Standard output is, for each file, a line of JSON and
then its indices (int64) and its predictions: ``{"rows": n}``, or ``{"error": "..."}`` alone.
"""

import json
import os
import resource
import sys
from typing import Any

MEMORY, SECONDS = 1 << 30, 20
"""Bytes of address space and seconds of processor time that decoding may take: 20 seeds of the largest
board take less than half of the one and a tenth of the other."""

_METADATA = 1 << 20
_ROW_GROUPS = 256


def _check_sizes(metadata: Any, most_bytes: int) -> None:
    """Refuse columns that say themselves that they hold more than their rows.

    Raises:
        ValueError: if one does.
    """
    unpacked = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            unpacked += group.column(place).total_uncompressed_size
            if not 0 <= unpacked <= most_bytes:
                raise ValueError(f"declares {unpacked:,} bytes of data; expected {most_bytes:,} or fewer")


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
        _check_sizes(metadata, most_bytes=_METADATA + 8 * rows * (8 + max(1, width) * element.byte_width))
        table = file.read(use_threads=False)
    if table.num_rows != metadata.num_rows:
        raise ValueError(f"has {table.num_rows:,} rows, but declares {metadata.num_rows:,}")
    table.validate(full=True)
    return _to_numpy(table, "index", 0, "int64"), _to_numpy(table, "prediction", width, dtype)


def _to_numpy(table: Any, name: str, width: int, dtype: str) -> Any:
    """Return the numbers of a column without missing values.

    From its buffer: Arrow's own conversion imports pandas, which takes longer than all the rest.

    Raises:
        ValueError: if a value is missing.
    """
    import numpy as np
    import pyarrow as pa

    column = table.column(name)
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if array.null_count:
        row = array.is_null().to_pylist().index(True)
        raise ValueError(f"row {row}: {name} is missing")
    values = array.flatten() if width else array
    if values.null_count or len(values) != max(1, width) * len(array):
        raise ValueError(f"has a {name} with missing entries")
    if not len(values):
        return np.zeros(0, dtype)
    buffer = np.frombuffer(values.buffers()[1], dtype)
    return buffer[values.offset : values.offset + len(values)]


def _limit(kind: int, most: int) -> None:
    try:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (OSError, ValueError):  # a system without this limit
        pass


def main() -> None:
    """Decode what standard input holds."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    for library in ("OPENBLAS", "OMP", "MKL"):  # else each processor takes its share of the memory
        os.environ[f"{library}_NUM_THREADS"] = "1"
    _limit(resource.RLIMIT_AS, MEMORY)
    _limit(resource.RLIMIT_CPU, SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    source, goal = sys.stdin.buffer, sys.stdout.buffer
    request = json.loads(source.readline())
    for file in request["files"]:
        data = source.read(file["bytes"])
        try:
            index, prediction = decode(data, file["rows"], request["dtype"], request["width"])
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
