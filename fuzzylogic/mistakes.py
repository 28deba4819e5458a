"""Tallies of the answers of fuzzy logic that are far off: towards what they are off, and where."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fuzzylogic import ridge
from fuzzylogic.terms import combinations_of, formula
from sraven.core.roles import Labels
from sraven.scoring.mistakes import MISSING, OVERALL, Tally, tally

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

WRONG = 0.1
"""An answer is wrong if its squared error is above this share of the variance of the sequence's targets: if
R² of the sequence is below 0.9."""

KINDS = {
    "a known function": "nearer to what the known function says that fits the points best than to the truth",
    "near a constant": "nearer to the mean of the points shown than to the truth",
    "none of these": "any other answer with an R² below 0.9",
}
"""The kinds of wrong answers with their meanings, in the order in which they are asked for."""

_AT_ONCE = 256
_ROUNDING = 1e-6  # of float32: two functions often have the same value


@lru_cache(4)
def _nearest_known(task: "FuzzyLogic", labels: Labels) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return which known function fits the points shown of each sequence best, and its value at the query.

    The function of the sequence itself isn't asked. Without another, the place is -1 and the value NaN. It is
    found once for all that is predicted of a split.

    Returns:
        places among ``task.combination_indices("train")``: int64 ``[n]``; values: float64 ``[n]``.

    Raises:
        CapacityError: if the task has too many known functions.
    """
    inputs, ys, combination = (labels.arrays[name] for name in ("inputs", "targets", "combination"))
    numbers = task.combination_indices("train")
    places, values = np.full(len(ys), -1), np.full(len(ys), np.nan)
    for start in range(0, len(ys), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        known = ridge.known_functions(task, inputs[part])
        errors = np.square(known[:, :-1] - ys[part, :-1, None]).sum(axis=1)
        errors[combination[part, None] == numbers] = np.inf
        best = errors.argmin(axis=1)[:, None]
        there = np.isfinite(np.take_along_axis(errors, best, axis=1)[:, 0])
        places[part] = np.where(there, best[:, 0], -1)
        values[part] = np.where(there, np.take_along_axis(known[:, -1], best, axis=1)[:, 0], np.nan)
    return places, values


@dataclass(frozen=True)
class FuzzyLogicDiagnosis:
    """Sorts the answers of one task whose error is large: those with an R² of the sequence below 0.9.

    ================  ============================================================================
    tally             rows
    ================  ============================================================================
    ``overall``       all sequences
    ``combinations``  by function
    ``known``         by the known function, other than its own, that fits the points shown best
    ================  ============================================================================

    Attributes:
        task: the task.
    """

    task: "FuzzyLogic"

    kinds: ClassVar = KINDS

    def tally(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> dict[str, Tally]:
        """Return the tallies of one run (float32 ``[n]``) by name."""
        task, truth = self.task, labels.arrays
        ys, numbers = truth["targets"], truth["combination"]
        places, values = _nearest_known(task, labels)
        error = np.abs(predictions - ys[:, -1])
        spread = ys.var(axis=1)
        wrong = (np.square(error) > WRONG * spread) & (spread > 0)
        of_kind = [
            np.abs(predictions - towards) < error - _ROUNDING for towards in (values, ys[:, :-1].mean(axis=1))
        ]
        column = np.select([~answered, ~wrong, *of_kind], [len(KINDS), -1, 0, 1], 2)
        listed, row = np.unique(numbers, return_inverse=True)
        known = [*map(self._name, task.combinations("train")), "none"]
        there = [self._name(terms) for terms in combinations_of(listed.astype(np.int64), 1 << task.L, task.K)]

        def count(heading: str, names: list[str], row: NDArray[Any]) -> Tally:
            return tally(heading, names, (*KINDS, MISSING), row, column, "sequences")

        return {
            OVERALL: count("", ["all"], np.zeros(len(column), np.int64)),
            "combinations": count("function", there, row),
            "known": count("nearest known function", known, places % len(known)),
        }

    def _name(self, terms: NDArray[Any]) -> str:
        return formula(terms, self.task.L)
