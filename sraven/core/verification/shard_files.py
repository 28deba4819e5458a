"""A Parquet file that another version of the writer wrote: every field and every byte of it.

PyArrow cuts pages, compresses them and describes them a little otherwise from version to version. So
where bytes can't be compared, everything that a reader may believe is made anew from the pages and the
generator's values: sizes, statistics, page indexes, counts. A field that isn't known here is refused,
and so is a byte that no field leads to.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sraven.core.dataset.formats import FORMATS
from sraven.core.ground.echo import shown
from sraven.core.tasks.table import arrow_schema, from_table
from sraven.core.tasks.task import Arrays, Column
from sraven.core.verification.parquet.claims import check_chunk, check_fields, check_indexes
from sraven.core.verification.parquet.pages import leaf_of, read_chunk
from sraven.core.verification.parquet.thrift import (
    BINARY,
    I16,
    I32,
    I64,
    LIST,
    STRUCT,
    Fields,
    elements,
    number_of,
    read_struct,
    struct_of,
)

_MAGIC = b"PAR1"
_MOST_METADATA = 1 << 20
"""Bytes of a piece of metadata; the writer needs some thousands."""

_SHARED = (1, 2, 5, 7)
"""Fields of the metadata that don't depend on the rows: format, schema, texts by name, column orders."""


def _read_whole(data: memoryview, begin: int, size: int, where: str) -> Fields:
    if size > _MOST_METADATA:
        raise ValueError(f"{where} has {size:,} bytes; the writer needs fewer")
    try:
        fields, used = read_struct(data[begin : begin + size])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if used != size or not 0 <= begin <= len(data) - size:
        raise ValueError(f"{where} has another size than it says")
    return fields


def _read_metadata(data: memoryview) -> tuple[Fields, int]:
    """Return the metadata at the end of a file, and where it begins."""
    if len(data) < 12 or data[:4] != _MAGIC or data[-4:] != _MAGIC:
        raise ValueError("it is no whole Parquet file")
    (size,) = struct.unpack("<I", data[-8:-4])
    if size > len(data) - 12:
        raise ValueError("it is no whole Parquet file")
    begin = len(data) - 8 - size
    return _read_whole(data, begin, size, "the metadata"), begin


