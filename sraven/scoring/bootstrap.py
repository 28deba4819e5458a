"""Bootstrap samples of the instances of a split, and the sums over them.

A sample draws n of n instances with replacement. Its randomness is that of the benchmark, so the
interval of a score is as reproducible as the score: the same bytes on every machine. It depends on n
alone, so what was drawn is kept for the next method that is scored on as many instances.

Most columns are whole numbers: what is right, how often. Several of them are summed as one, each as a
digit of a larger number; see `_pack`.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.jit import kernel
from sraven.core.parallel import check_threads
from sraven.core.rng import derive_key, fill_draws

SAMPLES = 1000
"""Samples behind an interval."""

LEVEL = 0.95
"""Share of the samples whose scores lie within an interval."""

SHARE = f"{100 * LEVEL:g} %"
"""The same in words."""

_AT_ONCE = 64  # samples, of which each instance has a count: a line of the processor's cache
_TILE = 64  # instances, whose counts as floats stay in the cache while all columns pass
_KEPT = 1 << 16  # most instances whose counts are kept: 64 MiB for all samples
_EXACT = 1 << 53  # below it, float64 holds all whole numbers

_32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)


@kernel
def _count_draws(key: Any, first: Any, indices: Any, draws: Any, counts: Any) -> None:
    """Count how often each sample draws each instance: ``counts[sample, n]``, zeros before.

    Number ``word * n >> 32`` of 32 random bits is off uniform by n / 2**32 at most, which is 1e-5
    for a split of 50,000: nothing to an interval, and rejection would cost half the speed.
    """
    n = np.uint64(counts.shape[1])
    flat = draws.reshape(-1)
    for sample in range(counts.shape[0]):
        fill_draws(draws, key, indices, np.uint64(first + sample))
        row = counts[sample]
        for at in range(row.shape[0] // 2):
            row[((flat[at] & _LOW32) * n) >> _32] += 1
            row[((flat[at] >> _32) * n) >> _32] += 1
        if row.shape[0] % 2:
            row[((flat[row.shape[0] // 2] & _LOW32) * n) >> _32] += 1


def draw_counts(n: int, first: int, some: int) -> NDArray[np.uint8]:
    """Return how often some samples draw each of n instances or combinations: uint8 ``[n, some]``.

    A count is one at the mean. That it passes 255 happens to no sample in the life of the universe.

    Args:
        n: of how many they draw n.
        first: number of the first sample; samples of other numbers are independent.
        some: how many samples.

    Returns:
        counts that are kept, and so read-only.
    """
    indices = np.arange(-(-n // 4), dtype=np.uint64)  # a block of Philox has four words
    counts, draws = np.zeros((some, n), np.uint8), np.zeros((2, len(indices)), np.uint64)
    _count_draws(derive_key(stream="bootstrap", instances=n), first, indices, draws, counts)
    counts = np.ascontiguousarray(counts.T)
    counts.setflags(write=False)
    return counts


_drawn_before = lru_cache(2 * -(-SAMPLES // _AT_ONCE))(draw_counts)  # for splits of two sizes


@kernel
def _add_up(counts: Any, columns: Any, starts: Any, into: Any, times: Any, sums: Any) -> None:
    """Add to ``sums[into[r], column, sample]`` what the samples have of the instances of each range r.

    Args:
        counts: uint8 ``[n, samples]``.
        columns: float64 ``[columns, n]``.
        starts: int64 ``[ranges + 1]``: where ranges of at most `_TILE` instances begin; the last one's end.
        into: int64 ``[ranges]``: the group that each is of.
        times: float64 ``[_TILE, samples]``, scratch.
        sums: float64 ``[groups, columns, samples]``.
    """
    samples = counts.shape[1]
    for part in range(into.shape[0]):
        first, size = starts[part], starts[part + 1] - starts[part]
        for n in range(size):
            for s in range(samples):
                times[n, s] = counts[first + n, s]
        for c in range(columns.shape[0]):
            column, row, n = columns[c, first : first + size], sums[into[part], c], 0
            while n + 8 <= size:  # eight at a time: a sum is read and written once for all of them
                x0, x1, x2, x3 = column[n], column[n + 1], column[n + 2], column[n + 3]
                x4, x5, x6, x7 = column[n + 4], column[n + 5], column[n + 6], column[n + 7]
                for s in range(samples):
                    four = (
                        x0 * times[n, s] + x1 * times[n + 1, s] + x2 * times[n + 2, s] + x3 * times[n + 3, s]
                    )
                    row[s] += four + (
                        x4 * times[n + 4, s]
                        + x5 * times[n + 5, s]
                        + x6 * times[n + 6, s]
                        + x7 * times[n + 7, s]
                    )
                n += 8
            while n < size:
                for s in range(samples):
                    row[s] += column[n] * times[n, s]
                n += 1


class _Packed(NamedTuple):
    """Columns, several as the digits of one.

    Attributes:
        columns: float64 ``[packed, n]``.
        place: int64 ``[C]``: which of them has a column.
        low: int64 ``[C]``: the worth of its digit; 0 for a column that stands alone.
        radix: int64 ``[C]``: what the sum of its digit is less than.
    """

    columns: NDArray[np.float64]
    place: NDArray[np.int64]
    low: NDArray[np.int64]
    radix: NDArray[np.int64]

    def unpack(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums ``[groups, C, samples]`` of the columns, given those of the packed ones."""
        found = np.empty((len(sums), len(self.place), sums.shape[2]))
        for column, (place, low, radix) in enumerate(zip(self.place, self.low, self.radix, strict=True)):
            packed = sums[:, place]
            found[:, column] = packed.astype(np.int64) // low % radix if low else packed
        return found


