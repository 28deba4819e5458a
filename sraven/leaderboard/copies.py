"""Predictions that are other predictions again, or so nearly that both can't have been made apart.

Models that are trained apart err apart: they differ on about as many instances as each of them gets
wrong. So two runs are copies if they differ by a small share of their own error or less, as the task's
scoring compares them. What is without error is equal of necessity, and proves nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product
from types import MappingProxyType

from sraven.leaderboard.evidence import Evidence, run_name


def _scores(evidence: Evidence, split: str, place: int) -> dict[str, float]:
    """Return what a run on a split scores, by metric; 0 where there is no score."""
    found = evidence.scores["splits"][split]["metrics"]
    return {metric: float(score["by_seed"][place] or 0.0) for metric, score in found.items()}


def _runs(evidence: Evidence, split: str) -> list[str]:
    """Return the names of the runs on a split, in the order of the scores of each seed."""
    found = evidence.scores["splits"].get(split)
    return [run_name(split, seed) for seed in found["seeds"]] if found else []


def _are_copies(first: tuple[Evidence, int], second: tuple[Evidence, int], split: str) -> bool:
    """Return whether two runs on a split, each given by its place, are copies of each other."""
    kind = first[0].board.task.scoring.comparison
    errors = [kind.error(_scores(evidence, split, place)) for evidence, place in (first, second)]
    most = kind.share * min(errors)
    if most <= 0 or abs(errors[0] - errors[1]) > most:  # errors of copies are as near as copies are
        return False
    arrays = (evidence.predictions[_runs(evidence, split)[place]] for evidence, place in (first, second))
    return kind.distance(*arrays) <= most


def equal_seeds(evidence: Evidence) -> str:
    """Return which seeds of a submission are copies of each other, in words; an empty text if none is."""
    for split, found in evidence.scores["splits"].items():
        for first, second in combinations(range(len(found["seeds"])), 2):
            if _are_copies((evidence, first), (evidence, second), split):
                seeds = found["seeds"]
                return f"seeds {seeds[first]} and {seeds[second]} predict the same on {split}"
    return ""


def is_copy(first: Evidence, second: Evidence) -> bool:
    """Return whether any run of one submission is a copy of any run of another, whatever their seeds."""
    return any(
        _are_copies((first, one), (second, other), split)
        for split in first.board.splits
        for one, other in product(range(len(_runs(first, split))), range(len(_runs(second, split))))
    )


def find_copies(
    entries: Mapping[str, Evidence],
    earlier: Mapping[str, Sequence[str]] = MappingProxyType({}),
    replaced: Mapping[str, str] = MappingProxyType({}),
    later: Collection[str] = (),
) -> dict[str, list[str]]:
    """Return, for each entry of a board, the entries of which it is a copy.

    An entry is a copy of those that were there before it, never the other way round: so nobody becomes one
    by what others file. Submitters choose the dates of their folders, so what was there before is what the
    maintainers' snapshot has. Of two that it hasn't, nobody knows which was first: each is one of the other.

    Args:
        entries: by their ids.
        earlier: those that were there first, with what they were found to be copies of then.
        replaced: entries that another one replaces, with that one: it is no copy of them or their copies.
        later: those that come after all others.
    """

    def age(entry_id: str) -> int:
        return 0 if entry_id in earlier else 2 if entry_id in later else 1

    found = {entry_id: list(earlier.get(entry_id, ())) for entry_id in entries}
    for one in entries.keys() - earlier.keys():
        own = {old for old, new in replaced.items() if new == one}
        found[one] = [
            other
            for other in entries
            if other != one and other not in own and age(other) <= age(one)
            if is_copy(entries[one], entries[other])
            if not any(is_copy(entries[other], entries[old]) for old in own)
        ]
    return found