class _File:
    """A Parquet file, checked a row group at a time; notes which bytes something leads to."""

    def __init__(
        self, data: memoryview, columns: Sequence[Column], counts: Sequence[int], writer: str
    ) -> None:
        self._data, self._columns = data, columns
        self._metadata, self._end = _read_metadata(data)
        self._covered = [(0, len(_MAGIC))]
        self._groups = elements(self._metadata, 4, STRUCT)
        if len(self._groups) != len(counts):
            raise ValueError(f"it has {len(self._groups):,} row groups; expected {len(counts):,}")
        empty = pa.BufferOutputStream()
        with FORMATS["parquet"](empty, arrow_schema(columns)):
            pass
        model, _ = _read_metadata(memoryview(empty.getvalue().to_pybytes()))
        for number in _SHARED:
            if self._metadata.get(number) != model[number]:
                raise ValueError("its schema or its metadata isn't that of the task's columns")
        expected: Fields = {
            **{number: model[number] for number in _SHARED},
            3: (I64, sum(counts)),
            4: (LIST, (STRUCT, self._groups)),
            6: (BINARY, f"parquet-cpp-arrow version {writer}".encode()),
        }
        check_fields(self._metadata, expected, "the metadata")

    def read_group(self, number: int, rows: int) -> Arrays:
        """Return the values of a row group, in their shapes, if everything about it is right.

        Raises:
            ValueError: if something isn't.
        """
        group = self._groups[number]
        chunks = elements(group, 1, STRUCT)
        if len(chunks) != len(self._columns):
            raise ValueError(f"row group {number} has {len(chunks)} columns; expected {len(self._columns)}")
        arrays, raw_size, size = {}, 0, 0
        begin = _begin_of(chunks[0])
        for column, fields in zip(self._columns, chunks, strict=True):
            where = f"column {column.name} in row group {number}"
            values, raw, compressed = self._read_column(column, fields, rows, where)
            arrays[column.name] = values.astype(column.dtype).reshape(rows, *column.shape)
            if not np.array_equal(leaf_of(column).flat(arrays[column.name]), values):
                raise ValueError(f"{where} has values beyond {column.dtype}")
            raw_size, size = raw_size + raw, size + compressed
        expected: Fields = {
            1: group[1],
            2: (I64, raw_size),
            3: (I64, rows),
            5: (I64, begin),
            6: (I64, size),
        }
        check_fields(group, expected, f"row group {number}", {7: (I16, number)})
        return arrays

    def _read_column(
        self, column: Column, fields: Fields, rows: int, where: str
    ) -> tuple[NDArray[Any], int, int]:
        leaf, own = leaf_of(column), struct_of(fields, 3)
        begin, size = _begin_of(fields), number_of(own, 7)
        if not 0 <= begin <= begin + size <= self._end:
            raise ValueError(f"{where} lies outside of the file")
        chunk = read_chunk(self._data, leaf, begin, begin + size, rows * leaf.width)
        check_chunk(own, leaf, chunk, size, where)
        indexes: list[Fields] = []
        expected: Fields = {2: (I64, 0), 3: (STRUCT, own)}
        for place, length in ((6, 7), (4, 5)):
            at, count = number_of(fields, place), number_of(fields, length)
            if not 0 <= at <= at + count <= self._end:
                raise ValueError(f"{where} has no page index")
            indexes.append(_read_whole(self._data, at, count, f"the page index of {where}"))
            expected |= {place: (I64, at), length: (I32, count)}
            self._covered.append((at, count))
        check_indexes(indexes[0], indexes[1], leaf, chunk, where)
        check_fields(fields, expected, where)
        self._covered.append((begin, size))
        return chunk.values, chunk.raw_size, size

    def check_coverage(self) -> None:
        """Check that each byte before the metadata belongs to one thing that was read."""
        at = 0
        for begin, size in sorted(self._covered):
            if begin != at:
                raise ValueError(f"what is at byte {min(at, begin):,} belongs to nothing or to two things")
            at = begin + size
        if at != self._end:
            raise ValueError(f"what is at byte {at:,} belongs to nothing")


def _begin_of(chunk: Fields) -> int:
    """Return where a column chunk begins: with its dictionary, or else with its first page."""
    own = struct_of(chunk, 3)
    return number_of(own, 11 if 11 in own else 9)


def read_parquet(
    data: bytes, columns: Sequence[Column], counts: Sequence[int], writer: str
) -> Iterator[Arrays]:
    """Yield the rows of a file, a row group at a time, if readers can't read anything else in it.

    What our own reader finds is compared with what PyArrow reads.

    Args:
        data: the file.
        columns: its columns.
        counts: rows of each row group.
        writer: the version of PyArrow that it is said to be written by.

    Raises:
        ValueError: for a file that our writer doesn't write, whatever its version.
    """
    view = memoryview(data)
    file = _File(view, columns, counts, writer)
    opened: pq.ParquetFile | None = None
    for number, rows in enumerate(counts):
        arrays = file.read_group(number, rows)
        if number == len(counts) - 1:
            file.check_coverage()
        try:
            opened = opened or pq.ParquetFile(pa.BufferReader(data))
            table = opened.read_row_group(number, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise ValueError(f"PyArrow can't read it ({shown(str(error))})") from None
        if table.schema != arrow_schema(columns) or table.schema.metadata:
            raise ValueError("its schema isn't that of the task's columns")
        for name, values in from_table(table, columns).items():
            if not np.array_equal(arrays[name], values):
                raise ValueError(f"PyArrow reads other values of {name} in row group {number}")
        yield arrays
