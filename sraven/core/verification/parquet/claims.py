"""What a Parquet file says of its column chunks, compared with what their pages and values give."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.verification.parquet.pages import DATA_PAGE, DICTIONARY_PAGE, PLAIN, RLE, ZSTD, Chunk, Leaf
from sraven.core.verification.parquet.thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    TRUE,
    Fields,
    elements,
    number_of,
    struct_of,
)


def check_fields(found: Fields, expected: Fields, where: str, optional: Fields | None = None) -> None:
    """Compare a struct with the one that it should be.

    Raises:
        ValueError: if a field is missing, has another value, or is neither expected nor optional.
    """
    known = (optional or {}) | expected
    wrong = [number for number, field in found.items() if known.get(number) != field]
    wrong += [number for number in expected if number not in found]
    if wrong:
        raise ValueError(f"{where} isn't what pages and values give (field {wrong[0]})")


def _extremes(values: NDArray[Any]) -> tuple[Any, Any]:
    return values.min(), values.max()


def _is_value(text: Any, value: Any) -> bool:
    """Tell whether bytes are a value as statistics have it; of zeros, either sign will do."""
    return len(text) == value.dtype.itemsize and bool(np.frombuffer(text, value.dtype)[0] == value)


def _check_statistics(found: Fields, values: NDArray[Any], where: str) -> None:
    low, high = _extremes(values)
    right = {5: high, 6: low, 1: high, 2: low}  # 1 and 2 are those of old readers
    flags: Fields = {3: (I64, 0), 7: (TRUE, True), 8: (TRUE, True)}
    texts = {number: field for number, field in found.items() if number in right}
    rest: Fields = {number: field for number, field in found.items() if number not in right}
    check_fields(rest, {3: flags[3]}, where, flags)
    if not {5, 6} <= texts.keys() or any(
        kind != BINARY or not _is_value(text, right[number]) for number, (kind, text) in texts.items()
    ):
        raise ValueError(f"{where} aren't those of the values")


def _histograms(leaf: Leaf, count: int) -> tuple[list[int], list[int]]:
    """Return how often each repetition and each definition level stands in ``count`` values."""
    rows = count // leaf.width
    return [rows, count - rows] if leaf.nested else [], [0] * leaf.depth + [count]


def check_chunk(found: Fields, leaf: Leaf, chunk: Chunk, size: int, where: str) -> None:
    """Check what a column chunk says of itself."""
    statistics = struct_of(found, 12)
    _check_statistics(statistics, chunk.values, f"the statistics of {where}")
    repetitions, definitions = _histograms(leaf, len(chunk.values))
    encodings = {page.encoding for page in chunk.pages}
    counted = [(DATA_PAGE, each, sum(page.encoding == each for page in chunk.pages)) for each in encodings]
    if chunk.dictionary:
        counted.append((DICTIONARY_PAGE, PLAIN, 1))
    written = {PLAIN, RLE} & {RLE, *(each for _, each, _ in counted)} | encodings
    listed = elements(found, 2, I32)
    stated = [
        tuple(value for _, value in each.values())
        for each in elements(found, 13, STRUCT)
        if [(number, kind) for number, (kind, _) in each.items()] == [(1, I32), (2, I32), (3, I32)]
    ]
    if (
        set(listed) != written
        or len(listed) > len(written) + 1
        or sorted(stated) != sorted(counted)
        or len(stated) != len(elements(found, 13, STRUCT))
    ):
        raise ValueError(f"the encodings of {where} aren't those of its pages")
    expected: Fields = {
        1: (I32, leaf.kind),
        2: found.get(2, (LIST, (I32, []))),
        3: (LIST, (BINARY, list(leaf.path))),
        4: (I32, ZSTD),
        5: (I64, len(chunk.values)),
        6: (I64, chunk.raw_size),
        7: (I64, size),
        9: (I64, chunk.pages[0].begin),
        12: (STRUCT, statistics),
        13: found.get(13, (LIST, (STRUCT, []))),
    }
    if chunk.dictionary:
        expected[11] = (I64, chunk.dictionary.begin)
    sizes: Fields = {2: (LIST, (I64, repetitions)), 3: (LIST, (I64, definitions))}
    check_fields(found, expected, where, {16: (STRUCT, sizes)})


def _check_order(order: int, bounds: Sequence[NDArray[Any]], where: str) -> None:
    """Check that minima and maxima of pages ascend (1) or descend (2), if a page index says so."""
    steps = [np.diff(bound.astype(np.float64 if bound.dtype.kind == "f" else np.int64)) for bound in bounds]
    ordered = {
        0: True,
        1: all((step >= 0).all() for step in steps),
        2: all((step <= 0).all() for step in steps),
    }
    if not ordered.get(order):
        raise ValueError(f"{where} claims an order that its pages don't have")


def check_indexes(columns: Fields, offsets: Fields, leaf: Leaf, chunk: Chunk, where: str) -> None:
    """Check a column index and an offset index: what a reader may skip, and where it goes."""
    ends = np.cumsum([page.count for page in chunk.pages])
    parts = np.split(chunk.values, ends[:-1])
    lows, highs = (np.array(bound) for bound in zip(*map(_extremes, parts), strict=True))
    for number, bound in ((2, lows), (3, highs)):
        texts = elements(columns, number, BINARY)
        if len(texts) != len(bound) or not all(map(_is_value, texts, bound)):
            raise ValueError(f"the page index of {where} isn't that of the values")
    _check_order(number_of(columns, 4), (lows, highs), f"the page index of {where}")
    n = len(chunk.pages)
    levels = [_histograms(leaf, page.count) for page in chunk.pages]
    expected: Fields = {
        1: (LIST, (TRUE, [2] * n)),  # false: pages have values
        2: columns.get(2, (LIST, (BINARY, []))),
        3: columns.get(3, (LIST, (BINARY, []))),
        4: (I32, number_of(columns, 4)),
        5: (LIST, (I64, [0] * n)),
    }
    optional: Fields = {
        6: (LIST, (I64, [level for repetitions, _ in levels for level in repetitions])),
        7: (LIST, (I64, [level for _, definitions in levels for level in definitions])),
    }
    check_fields(columns, expected, f"the column index of {where}", optional)
    rows = [0, *(int(end) // leaf.width for end in ends[:-1])]
    places = [
        {1: (I64, page.begin), 2: (I32, page.size), 3: (I64, row)}
        for page, row in zip(chunk.pages, rows, strict=True)
    ]
    check_fields(offsets, {1: (LIST, (STRUCT, places))}, f"the offset index of {where}")
