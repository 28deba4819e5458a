"""Column chunks of our Parquet files, decoded by a reader of our own that takes nothing for granted.

Readers of Parquet differ in what they make of files that break the rules: of numbers too large for
their column, of runs that end too late, of bytes that nobody asks for. Here a chunk is either as our
writer makes it or refused: pages of version 1, one Zstandard frame each, without missing values and
without a byte to spare. What is left has one reading.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.compute.jit import kernel
from sraven.core.tasks.task import Column
from sraven.core.verification.parquet.thrift import FALSE, I32, STRUCT, number_of, read_struct, struct_of
from sraven.core.verification.parquet.zstandard import decompress

PLAIN, RLE, RLE_DICTIONARY, BYTE_STREAM_SPLIT = 0, 3, 8, 9
"""Encodings, by Parquet's numbers."""

DATA_PAGE, DICTIONARY_PAGE = 0, 2
ZSTD = 6

_MOST_PAGES = 1024
"""Pages of a chunk; the writer makes some dozens."""

_STORED = {"uint8": (1, "<i4"), "int32": (1, "<i4"), "int64": (2, "<i8"), "float32": (4, "<f4")}
"""Parquet's number of the physical type that a column has, and its form in memory."""


@dataclass(frozen=True)
class Leaf:
    """A column as Parquet sees it.

    Attributes:
        path: names from the root of the schema to the values.
        kind: Parquet's number of the physical type.
        stored: the physical type as NumPy names it.
        width: values of one row.
        nested: whether they are in a list.
    """

    path: tuple[bytes, ...]
    kind: int
    stored: str
    width: int
    nested: bool

    @property
    def depth(self) -> int:
        """The definition level of a value that isn't missing."""
        return 3 if self.nested else 1

    def flat(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the values of an array as they are stored, one after the other."""
        return array.reshape(-1).astype(self.stored, copy=False)


def leaf_of(column: Column) -> Leaf:
    """Return how Parquet stores a column."""
    kind, stored = _STORED[column.dtype]
    inner = (b"list", b"element") if column.shape else ()
    return Leaf((column.name.encode(), *inner), kind, stored, prod(column.shape), bool(column.shape))


@dataclass(frozen=True)
class Page:
    """A page: where it begins, its bytes with the header, how many values it has, how they are encoded."""

    begin: int
    size: int
    count: int
    encoding: int


@dataclass(frozen=True)
class Chunk:
    """A column of a row group.

    Attributes:
        values: all values, as they are stored.
        dictionary: the page with the dictionary, if there is one.
        pages: the pages with data.
        raw_size: bytes of all pages, headers as they are and contents before compression.
    """

    values: NDArray[Any]
    dictionary: Page | None
    pages: list[Page]
    raw_size: int


@kernel
def decode_runs(data: Any, bits: Any, out: Any) -> Any:
    """Fill an array with numbers of some bits each, from run lengths and packed groups of eight.

    Args:
        data: uint8 ``[n]``.
        bits: of a number, 32 at most.
        out: int64; as many numbers as are wanted.

    Returns:
        whether the data holds just these numbers, and nothing more.
    """
    at, done, mask = 0, 0, (np.int64(1) << bits) - 1
    while done < len(out):
        header, shift, more = np.int64(0), 0, True
        while more:
            if at >= len(data) or shift > 28:
                return False
            byte = np.int64(data[at])
            at += 1
            if byte == 0 and shift > 0:
                return False
            header |= (byte & 127) << shift
            shift += 7
            more = bool(byte > 127)
        count = int(header >> 1)
        if count == 0:
            return False
        if header & 1:
            if count > (len(out) - done + 7) // 8 or count * bits > len(data) - at:
                return False
            buffered, held = np.int64(0), 0
            for _ in range(8 * count):
                while held < bits:
                    buffered |= np.int64(data[at]) << held
                    at += 1
                    held += 8
                if done < len(out):
                    out[done] = buffered & mask
                    done += 1
                elif buffered & mask:
                    return False
                buffered >>= bits
                held -= bits
        else:
            size = (bits + 7) // 8
            if count > len(out) - done or size > len(data) - at:
                return False
            value = np.int64(0)
            for place in range(size):
                value |= np.int64(data[at + place]) << (8 * place)
            at += size
            if value > mask:
                return False
            out[done : done + count] = value
            done += count
    return at == len(data)


def _runs(data: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.int64]:
    out = np.empty(count, np.int64)
    if not decode_runs(data, bits, out):
        raise ValueError("has runs that aren't as many numbers as it says")
    return out


def _cut_levels(data: NDArray[np.uint8], bits: int, expected: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Check that the data begins with these levels; return what follows them."""
    size = int.from_bytes(data[:4].tobytes(), "little")
    if size > len(data) - 4:
        raise ValueError("has levels that are cut off")
    if not np.array_equal(_runs(data[4 : 4 + size], bits, len(expected)), expected):
        raise ValueError("has levels of missing values or of lists of other sizes")
    return data[4 + size :]


class _Dictionary:
    """The values that a chunk's dictionary lists, and which of them its pages name."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values, self.named = values, np.zeros(len(values), np.bool_)

    def is_needed(self) -> bool:
        """Tell whether each value stands there once, and is named."""
        return bool(self.named.all()) and len(np.unique(self.values)) == len(self.values)


def _plain(data: NDArray[np.uint8], leaf: Leaf, dictionary: _Dictionary, count: int) -> NDArray[Any]:
    if data.nbytes != count * np.dtype(leaf.stored).itemsize:
        raise ValueError("isn't as long as its values are")
    return np.frombuffer(data.tobytes(), leaf.stored)


def _streams(data: NDArray[np.uint8], leaf: Leaf, dictionary: _Dictionary, count: int) -> NDArray[Any]:
    if data.nbytes != count * np.dtype(leaf.stored).itemsize:
        raise ValueError("isn't as long as its values are")
    return np.frombuffer(data.reshape(-1, count).T.tobytes(), leaf.stored)


def _looked_up(data: NDArray[np.uint8], leaf: Leaf, dictionary: _Dictionary, count: int) -> NDArray[Any]:
    if not len(data) or data[0] > 32:
        raise ValueError("doesn't say how many bits its numbers have")
    places = _runs(data[1:], int(data[0]), count)
    if places.max() >= len(dictionary.values):
        raise ValueError("leads beyond the end of its dictionary")
    dictionary.named[places] = True
    return dictionary.values[places]


_DECODERS: dict[int, Callable[[NDArray[np.uint8], Leaf, _Dictionary, int], NDArray[Any]]] = {
    PLAIN: _plain,
    RLE_DICTIONARY: _looked_up,
    BYTE_STREAM_SPLIT: _streams,
}


def _decode(raw: NDArray[np.uint8], leaf: Leaf, dictionary: _Dictionary, page: Page) -> NDArray[Any]:
    """Return the values of a data page."""
    if leaf.nested:
        in_list = (np.arange(page.count) % leaf.width != 0).astype(np.int64)
        raw = _cut_levels(raw, 1, in_list)
    raw = _cut_levels(raw, leaf.depth.bit_length(), np.full(page.count, leaf.depth))
    return _DECODERS[page.encoding](raw, leaf, dictionary, page.count)


def _read_header(data: memoryview, begin: int, most: int) -> tuple[Page, int, memoryview, int]:
    """Return a page, its type, its compressed content and the size of that when decompressed.

    Args:
        data: the chunk's file, to the end of the chunk.
        begin: where the page begins.
        most: values that it may have.
    """
    header, used = read_struct(data[begin:])
    kind, raw_size, size = (number_of(header, number) for number in (1, 2, 3))
    place = {DATA_PAGE: 5, DICTIONARY_PAGE: 7}.get(kind, 0)
    own = struct_of(header, place)
    kinds = {1: I32, 2: I32, 3: I32, 4: I32} if kind == DATA_PAGE else {1: I32, 2: I32, 3: FALSE}
    if (
        {number: of for number, (of, _) in header.items()} != {1: I32, 2: I32, 3: I32, place: STRUCT}
        or {number: of for number, (of, _) in own.items()} != kinds
        or min(raw_size, size) < 0
        or (kind == DATA_PAGE and (own[3][1], own[4][1]) != (RLE, RLE))
        or own[2][1] not in (_DECODERS if kind == DATA_PAGE else (PLAIN,))
        or not 0 < own[1][1] <= most
    ):
        raise ValueError("has a header that the writer doesn't write")
    content = data[begin + used : begin + used + size]
    if len(content) < size:
        raise ValueError("is cut off")
    page = Page(begin, used + len(content), own[1][1], own[2][1])
    return page, kind, content, raw_size


def read_chunk(data: memoryview, leaf: Leaf, begin: int, end: int, count: int) -> Chunk:
    """Return a column chunk that is as our writer makes them.

    Args:
        data: the file.
        leaf: the column.
        begin: where the chunk begins.
        end: where it ends.
        count: how many values it has.

    Raises:
        ValueError: for any other.
    """
    itemsize = np.dtype(leaf.stored).itemsize
    values: list[NDArray[Any]] = []
    pages: list[Page] = []
    dictionary, dictionary_page = _Dictionary(np.empty(0, leaf.stored)), None
    at, left, raw_size = begin, count, 0
    while at < end:
        try:
            if len(pages) == _MOST_PAGES:
                raise ValueError("is one of too many")
            page, kind, content, size = _read_header(data[:end], at, left)
            if size > 64 + page.count * (itemsize + 2):
                raise ValueError("says to be larger than its values are")
            raw = decompress(content, size)
            if kind == DICTIONARY_PAGE:
                if at != begin:
                    raise ValueError("is a dictionary, but not the first page")
                dictionary_page = page
                dictionary = _Dictionary(_plain(raw, leaf, dictionary, page.count))
            else:
                if page.count % leaf.width:
                    raise ValueError("ends within a row")
                values.append(_decode(raw, leaf, dictionary, page))
                pages.append(page)
                left -= page.count
        except ValueError as error:
            raise ValueError(f"the page at byte {at:,} {error}") from None
        at, raw_size = at + page.size, raw_size + page.size - len(content) + size
    if left or at != end:
        raise ValueError(f"the chunk at byte {begin:,} hasn't as many values as it says")
    if not dictionary.is_needed():
        raise ValueError(f"the chunk at byte {begin:,} has a dictionary of other values than its pages")
    return Chunk(np.concatenate(values), dictionary_page, pages, raw_size)
