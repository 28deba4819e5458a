"""Rank ranges by a parametric bootstrap: a few seeds on some combinations don't separate neighbours.

Each draw has other combinations, the same ones for all entries, and other seeds: to
an entry's mean over the combinations it adds the standard error over seeds times Student's t. A range holds
the middle of the ranks that come out.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.boards.bootstrap import LEVEL, SAMPLES, resample_combinations
from sraven.core.compute.rng import derive_key, fill_draws
from sraven.core.leaderboard.standing import Entry

_CUT = round(SAMPLES * (1 - LEVEL) / 2)  # draws beyond either end of a range
_SIGMAS = NormalDist().inv_cdf((1 + LEVEL) / 2)  # from the middle of an interval to its end


def _normals(count: int, **name: Any) -> NDArray[np.float64]:
    """Return normal deviates ``[count, SAMPLES]`` that belong to a name, by Box and Muller."""
    draws = np.zeros((2 * count, SAMPLES), np.uint64)
    fill_draws(draws, derive_key(**name), np.arange(SAMPLES, dtype=np.uint64), np.uint64(0))
    radii, angles = np.split(((draws >> np.uint64(11)) + 0.5) * 2.0**-53, 2)
    return np.asarray(np.sqrt(-2 * np.log(radii)) * np.cos(2 * np.pi * angles))


def _scores(entry: Entry) -> NDArray[np.float64]:
    """Return what an entry scores in each draw, ``[SAMPLES]``; its value isn't None."""
    first, *others, last = _normals(entry.seeds + 1, stream="ranks", entry=entry.digest)
    if entry.combinations:
        found = resample_combinations(entry.combinations.mean, entry.combinations.instances)
    else:
        low, high = entry.interval or (0.0, 0.0)
        found = (entry.value or 0.0) + last * (high - low) / (2 * _SIGMAS)
    if entry.standard_error:
        student = first / np.sqrt(np.square(others).mean(axis=0))
        found = found + entry.standard_error * student
    return found


def rank_ranges(entries: Sequence[Entry], *, higher_is_better: bool) -> list[tuple[int, int]]:
    """Return between which ranks each of some entries is in the central 95 % of draws, its own included.

    Args:
        entries: those that are ranked among each other, with their ranks.
        higher_is_better: whether more of their score is better.
    """
    scores = (1 if higher_is_better else -1) * np.array([_scores(entry) for entry in entries])
    ranges = []
    for entry, own in zip(entries, scores, strict=True):
        ordered = np.sort(1 + (scores > own).sum(axis=0))
        rank = entry.rank or 1
        ranges.append((min(int(ordered[_CUT]), rank), max(int(ordered[-1 - _CUT]), rank)))
    return ranges
