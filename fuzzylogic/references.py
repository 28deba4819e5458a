"""Predictors that stand on the leaderboard for comparison: none of them learns combinations."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.identifiability import identify
from sraven.core.tasks.task import Reference

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

_TRAINED_ON = 1 << 16


def references(task: "FuzzyLogic") -> Mapping[str, Reference]:
    """Return the reference predictors of a task."""

    def constant_mean(split: str, count: int, seed: int) -> NDArray[np.float32]:
        targets = task.sample("train", 0, _TRAINED_ON).targets[:, -1]
        return np.full(count, targets.astype(np.float64).mean(), np.float32)

    def nearest_neighbour(split: str, count: int, seed: int) -> NDArray[np.float32]:
        batch = task.sample(split, 0, count)
        shown, query = batch.inputs[:, :-1].astype(np.float64), batch.inputs[:, -1:]
        nearest = ((shown - query) ** 2).sum(axis=2).argmin(axis=1)
        return np.asarray(batch.targets[np.arange(count), nearest], np.float32)

    def observe(split: str, count: int, seed: int) -> NDArray[np.float32]:
        batch = task.sample(split, 0, count)
        return identify(batch.inputs, batch.targets, task.K).prediction.astype(np.float32)

    return {
        "constant-mean": Reference(
            f"The mean target of the first {_TRAINED_ON:,} training sequences.",
            _TRAINED_ON,
            False,
            constant_mean,
        ),
        "nearest-neighbour": Reference(
            "The target of the shown point that is nearest to the query.", 0, False, nearest_neighbour
        ),
        "ideal-observer": Reference(
            "The mean of all functions that agree with the points shown, all combinations of terms being "
            "equally likely: the ceiling for a model that isn't told the split.",
            0,
            False,
            observe,
        ),
    }
