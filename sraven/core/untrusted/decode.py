"""Decodes the Parquet files of a submission, in a process of its own with bounded memory and time.

Run as a script: whatever a hostile file does to the decoder, it does to a process that holds
nothing. Standard input is a line of JSON, ``{"dtype", "width", "files": [{"bytes", "rows"}, ...]}``,
and the files one after the other. Standard output is, for each file, a line of JSON and
then its indices (int64) and its predictions: ``{"rows": n}``, or ``{"error": "..."}`` alone. Where these are
texts, their lengths in bytes (int64) and then all of them in UTF-8 stand for them.
"""

import json
import os
import resource
import sys
from typing import Any

MEMORY, SECONDS = 1 << 30, 20
"""Bytes of address space and seconds of processor time that decoding may take: 20 seeds of the largest
board take less than half of the one and a tenth of the other."""

MOST_REPLY, MOST_REPLIES = 1 << 15, 1 << 26
"""Bytes in UTF-8 of a text that is a prediction, and of all that are those of a run."""

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


def _check_counts(metadata: Any, schema: Any, rows: int) -> None:
    """Refuse a file with other columns, or more rows or groups of them, than one of predictions has.

    Raises:
        ValueError: if it has.
    """
    if metadata.num_rows > rows:
        raise ValueError(f"declares {metadata.num_rows:,} rows; the split has {rows:,}")
    if metadata.num_row_groups > _ROW_GROUPS:
        raise ValueError(f"has {metadata.num_row_groups:,} row groups; expected {_ROW_GROUPS} or fewer")
    # Whether Arrow minds, or believes the groups and asks for memory, depends on its version.
    grouped = sum(metadata.row_group(place).num_rows for place in range(metadata.num_row_groups))
    if grouped != metadata.num_rows:
        raise ValueError(f"declares {metadata.num_rows:,} rows, and {grouped:,} in its row groups")
    if schema.names != ["index", "prediction"]:
        names = ", ".join(map(ascii, schema.names[:4]))
        raise ValueError(f"has the columns {names}; expected index, prediction")


def decode_texts(data: bytes, rows: int) -> tuple[Any, Any, bytes]:
    """Return the indices, and the texts as their lengths and all their bytes, in a Parquet file.

    Args:
        data: the file.
        rows: how many it may have at most.

    Raises:
        ValueError: if it is anything else than such a file; the message says what.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = {"thrift_string_size_limit": _METADATA, "thrift_container_size_limit": _METADATA}
    with pq.ParquetFile(pa.BufferReader(data), **limits) as file:
        metadata, schema = file.metadata, file.schema_arrow
        _check_counts(metadata, schema, rows)
        index, prediction = (field.type for field in schema)
        if index != pa.int64() or prediction not in (pa.string(), pa.large_string()):
            raise ValueError(f"has columns of type {index} and {prediction}; expected int64 and string")
        _check_sizes(metadata, most_bytes=_METADATA + 16 * rows + MOST_REPLIES)
        table = file.read(use_threads=False)
    table.validate(full=True)  # among other things, that texts are UTF-8
    column = table.column("prediction")
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if array.null_count:
        raise ValueError(f"row {array.is_null().to_pylist().index(True)}: prediction is missing")
    found = _to_numpy(table, "index", 0, "int64")
    if not len(array):
        return found, np.zeros(0, np.int64), b""
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
    return found, lengths, bytes(texts)[ends[0] : ends[-1]] if texts else b""


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
        _check_counts(metadata, schema, rows)
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
        table = file.read(use_threads=False) if element.byte_width >= 4 else None
    if table is None:
        with pq.ParquetFile(pa.BufferReader(without_types(data)), **limits) as file:
            table = file.read(use_threads=False)
        stored = pa.list_(pa.field("element", pa.int32())) if width else pa.int32()
        if table.schema.types != [pa.int64(), stored]:
            raise ValueError(f"stores prediction as {table.schema.types[-1]}; expected integers of 32 bits")
    if table.num_rows != metadata.num_rows:
        raise ValueError(f"has {table.num_rows:,} rows, but declares {metadata.num_rows:,}")
    table.validate(full=True)
    return _to_numpy(table, "index", 0, "int64"), _to_numpy(table, "prediction", width, dtype)


def _to_numpy(table: Any, name: str, width: int, dtype: str) -> Any:
    """Return the numbers of a column without missing values, as a type that holds them all.

    From its buffer: Arrow's own conversion imports pandas, which takes longer than all the rest.

    Raises:
        ValueError: if a value is missing, or isn't one of the type.
    """
    import numpy as np
    import pyarrow as pa

    column = table.column(name)
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if array.null_count:
        row = array.is_null().to_pylist().index(True)
        raise ValueError(f"row {row}: {name} is missing")
    if not len(array):
        return np.zeros(0, dtype)
    if pa.types.is_list(array.type):
        ends = np.frombuffer(array.buffers()[1], np.int32)[array.offset :][: len(array) + 1]
        if len(wrong := np.flatnonzero(np.diff(ends) != width)):
            count = np.diff(ends)[wrong[0]]
            raise ValueError(f"row {wrong[0]}: {name} has {count:,} numbers; expected {width}")
    values = array.flatten() if width else array
    if values.null_count or len(values) != max(1, width) * len(array):
        raise ValueError(f"has a {name} with missing entries")
    stored = np.dtype(values.type.to_pandas_dtype())
    found = np.frombuffer(values.buffers()[1], stored)[values.offset : values.offset + len(values)]
    if stored == dtype:
        return found
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    if len(outside := np.flatnonzero((found < least) | (found > most))):
        place = outside[0]
        raise ValueError(f"row {place // max(1, width)}: {name} holds {found[place]}, which is no {dtype}")
    return found.astype(dtype)


# Parquet stores an integer of 8 or 16 bits in 32, and says beside it how many are meant. Arrow believes
# that, and takes the lowest bits of a number that has more: 256 becomes 0. So the file is read once more
# without what it says of types, as the numbers that are stored. Its metadata is a struct of Thrift's
# compact protocol: fields with a number, a type and a value.

_INT32, _STRUCT, _BINARY, _LISTS, _FIXED = b"\x02", 12, 8, (9, 10), {1: 0, 2: 0, 3: 1, 7: 8}
_VARINTS = (4, 5, 6)
_SCHEMA, _KEYS_AND_VALUES = 2, 5
_PHYSICAL, _CONVERTED, _LOGICAL = 1, 6, 10
_DEEPEST = 30

_Field = tuple[int, int, bytes]


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at
    raise ValueError("has metadata with a number of more than 64 bits")


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the type of a list's values, their count, and where they begin."""
    count, kind = data[at] >> 4, data[at] & 15
    count, at = _read_varint(data, at + 1) if count == 15 else (count, at + 1)
    return kind, count, at


