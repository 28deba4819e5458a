"""Predictions that are others again, or made of others, so nearly that all can't have been made apart.

Models that are trained apart err apart: they differ on about as many instances as each of them gets
wrong. So two runs are copies if they differ by a small share of their own error or less, as the task's
scoring compares them. What is without error is equal of necessity, and proves nothing.
"""

from collections.abc import Collection, Mapping
from itertools import combinations, product
from types import MappingProxyType

from sraven.leaderboard.evidence import Evidence, run_name
from sraven.leaderboard.standing import REFERENCE


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


def suspect(what: str, measure: str, found: float, most: float) -> str:
    """Return in words what networks that were trained apart don't do; ``most`` is what they have."""
    usual = f"networks trained apart have {most:g} or less"
    return f"{what} ({measure} {found:.3f}; {usual}): a maintainer has to look"


def find_borrowing(evidence: Evidence, sources: Mapping[str, Evidence]) -> str:
    """Return what of a submission seems to be from others, in words; an empty text if nothing does.

    A copy of which wrong answers were changed still errs where the other does. A vote errs where nobody else
    does, and what it says there somebody else says, too. Reference predictors are no networks.
    """
    split, kind = evidence.board.primary_split, evidence.board.task.scoring.comparison
    others = [
        (name, (other.predictions[run], mistakes))
        for name, other in sources.items()
        if other.family != REFERENCE
        for run, mistakes in other.mistakes.items()
    ]
    for run, mistakes in evidence.mistakes.items():
        for name, (_, theirs) in others:
            if (found := kind.agreement(mistakes, theirs)) > kind.most_agreement:
                return suspect(f"errs like {name} on {split}", "agreement", found, kind.most_agreement)
        own = evidence.predictions[run], mistakes
        if (found := kind.borrowed(own, [other for _, other in others])) > kind.most_borrowed:
            what = f"errs as others do together on {split}"
            return suspect(what, "a share of", found, kind.most_borrowed)
    return ""


def find_sources(
    entries: Mapping[str, Evidence],
    order: Mapping[str, int] = MappingProxyType({}),
    replaced: Mapping[str, str] = MappingProxyType({}),
    later: Collection[str] = (),
) -> dict[str, list[str]]:
    """Return, for each entry of a board, the entries from which its predictions may be.

    Those are what was there before it, never what came after: so nobody loses a rank by what others file.
    Of two that came at once, nobody knows which was first: each may be from the other. Reference predictors
    are nobody's, and may well predict the same.

    Args:
        entries: by their ids.
        order: of `sraven.leaderboard.history.filing_order`; those that it lacks come after those it has.
        replaced: entries that another one replaces, with that one: neither is from the other, and the new
            one isn't from what copied the old.
        later: those that come after all others.
    """
    newest = max(order.values(), default=0) + 1
    age = {each: newest + 1 if each in later else order.get(each, newest) for each in entries}
    found: dict[str, list[str]] = {}
    for one, evidence in entries.items():
        own = [old for old, new in replaced.items() if new == one and old in entries]
        found[one] = [
            other
            for other in entries
            if evidence.family != REFERENCE and age[other] <= age[one]
            if other not in (one, replaced.get(one), *own)
            if not any(is_copy(entries[other], entries[old]) for old in own)
        ]
    return found
