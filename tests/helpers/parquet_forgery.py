"""Parquet files that lie: their metadata is taken apart, changed and put together again.

Thrift's compact protocol, as far as Parquet uses it. A struct is a dict from the number of a field to
its type and value; `docs` for the numbers is the format's own ``parquet.thrift``.
"""

import struct
from io import BytesIO
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12

Fields = dict[int, tuple[int, Any]]

MAGIC = b"PAR1"


def _read_varint(source):
    value = shift = 0
    while True:
        byte = source.read(1)[0]
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value


def varint(value):
    """Return a number in groups of seven bits, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _read_value(source, kind):
    if kind in (TRUE, FALSE):
        return kind == TRUE
    if kind == BYTE:
        return source.read(1)[0]
    if kind in (I16, I32, I64):
        coded = _read_varint(source)
        return coded >> 1 ^ -(coded & 1)
    if kind == DOUBLE:
        return source.read(8)
    if kind == BINARY:
        return source.read(_read_varint(source))
    if kind == LIST:
        head = source.read(1)[0]
        count = head >> 4 if head >> 4 < 15 else _read_varint(source)
        return head & 15, [_read_value(source, head & 15) for _ in range(count)]
    assert kind == STRUCT, kind
    return read_struct(source)


def read_struct(source):
    """Read a struct."""
    fields: Fields = {}
    number = 0
    while head := source.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _read_value(source, I16)
        fields[number] = head & 15, _read_value(source, head & 15)
    return fields


def _write_value(kind, value):
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value])
    if kind in (I16, I32, I64):
        return _zigzag(value)
    if kind == DOUBLE:
        return bytes(value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        of, values = value
        size = (
            bytes([len(values) << 4 | of]) if len(values) < 15 else bytes([0xF0 | of]) + varint(len(values))
        )
        return size + b"".join(_write_value(of, each) for each in values)
    assert kind == STRUCT, kind
    return write_struct(value)


def write_struct(fields):
    """Write a struct."""
    out, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        short = 0 < number - last < 16
        head = bytes([number - last << 4 | kind]) if short else bytes([kind]) + _zigzag(number)
        out, last = out + head + _write_value(kind, value), number
    return out + b"\0"


def take_apart(data):
    """Return what lies before the metadata of a file, and the metadata."""
    (length,) = struct.unpack("<I", data[-8:-4])
    return data[: -8 - length], read_struct(BytesIO(data[-8 - length : -8]))


def put_together(body, metadata):
    """Return a file."""
    text = write_struct(metadata)
    return body + text + struct.pack("<I", len(text)) + MAGIC


def change_metadata(data, *changes):
    """Return a file with other values in its metadata: of each its place, on the way down, and the value."""
    body, metadata = take_apart(data)
    for (*way, last), value in changes:
        at: Any = metadata
        for step in way:
            at = at[step][1] if isinstance(at, dict) else at[1][step]
        at[last] = at[last][0], value
    return put_together(body, metadata)


def page(kind, payload, n_values, *, encoding=0, uncompressed=None):
    """Return a page: a header, and what it announces.

    Args:
        kind: 0 for data, 2 for a dictionary.
        payload: the bytes, as they are stored.
        n_values: how many values it says to have.
        encoding: 0 plain, 8 run lengths of places in a dictionary.
        uncompressed: how many bytes it says to become; None for those of the payload.
    """
    own: Fields = {1: (I32, n_values), 2: (I32, encoding)}
    if kind == 0:
        own |= {3: (I32, 3), 4: (I32, 3)}
    size = len(payload) if uncompressed is None else uncompressed
    header = {1: (I32, kind), 2: (I32, size), 3: (I32, len(payload)), {0: 5, 2: 7}[kind]: (STRUCT, own)}
    return write_struct(header) + payload


def run(count, value):
    """Return one value, of a byte or less, ``count`` times, as a run length."""
    return varint(count << 1) + bytes([value])


def levels(*runs):
    """Return levels as they stand at the beginning of a data page."""
    text = b"".join(runs)
    return struct.pack("<I", len(text)) + text


def replace_pages(data, column, dictionary, pages, n_values, codec=0):
    """Return a file in which a column of the first row group has other pages.

    Args:
        data: the file.
        column: number of the column.
        dictionary: the page of the dictionary; may be empty.
        pages: pages of data.
        n_values: how many values the column says to have.
        codec: 0 none, 1 Snappy, 2 gzip, 6 Zstandard.
    """
    body, metadata = take_apart(data)
    chunk: Fields = metadata[4][1][1][0][1][1][1][column][3][1]
    for number in (11, 12, 13, 16):
        chunk.pop(number, None)
    if dictionary:
        chunk[11] = I64, len(body)
    chunk[9] = I64, len(body) + len(dictionary)
    chunk[4], chunk[5] = (I32, codec), (I64, n_values)
    size = len(dictionary) + len(pages)
    chunk[6], chunk[7] = (I64, size), (I64, size)
    return put_together(body + dictionary + pages, metadata)