def _end(data: bytes, at: int, kind: int, depth: int = 0) -> int:
    """Return where a value ends."""
    if depth > _DEEPEST:
        raise ValueError(f"has metadata nested deeper than {_DEEPEST}")
    if kind in _FIXED:
        return at + _FIXED[kind]
    if kind in _VARINTS:
        return _read_varint(data, at)[1]
    if kind == _BINARY:
        length, at = _read_varint(data, at)
        return at + length
    if kind in _LISTS:
        of, count, at = _list_head(data, at)
        for _ in range(count):
            if at >= len(data):
                break
            at = at + 1 if of in (1, 2) else _end(data, at, of, depth + 1)
        return at
    if kind == _STRUCT:
        return _fields(data, at, depth + 1)[1]
    raise ValueError(f"has metadata with a value of type {kind}, which Parquet has not")


def _fields(data: bytes, at: int, depth: int = 0) -> tuple[list[_Field], int]:
    """Return the fields of a struct, their values as they stand, and where it ends."""
    fields: list[_Field] = []
    number = 0
    while head := data[at]:
        kind, at = head & 15, at + 1
        if head >> 4:
            number += head >> 4
        else:
            coded, at = _read_varint(data, at)
            number = coded >> 1 ^ -(coded & 1)
        end = _end(data, at, kind, depth)
        fields.append((number, kind, data[at:end]))
        at = end
    return fields, at + 1


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _struct(fields: list[_Field]) -> bytes:
    heads = ((bytes([kind]) + _varint(number << 1), value) for number, kind, value in fields)
    return b"".join(head + value for head, value in heads) + b"\0"


def _untyped(schema: bytes) -> bytes:
    """Return a list of the schema's elements in which integers of 32 bits are no more than that."""
    kind, count, at = _list_head(schema, 0)
    elements = []
    for _ in range(count):
        fields, at = _fields(schema, at)
        if (_PHYSICAL, 5, _INT32) in fields:
            fields = [field for field in fields if field[0] not in (_CONVERTED, _LOGICAL)]
        elements.append(_struct(fields))
    return bytes([0xF0 | kind]) + _varint(count) + b"".join(elements)


def without_types(data: bytes) -> bytes:
    """Return a Parquet file whose integers of 32 bits are read as they are stored.

    Raises:
        ValueError: if its metadata can't be read.
    """
    length = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - length
    try:
        fields, _ = _fields(data[start:-8], 0)
        if start < 0 or any(number < 0 for number, _, _ in fields):
            raise IndexError
        kept = [
            (number, kind, _untyped(value) if number == _SCHEMA else value)
            for number, kind, value in fields
            if number != _KEYS_AND_VALUES
        ]
    except IndexError:
        raise ValueError("has metadata that can't be read") from None
    footer = _struct(kept)
    return data[:start] + footer + len(footer).to_bytes(4, "little") + data[-4:]


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
            arrays: tuple[Any, ...]
            if request["dtype"] == "text":
                arrays = decode_texts(data, file["rows"])
            else:
                arrays = decode(data, file["rows"], request["dtype"], request["width"])
        except MemoryError:
            goal.write(b'{"error": "needs more memory to decode than any submission should"}\n')
        except Exception as error:  # the decoder's errors are many, all mean the same
            lines = str(error).splitlines() or [type(error).__name__]
            goal.write(json.dumps({"error": lines[0][:300]}).encode() + b"\n")
        else:
            goal.write(json.dumps({"rows": len(arrays[0])}).encode() + b"\n")
            for array in arrays:
                goal.write(array if isinstance(array, bytes) else array.tobytes())
        goal.flush()


if __name__ == "__main__":
    main()
