"""Bootstrap samples of the instances of a split, and the sums over them.

A sample draws n of n instances with replacement. Its randomness is that of the benchmark, so the
interval of a score is as reproducible as the score: the same bytes on every machine.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.compute.jit import kernel
from sraven.core.compute.parallel import for_each_chunk
from sraven.core.compute.rng import derive_key, fill_draws

SAMPLES = 1000
"""Samples behind an interval."""

LEVEL = 0.95
"""Share of the samples whose scores lie within an interval."""

SHARE = f"{100 * LEVEL:g} %"
"""The same in words."""

_AT_ONCE = 64

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


@kernel
def _add_up_groups(counts: Any, columns: Any, groups: Any, sums: Any) -> None:
    """Add to ``sums[sample, group, column]`` what the samples have of each column."""
    for sample in range(counts.shape[0]):
        for n in range(columns.shape[0]):
            times, group = counts[sample, n], groups[n]  # often 0, but a branch would cost more
            for c in range(columns.shape[1]):
                sums[sample, group, c] += times * columns[n, c]


def resample(
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
        columns: float64 ``[n, C]``.
        groups: int64 ``[n]``: the group of each instance, below ``n_groups``.
        n_groups: number of groups.
        n_grouped: how many of the first columns are summed by group, too.
        samples: number of samples.
        threads: threads to use; None for all available ones.

    Yields:
        float64 ``[some, C]``, and ``[some, n_groups, n_grouped]``.
    """
    n = len(columns)
    key = derive_key(stream="bootstrap", instances=n)
    order = np.argsort(groups, kind="stable")  # instances of a group side by side: sums stay in cache
    columns, groups = columns[order], groups[order]
    grouped = np.ascontiguousarray(columns[:, :n_grouped])
    indices = np.arange(-(-n // 4), dtype=np.uint64)  # a block of Philox has four words

    for first in range(0, samples, _AT_ONCE):
        some = min(_AT_ONCE, samples - first)
        counts, by_group = np.zeros((some, n)), np.zeros((some, n_groups, n_grouped))

        def draw(part: slice, first: int = first, counts: Any = counts, by_group: Any = by_group) -> None:
            draws = np.zeros((2, len(indices)), np.uint64)
            _count_draws(key, first + part.start, indices, draws, counts[part])
            _add_up_groups(counts[part], grouped, groups, by_group[part])

        for_each_chunk(draw, some, threads, least=8)
        yield counts @ columns, by_group