def _pack(columns: NDArray[np.float64], order: NDArray[np.int64]) -> _Packed:
    """Pack columns ``[C, n]`` and reorder them: those of whole numbers from 0 several into one.

    A sample has n instances, so a column of numbers up to m sums up to n m at most: a digit of radix
    n m + 1. As long as the product of the radices is no more than 2**53, so do all partial sums, and float64
    adds them without rounding, in whatever order.
    """
    count, n = columns.shape
    packed: list[NDArray[np.float64]] = []
    place, low, radix = (np.zeros(count, np.int64) for _ in range(3))
    room = 0  # the worth of the next digit of the last packed column; 0 if there is none
    for number, column in enumerate(columns):
        most = column.max()
        if column.min() >= 0 and n * most < _EXACT and (column == np.floor(column)).all():
            size = n * int(most) + 1
            if not room or room * size > _EXACT:
                packed.append(np.zeros(n))
                last, room = len(packed) - 1, 1
            place[number], low[number], radix[number] = last, room, size
            packed[last] += column * room
            room *= size
        else:
            place[number] = len(packed)
            packed.append(column)
    stacked = np.stack([column[order] for column in packed]) if packed else np.zeros((0, n))
    return _Packed(stacked, place, low, radix)


def _ranges(ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut consecutive groups, given where each ends, into ranges for `_add_up`: their starts and groups."""
    begins = np.concatenate([[0], ends[:-1]])
    cuts = [np.arange(begin, end, _TILE) for begin, end in zip(begins, ends, strict=True)]
    into = np.repeat(np.arange(len(ends)), [len(cut) for cut in cuts])
    return np.concatenate([*cuts, ends[-1:]]).astype(np.int64), into


def bootstrap_sums(
    columns: NDArray[np.float64],
    groups: NDArray[np.int64],
    n_groups: int,
    n_grouped: int,
    *,
    samples: int = SAMPLES,
    threads: int | None = None,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield sums over bootstrap samples, some samples at a time, so that memory stays small.

    A sample draws numbers of instances, which count them in the order of their groups.

    Args:
        columns: float64 ``[n, C]``, best with each column in one piece.
        groups: int64 ``[n]``: the group of each instance, below ``n_groups``.
        n_groups: number of groups.
        n_grouped: how many of the first columns are summed by group, too.
        samples: number of samples.
        threads: threads to use; None for all available ones.

    Yields:
        float64 ``[some, C]``, and ``[some, n_groups, n_grouped]``.
    """
    n = len(columns)
    order = np.argsort(groups, kind="stable")  # instances of a group side by side
    ends = np.bincount(groups, minlength=n_groups).cumsum()
    whole = _pack(columns.T, order), *_ranges(np.array([n])), 1
    apart = _pack(columns.T[:n_grouped], order), *_ranges(ends), n_groups
    count = _drawn_before if n <= _KEPT else draw_counts

    def add_up(first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        some = min(_AT_ONCE, samples - first)
        counts, times, found = count(n, first, some), np.empty((_TILE, some)), []
        for packed, starts, into, n_sums in (whole, apart):
            sums = np.zeros((n_sums, len(packed.columns), some))
            _add_up(counts, packed.columns, starts, into, times, sums)
            found.append(np.moveaxis(packed.unpack(sums), 2, 0))
        return found[0][:, 0], found[1]

    at_once = check_threads(threads)
    begins = range(0, samples, _AT_ONCE)
    with ThreadPoolExecutor(at_once) as pool:
        for round_ in range(0, len(begins), at_once):
            yield from pool.map(add_up, begins[round_ : round_ + at_once])


def resample_combinations(
    means: Sequence[float], instances: Sequence[float], first: int = 0, samples: int = SAMPLES
) -> NDArray[np.float64]:
    """Return the mean of instances in some samples, each of which draws C of C combinations.

    Instances of one combination fail together, so samples of instances differ too little. The draws depend on
    C alone: methods that are scored on the same combinations have the same ones.

    Args:
        means: of each combination.
        instances: how many each has.
        first: number of the first sample; samples of other numbers are independent.
        samples: how many.
    """
    weights = draw_counts(len(means), first, samples) * np.asarray(instances, np.float64)[:, None]
    return np.asarray(means @ weights / weights.sum(axis=0))
