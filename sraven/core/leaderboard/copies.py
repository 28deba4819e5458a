"""Predictions that are other predictions again, or so nearly that both can't have been made apart.

Models that are trained apart err apart: they differ on about as many instances as each of them gets
wrong. So two runs are copies if they differ by a small share of their own error or less, as the task's
scoring compares them. What is without error is equal of necessity, and proves nothing.
"""

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from sraven.core.leaderboard.evidence import Evidence, run_name
from sraven.core.submissions.submission import RANKED_SEEDS
from sraven.core.tasks.families import scoring_of


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
    kind = scoring_of(first[0].board.task).comparison
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


def _extends(whole: Evidence, part: Evidence) -> bool:
    """Return whether a submission adds seeds to one of the same authors that has too few for a rank."""
    seeds = {run["seed"] for run in part.content["runs"]}
    if part.board.is_text or len(seeds) >= RANKED_SEEDS:  # of text, one is enough for a rank
        return False
    runs, more = (
        {name for split in each.board.splits for name in _runs(each, split)} for each in (part, whole)
    )
    same_authors = part.content["method"]["authors"] == whole.content["method"]["authors"]
    return (
        same_authors
        and runs < more
        and all(np.array_equal(part.predictions[name], whole.predictions[name]) for name in runs)
    )


def is_copy(first: Evidence, second: Evidence) -> bool:
    """Return whether any run of one submission is a copy of any run of another, whatever their seeds.

    One that adds seeds to another, which is filed and stays, is no copy of it.
    """
    if _extends(first, second) or _extends(second, first):
        return False
    return any(
        _are_copies((first, one), (second, other), split)
        for split in first.board.splits
        for one, other in product(range(len(_runs(first, split))), range(len(_runs(second, split))))
    )


def find_copies(entries: Mapping[str, Evidence]) -> dict[str, list[str]]:
    """Return, for each entry of a board, the entries of which it is a copy, or that are copies of it.

    Which was first can't be known: submitters choose the dates of their folders.
    """
    found: dict[str, list[str]] = {entry_id: [] for entry_id in entries}
    for one, other in combinations(entries, 2):
        if is_copy(entries[one], entries[other]):
            found[one].append(other)
            found[other].append(one)
    return found
