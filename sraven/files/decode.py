"""Decoder of untrusted Parquet files, in a process of its own with bounded memory and time.

Run as a script: whatever a hostile file does to the decoder, it does to a process that holds
nothing. Standard input is, for each file, a line of JSON, ``{"bytes", "rows", "bare", "columns": [[name,
dtype, width], ...]}``, and then the file. Standard output is, for each, a line of JSON, ``{"rows": n}`` or
``{"error": "..."}``, and then its columns. A column of texts is their lengths in bytes (int64), and then all
of them in UTF-8.
"""

import json
import os
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

MEMORY, SECONDS = 1 << 30, 20
"""Bytes of address space and seconds of processor time that decoding may take: 20 seeds of the largest
board take less than half of the one and a tenth of the other."""

MOST_REPLY, MOST_REPLIES = 1 << 15, 1 << 26
"""Bytes in UTF-8 of a text that is a prediction, and of all that are those of a run."""

_METADATA = 1 << 20
_ROW_GROUPS = 256

_Columns = Sequence[tuple[str, str, int]]
"""Of each column the name, the dtype or "text", and the length of its lists, 0 for a single value."""


def _check_types(schema: Any, columns: _Columns) -> int:
    """Refuse other columns than the wanted ones; return how many bytes a row of these takes.

    Raises:
        ValueError: if a name or a type differs.
    """
    import numpy as np
    import pyarrow as pa

    if schema.names != [name for name, _, _ in columns]:
        names = ", ".join(map(ascii, schema.names[:4]))
        raise ValueError(f"has the columns {names}; expected {', '.join(name for name, _, _ in columns)}")
    size = 0
    for (name, dtype, width), found in zip(columns, schema.types, strict=True):
        number = pa.string() if dtype == "text" else pa.from_numpy_dtype(np.dtype(dtype))
        if width:  # whatever such lists call their values
            is_list = pa.types.is_fixed_size_list(found)
            fits = is_list and (found.value_type, found.list_size) == (number, width)
        else:
            fits = found == number or (dtype == "text" and found == pa.large_string())
        if not fits:
            wanted = f"fixed-size list of {width} {dtype}" if width else dtype.replace("text", "string")
            raise ValueError(f"has {name} of type {found}; expected {wanted}")
        size += 8 if dtype == "text" else max(1, width) * number.byte_width
    return size


def _check_counts(metadata: Any, rows: int, most_bytes: int) -> None:
    """Refuse a file that says itself that it holds more than its rows take.

    Raises:
        ValueError: if it has more rows, groups of them or bytes, or groups that don't make up its rows.
    """
    if metadata.num_rows > rows:
        raise ValueError(f"declares {metadata.num_rows:,} rows; the split has {rows:,}")
    if metadata.num_row_groups > _ROW_GROUPS:
        raise ValueError(f"has {metadata.num_row_groups:,} row groups; expected {_ROW_GROUPS} or fewer")
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    # Whether Arrow minds, or believes the groups and allocates memory for them, depends on its version.
    grouped = sum(group.num_rows for group in groups)
    if grouped != metadata.num_rows:
        raise ValueError(f"declares {metadata.num_rows:,} rows, and {grouped:,} in its row groups")
    unpacked = 0
    for size in (g.column(n).total_uncompressed_size for g in groups for n in range(g.num_columns)):
        unpacked += size
        if not 0 <= unpacked <= most_bytes:
            raise ValueError(f"declares {unpacked:,} bytes of data; expected {most_bytes:,} or fewer")


