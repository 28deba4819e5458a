"""References for scores: the ideal observer, observers that compose nothing, and simpler predictors."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzylogic import gaussian_process, look_up, ridge, symmetry
from fuzzylogic.metrics import error_columns
from sraven.core.means import Mean, mean
from sraven.core.parallel import for_each_chunk
from sraven.core.roles import Reference
from sraven.scoring.references import Observed

if TYPE_CHECKING:
    from fuzzylogic.task import Batch, FuzzyLogic

CEILINGS = {1: {"r2_per_sequence": "mean", "mse": "mean"}}
"""How the ideal observer answers, by version of the definition and by metric. No line changes."""

_TRAINED_ON = 1 << 16

Numbers = NDArray[np.float64]

Predict = Callable[[NDArray[np.float32], Numbers], Numbers]
"""Returns predictions ``[n]``, given inputs ``[n, N, L]``, the query's last, and targets ``[n, N - 1]``."""


class Observer(NamedTuple):
    """What composes nothing: it predicts the query of each sequence by itself.

    Attributes:
        description: what it does, in a sentence.
        of_task: returns what predicts sequences of a task, and looks at what is known of it.
        at_once: sequences that it is given at a time, whose values stay in a processor's cache.
    """

    description: str
    of_task: Callable[["FuzzyLogic"], Predict]
    at_once: int = 128

    def __call__(self, task: "FuzzyLogic", batch: "Batch", threads: int | None = None) -> Numbers:
        """Return predictions ``[n]`` of a batch's queries.

        Raises:
            CapacityError: if the task has too many known functions.
        """
        predict, found = self.of_task(task), np.empty(len(batch.inputs))

        def fill(part: slice) -> None:
            for start in range(part.start, part.stop, self.at_once):
                some = slice(start, min(start + self.at_once, part.stop))
                found[some] = predict(batch.inputs[some], batch.targets[some, :-1].astype(np.float64))

        for_each_chunk(fill, len(found), threads, self.at_once)
        return found


def _by_symmetry(task: "FuzzyLogic") -> Predict:
    terms, weights = symmetry.images(task)
    return lambda xs, ys: symmetry.predict(ridge.values_of(terms, xs), weights, ys)


_LINEAR = "Ridge regression within the sequence on the values of {}, its weight by leave-one-out."
_PROCESS = (
    "The mean of a Gaussian process within the sequence (Matérn 5/2){}; its parameters by marginal "
    "likelihood."
)

OBSERVERS = {
    "known-functions": Observer(
        _LINEAR.format("the functions of training"),
        lambda task: lambda xs, ys: ridge.predict(ridge.known_functions(task, xs), ys),
        at_once=256,
    ),
    "known-terms": Observer(
        _LINEAR.format("the functions of training and their terms"),
        lambda task: lambda xs, ys: ridge.predict(ridge.known_terms(task, xs), ys),
        at_once=256,
    ),
    "gp": Observer(_PROCESS.format(""), lambda task: gaussian_process.predict),
    "gp-known": Observer(
        _PROCESS.format(", linear in the functions of training and their terms besides"),
        lambda task: lambda xs, ys: gaussian_process.predict(xs, ys, ridge.known_terms(task, xs)),
    ),
    "look-up": Observer(
        "The function of training that is nearest to the points shown, plus a Gaussian process of what it "
        "leaves.",
        lambda task: lambda xs, ys: look_up.predict(xs, ridge.known_functions(task, xs), ys),
    ),
    "gp-symmetric": Observer(
        "The mean of a Gaussian process with mean and covariance of the functions of training under all "
        "renamings and negations of variables.",
        _by_symmetry,
        at_once=16,
    ),
}
"""What composes nothing, by name."""


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

        def observed(observer: Observer, split: str, count: int, seed: int) -> NDArray[np.float32]:
            return np.asarray(observer(task, task.sample(split, 0, count)), np.float32)

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
                name: Reference(observer.description, partial(observed, observer))
                for name, observer in OBSERVERS.items()
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
        return {name: _means(ys, observer(task, batch, threads)) for name, observer in OBSERVERS.items()}
