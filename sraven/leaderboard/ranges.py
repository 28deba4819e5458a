"""Rank ranges: a few seeds on some combinations don't separate neighbours."""

from collections.abc import Sequence

from sraven.leaderboard.comparison import compare_entries
from sraven.leaderboard.standing import Entry


def rank_ranges(entries: Sequence[Entry], *, higher_is_better: bool) -> list[tuple[int, int]]:
    """Return between which ranks each of some entries may be, its own included.

    It comes behind those, and before those, from which the 95 % interval of its difference is away from 0:
    see `sraven.leaderboard.comparison`.

    Args:
        entries: those that are ranked among each other, with their ranks.
        higher_is_better: whether more of their score is better.
    """
    ranges = []
    for entry in entries:
        others = [other for other in entries if other is not entry]
        found = compare_entries(entry, others, higher_is_better=higher_is_better)
        intervals = [each.interval for each in found if each.interval]
        apart = [(low > 0) == higher_is_better for low, high in intervals if not low <= 0 <= high]
        rank = entry.rank or 1
        ranges.append((min(1 + apart.count(False), rank), max(len(entries) - apart.count(True), rank)))
    return ranges
