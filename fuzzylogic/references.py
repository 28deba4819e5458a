"""References for scores: the ideal observer, observers that compose nothing, and simpler predictors."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from fuzzylogic import gaussian_process, look_up, ridge, symmetry
from fuzzylogic.metrics import error_columns
from sraven.core.means import Mean, mean
from sraven.core.roles import Reference
from sraven.scoring.references import Observed

if TYPE_CHECKING:
    from fuzzylogic.task import Batch, FuzzyLogic

CEILINGS = {1: {"r2_per_sequence": "mean", "mse": "mean"}}
"""How the ideal observer answers, by version of the definition and by metric. No line changes."""

_TRAINED_ON = 1 << 16

Observe = Callable[["FuzzyLogic", "Batch", int | None], NDArray[np.float64]]

OBSERVERS: Mapping[str, Observe] = {
    "known-functions": partial(ridge.observe, terms=False),
    "known-terms": partial(ridge.observe, terms=True),
    "gp": partial(gaussian_process.observe, known=False),
    "gp-known": partial(gaussian_process.observe, known=True),
    "look-up": look_up.observe,
    "gp-symmetric": symmetry.observe,
}
"""What composes nothing, by name: returns predictions ``[n]`` of the queries of a batch."""


def _means(ys: NDArray[np.float64], guesses: NDArray[np.float64]) -> dict[str, Mean]:
    """Return the scores of predictions, of the sequences whose targets vary."""
    errors = error_columns(ys, guesses)
    return {
        "r2_per_sequence": mean(1 - errors["relative_error"][ys.var(axis=1) > 0]),
        "mse": mean(errors["squared_error"]),
    }


class FuzzyLogicReferences(Observed["FuzzyLogic"]):
    """What scores of a task are read against."""

    answers: ClassVar = CEILINGS

    @property
    def predictors(self) -> Mapping[str, Reference]:
        """The reference predictors by name."""
        task = self.task

        def constant_mean(split: str, count: int, seed: int) -> NDArray[np.float32]:
            targets = task.sample("train", 0, _TRAINED_ON).targets[:, -1]
            return np.full(count, targets.astype(np.float64).mean(), np.float32)

        def nearest_neighbour(split: str, count: int, seed: int) -> NDArray[np.float32]:
            batch = task.sample(split, 0, count)
            shown, query = batch.inputs[:, :-1].astype(np.float64), batch.inputs[:, -1:]
            nearest = ((shown - query) ** 2).sum(axis=2).argmin(axis=1)
            return np.asarray(batch.targets[np.arange(count), nearest], np.float32)

        def ideal_observer(split: str, count: int, seed: int) -> NDArray[np.float32]:
            return task.identify(task.sample(split, 0, count)).prediction.astype(np.float32)

        def observer(split: str, count: int, seed: int, *, name: str) -> NDArray[np.float32]:
            batch = task.sample(split, 0, count)
            return np.asarray(OBSERVERS[name](task, batch, None), np.float32)

        linear = "Ridge regression within the sequence on the values of {}, its weight by leave-one-out."
        process = (
            "The mean of a Gaussian process within the sequence (Matérn 5/2){}; its parameters by marginal "
            "likelihood."
        )
        composes_nothing = {
            "known-functions": linear.format("the functions of training"),
            "known-terms": linear.format("the functions of training and their terms"),
            "gp": process.format(""),
            "gp-known": process.format(", linear in the functions of training and their terms besides"),
            "look-up": "The function of training that is nearest to the points shown, plus a Gaussian "
            "process of what it leaves.",
            "gp-symmetric": "The mean of a Gaussian process with mean and covariance of the functions of "
            "training under all renamings and negations of variables.",
        }
        return {
            "constant-mean": Reference(
                f"The mean target of the first {_TRAINED_ON:,} training sequences.",
                constant_mean,
                instances=_TRAINED_ON,
            ),
            "nearest-neighbour": Reference(
                "The target of the shown point that is nearest to the query.", nearest_neighbour
            ),
            "ideal-observer": Reference(
                "The mean of all functions that agree with the points shown, all combinations of terms being "
                "equally likely: the ceiling for a model that isn't told the split.",
                ideal_observer,
            ),
            **{
                name: Reference(description, partial(observer, name=name))
                for name, description in composes_nothing.items()
            },
        }

    def observe(self, batch: "Batch", prior: str, threads: int | None) -> dict[str, Mean]:
        """Return what the ideal observer scores: the mean of all functions that agree."""
        ys = batch.targets.astype(np.float64)
        return _means(ys, self.task.identify(batch, prior, threads=threads).prediction)

    def levels(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return what scores on a split are read against beside its ceilings, by level and metric.

        The levels are those of `fuzzylogic.family`.
        """
        task = self.task
        batch = task.sample(split, 0, count, threads=threads)
        ys = batch.targets.astype(np.float64)
        return {name: _means(ys, observe(task, batch, threads)) for name, observe in OBSERVERS.items()}
