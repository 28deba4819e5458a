"""Thrift's compact protocol, as far as Parquet's metadata uses it, in the one form that writers give.

A struct is a mapping from the number of a field to its kind and value; the numbers are those of the
format's own ``parquet.thrift``. The protocol has several texts for one value (numbers with leading
zeros, fields in any order or twice), and readers differ in what they make of them. So what is read is
written again, and has to be the same bytes.
"""

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12
"""Kinds of values. A field that is `TRUE` or `FALSE` has the truth value in its kind."""

Fields = dict[int, tuple[int, Any]]
"""A struct: kinds and values by number. The value of a list is the kind of its elements, and these."""

_DEEPEST = 10


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self._data, self.at, self._depth = data, 0, 0

    def byte(self) -> int:
        if self.at >= len(self._data):
            raise ValueError("it is cut off")
        self.at += 1
        return self._data[self.at - 1]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("a number has more than 64 bits")

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in (I16, I32, I64):
            coded = self.varint()
            return coded >> 1 ^ -(coded & 1)
        if kind in (BINARY, DOUBLE):
            size = self.varint() if kind == BINARY else 8
            begin, self.at = self.at, self.at + size
            if self.at > len(self._data):
                raise ValueError("it is cut off")
            return bytes(self._data[begin : self.at])
        if kind == LIST:
            head = self.byte()
            count, of = head >> 4 if head >> 4 < 15 else self.varint(), head & 15
            if count > len(self._data) - self.at:  # each element takes a byte at least
                raise ValueError("it is cut off")
            each = BYTE if of in (TRUE, FALSE) else of
            return of, [self.value(each) for _ in range(count)]
        if kind == STRUCT:
            return self.struct()
        raise ValueError("it holds a value of unknown kind")

    def struct(self) -> Fields:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        fields: Fields = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.value(I16)
            fields[number] = head & 15, self.value(head & 15)
        self._depth -= 1
        return fields


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _write_value(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value])
    if kind in (I16, I32, I64):
        return _varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == LIST:
        of, values = value
        short = len(values) < 15
        head = bytes([len(values) << 4 | of]) if short else bytes([0xF0 | of]) + _varint(len(values))
        each = BYTE if of in (TRUE, FALSE) else of
        return head + b"".join([_write_value(each, element) for element in values])
    return write_struct(value) if kind == STRUCT else bytes(value)


def write_struct(fields: Fields) -> bytes:
    """Return the bytes of a struct."""
    out, last = [], 0
    for number, (kind, value) in sorted(fields.items()):
        short = 0 < number - last < 16
        head = bytes([number - last << 4 | kind]) if short else bytes([kind]) + _write_value(I16, number)
        out += [head, _write_value(kind, value)]
        last = number
    return b"".join([*out, b"\0"])


def read_struct(data: memoryview) -> tuple[Fields, int]:
    """Return the struct that some bytes begin with, and how many bytes it takes.

    Raises:
        ValueError: if they begin with none, or with one that isn't written in the usual form.
    """
    reader = _Reader(data)
    fields = reader.struct()
    if write_struct(fields) != data[: reader.at]:
        raise ValueError("it isn't written in the usual form")
    return fields, reader.at


def elements(fields: Fields, number: int, of: int) -> list[Any]:
    """Return a list in a struct, empty if it isn't there or is of other elements."""
    kind, content = fields.get(number, (LIST, (of, [])))
    return list(content[1]) if kind == LIST and content[0] == of else []


def struct_of(fields: Fields, number: int) -> Fields:
    """Return a struct in a struct, empty if it isn't there or is something else."""
    kind, content = fields.get(number, (STRUCT, {}))
    return dict(content) if kind == STRUCT else {}


def number_of(fields: Fields, number: int) -> int:
    """Return a number in a struct, -1 if it isn't there or has another type."""
    kind, value = fields.get(number, (I64, -1))
    return int(value) if kind in (I16, I32, I64) else -1
