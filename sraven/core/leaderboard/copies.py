"""Predictions that are other predictions again, or so nearly that both can't have been made apart.

Models that are trained apart err apart: they differ on about as many instances as each of them gets
wrong. So two runs are copies if they differ by a hundredth of their own error or less. What is without
error is equal of necessity, and proves nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.leaderboard.evidence import Evidence, run_name

_SHARE = 0.01
_SHARE_OF_LOSS = 1e-4  # the losses of good models are alike: those of two seeds differ by a hundredth or so


def _share_differing(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the share of instances (first axis) whose predictions differ in any symbol."""
    return float((first != second).any(axis=1).mean())


def _distance(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the root mean square of the difference."""
    return sqrt(float(np.square(first.astype(np.float64) - second).mean()))


def _loss_differing(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return by how much the losses of documents differ, per target."""
    return float(np.abs(first[:, 0] - second[:, 0]).sum() / first[:, 1].sum())


class _Kind(NamedTuple):
    """How predictions of a kind are compared.

    Attributes:
        error: returns the error of a run, given the evidence, the split, and the run's place.
        distance: returns how far the predictions of two runs are apart, in the same unit.
        share: of the error by which copies differ at most.
    """

    error: Callable[[Evidence, str, int], float]
    distance: Callable[[NDArray[Any], NDArray[Any]], float]
    share: float


def _by_seed(evidence: Evidence, split: str, metric: str, place: int) -> float:
    return float(evidence.scores["splits"][split]["metrics"][metric]["by_seed"][place] or 0.0)


_SYMBOLS = _Kind(lambda e, split, at: 1 - _by_seed(e, split, "accuracy", at), _share_differing, _SHARE)
_NUMBERS = _Kind(lambda e, split, at: sqrt(_by_seed(e, split, "mse", at)), _distance, _SHARE)
_LOSSES = _Kind(lambda e, split, at: _by_seed(e, split, "loss", at), _loss_differing, _SHARE_OF_LOSS)


def _kind(evidence: Evidence) -> _Kind:
    if evidence.board.is_corpus:
        return _LOSSES
    return _SYMBOLS if evidence.board.prediction.dtype == "uint8" else _NUMBERS


def _runs(evidence: Evidence, split: str) -> list[str]:
    """Return the names of the runs on a split, in the order of the scores of each seed."""
    found = evidence.scores["splits"].get(split)
    return [run_name(split, seed) for seed in found["seeds"]] if found else []


def _are_copies(first: tuple[Evidence, int], second: tuple[Evidence, int], split: str) -> bool:
    """Tell whether two runs on a split, each given by its place, are copies of each other."""
    kind = _kind(first[0])
    errors = [kind.error(evidence, split, place) for evidence, place in (first, second)]
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


def _is_copied(first: Evidence, second: Evidence) -> bool:
    """Tell whether any run of one submission is a copy of any run of another, whatever their seeds."""
    return any(
        _are_copies((first, one), (second, other), split)
        for split in first.board.splits
        for one, other in product(range(len(_runs(first, split))), range(len(_runs(second, split))))
    )


def _pairs(entries: Mapping[str, Evidence]) -> Iterator[tuple[str, str]]:
    for one, other in combinations(entries, 2):
        if _is_copied(entries[one], entries[other]):
            yield one, other


def find_copies(entries: Mapping[str, Evidence]) -> dict[str, list[str]]:
    """Return, for each entry of a board, the entries of which it is a copy, or that are copies of it.

    Which was first can't be told: submitters choose the dates of their folders.
    """
    found: dict[str, list[str]] = {entry_id: [] for entry_id in entries}
    for one, other in _pairs(entries):
        found[one].append(other)
        found[other].append(one)
    return found