def decode(data: bytes, rows: int, columns: _Columns, bare: bool = False) -> list[Any]:
    """Return the arrays of a Parquet file, flat and in order; for texts, their lengths and all their bytes.

    Args:
        data: the file.
        rows: how many it may have at most.
        columns: those that it has to have.
        bare: whether its schema may have no metadata, by which libraries read other columns than there are.

    Raises:
        ValueError: if it is anything else than such a file; the message says what.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = {"thrift_string_size_limit": _METADATA, "thrift_container_size_limit": _METADATA}
    with pq.ParquetFile(pa.BufferReader(data), **limits) as file:
        metadata = file.metadata
        if bare and file.schema_arrow.metadata:
            raise ValueError("has metadata of another library")
        size = _check_types(file.schema_arrow, columns)
        texts = MOST_REPLIES * sum(dtype == "text" for _, dtype, _ in columns)
        # Parquet stores numbers of 8 bits in 32.
        _check_counts(metadata, rows, _METADATA + 8 * rows * size + texts)
        table = file.read(use_threads=False)
    if table.num_rows != metadata.num_rows:
        raise ValueError(f"has {table.num_rows:,} rows, but declares {metadata.num_rows:,}")
    table.validate(full=True)  # among other things, that texts are UTF-8
    arrays: list[Any] = []
    for name, dtype, width in columns:
        column = table.column(name)
        array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        if array.null_count:
            row = array.is_null().to_pylist().index(True)
            raise ValueError(f"row {row}: {name} is missing")
        arrays += _texts(array) if dtype == "text" else [_numbers(array, name, dtype, width)]
    return arrays


def _numbers(array: Any, name: str, dtype: str, width: int) -> Any:
    """Return the numbers of an Arrow array, from its buffer: Arrow's own conversion imports pandas.

    Raises:
        ValueError: if one is missing.
    """
    import numpy as np

    values = array.flatten() if width else array
    if values.null_count or len(values) != max(1, width) * len(array):
        raise ValueError(f"has a {name} with missing entries")
    if not len(values):
        return np.zeros(0, dtype)
    return np.frombuffer(values.buffers()[1], dtype)[values.offset : values.offset + len(values)]


def _texts(array: Any) -> tuple[Any, bytes]:
    """Return the lengths of texts, and all their bytes.

    Raises:
        ValueError: if one, or all of them, have too many bytes.
    """
    import numpy as np
    import pyarrow as pa

    if not len(array):
        return np.zeros(0, np.int64), b""
    _, places, texts = array.buffers()
    width = np.int64 if array.type == pa.large_string() else np.int32
    ends = np.frombuffer(places, width)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    lengths = np.diff(ends)
    if len(wrong := np.flatnonzero(lengths > MOST_REPLY)):
        raise ValueError(
            f"row {wrong[0]}: prediction has {lengths[wrong[0]]:,} bytes; expected {MOST_REPLY:,} or fewer"
        )
    if (total := int(ends[-1] - ends[0])) > MOST_REPLIES:
        raise ValueError(f"holds {total:,} bytes of text; expected {MOST_REPLIES:,} or fewer")
    return lengths, bytes(texts)[ends[0] : ends[-1]] if texts else b""


def _limit(kind: int, most: int) -> None:
    with suppress(OSError, ValueError):  # a system without this limit
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Decode what standard input holds."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    for library in ("OPENBLAS", "OMP", "MKL"):  # else each processor takes its share of the memory
        os.environ[f"{library}_NUM_THREADS"] = "1"
    _limit(resource.RLIMIT_AS, MEMORY)
    _limit(resource.RLIMIT_CPU, SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    source, goal = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        request, arrays = json.loads(line), list[Any]()
        try:
            arrays = decode(
                source.read(request["bytes"]), request["rows"], request["columns"], request["bare"]
            )
            answer: dict[str, Any] = {"rows": len(arrays[0])}
        except MemoryError:
            answer = {"error": "needs more memory to decode than such a file should"}
        except Exception as error:  # the decoder's errors are many, all mean the same
            lines = str(error).splitlines() or [type(error).__name__]
            answer = {"error": lines[0][:300]}
        goal.write(json.dumps(answer).encode() + b"\n")
        for array in arrays:
            goal.write(array)
        goal.flush()


if __name__ == "__main__":
    main()
