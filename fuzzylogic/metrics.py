"""Metrics of the fuzzy-logic task, on the query of each sequence."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_array
from sraven.core.comparison import compare_numbers
from sraven.core.errors import ConfigurationError
from sraven.core.task import Arrays, Column, Labels, Metric, ratio
from sraven.core.versions import latest

if TYPE_CHECKING:
    from fuzzylogic.task import Batch, FuzzyLogic

Sums = NDArray[np.float64]

_FLAT = 1e-12
"""A spread of targets below this, relative to their squares, is rounding error."""


def _pooled_r2(errors: Sums, squares: Sums, queries: Sums, n: Sums) -> Sums:
    spread = squares - ratio(queries**2, n)
    return 1 - ratio(errors, np.where(spread > _FLAT * squares, spread, 0))


def _median_r2(errors: Sums, varied: Sums) -> Sums:
    """Return the median over sequences of each run, given relative errors ``[n, runs]``."""
    found = 1 - errors[varied[:, 0] > 0]
    return np.median(found, axis=0) if len(found) else np.full(errors.shape[1], np.nan)


METRICS = {
    "r2_per_sequence": Metric(
        ("relative_error", "varied"), lambda error, n: 1 - ratio(error, n), title="R² per sequence"
    ),
    "r2": Metric(("squared_error", "query_squared", "query", "instances"), _pooled_r2, title="R²"),
    "mse": Metric(("squared_error", "instances"), ratio, higher_is_better=False, title="mean squared error"),
    "r2_median": Metric(
        ("relative_error", "varied"), _median_r2, title="median of R² per sequence", of_instances=True
    ),
    "below_zero": Metric(
        ("below_zero", "varied"), ratio, higher_is_better=False, title="share of sequences with R² below 0"
    ),
}


BY_COMBINATION = {"1": ("r2_per_sequence", "r2", "mse")}
"""What is also given for each combination of terms, by the version that brought it. No line changes."""


@dataclass(frozen=True)
class Scores:
    """What a predictor scores on a set of sequences.

    Attributes:
        mse: mean squared error.
        r2: 1 - SSE / SST, pooled over all sequences; a constant that is the mean scores 0.
        r2_per_sequence: the paper's R²: the mean over sequences of 1 - squared error / variance of
            that sequence's N targets. Sequences whose targets are all equal are left out.
    """

    mse: float
    r2: float
    r2_per_sequence: float


def _label_columns(ys: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return the columns to be summed that depend on targets ``[n, N]`` alone."""
    query = ys[:, -1]
    return {
        "instances": np.ones(len(ys)),
        "query": query,
        "query_squared": query**2,
        "varied": ys.var(axis=1) > 0,
    }


def error_columns(ys: NDArray[np.float64], guesses: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return those that depend on predictions ``[n]``, too."""
    errors, variances = (guesses - ys[:, -1]) ** 2, ys.var(axis=1)
    relative = np.nan_to_num(ratio(errors, variances))
    return {"squared_error": errors, "relative_error": relative, "below_zero": relative > 1}


def _checked(predictions: ArrayLike, targets: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ys = check_array("targets", targets, ("n", "N"), "f", "floats").astype(np.float64)
    guesses = check_array("predictions", predictions, (len(ys),), "f", "floats").astype(np.float64)
    if len(ys) == 0:
        raise ConfigurationError("targets has no sequence; there is nothing to score")
    if not np.isfinite(ys).all():
        raise ConfigurationError("targets has a value that isn't finite; pass those of the batch")
    if not np.isfinite(guesses).all():
        worst = int(np.flatnonzero(~np.isfinite(guesses))[0])
        raise ConfigurationError(f"predictions[{worst}] is {guesses[worst]}; expected finite numbers")
    return guesses, ys


def score(predictions: ArrayLike, targets: ArrayLike) -> Scores:
    """Score predictions of the queries.

    Args:
        predictions: floats ``[n]``.
        targets: floats ``[n, N]``, all targets of each sequence, the query's last.

    Raises:
        ConfigurationError: for a wrong shape, kind of number, or a prediction that isn't finite.
    """
    guesses, ys = _checked(predictions, targets)
    columns = {**_label_columns(ys), **error_columns(ys, guesses)}
    sums = {name: np.asarray(column.sum(), np.float64) for name, column in columns.items()}
    metrics = {each.name: METRICS[each.name] for each in fields(Scores)}
    values = {
        name: float(metric.function(*(sums[column] for column in metric.summands)))
        for name, metric in metrics.items()
    }
    return Scores(**values)


def score_by_combination(
    predictions: ArrayLike, targets: ArrayLike, combination: ArrayLike
) -> dict[int, Scores]:
    """Score predictions apart for each combination that occurs.

    Args:
        predictions: floats ``[n]``.
        targets: floats ``[n, N]``.
        combination: integers ``[n]``, as in the batch.
    """
    guesses, ys = _checked(predictions, targets)
    numbers = check_array("combination", combination, (len(ys),), "iu", "integers")
    return {
        int(number): score(guesses[numbers == number], ys[numbers == number]) for number in np.unique(numbers)
    }


@dataclass(frozen=True)
class FuzzyLogicScoring:
    """Scores predictions of one task, by the metrics of `Scores`.

    Attributes:
        task: the task.
    """

    task: "FuzzyLogic"

    prediction: ClassVar = Column("prediction", "float32", (), "the value of the function at the query")
    metrics: ClassVar = METRICS
    chance: ClassVar = {"r2_per_sequence": 0.0}  # of the mean of each sequence's targets
    comparison: ClassVar = compare_numbers("mse")

    @property
    def by_combination(self) -> tuple[str, ...]:
        """What is also given for each combination of terms."""
        return latest(BY_COMBINATION, self.task.version)

    def find_fault(self, predictions: NDArray[Any]) -> tuple[int, str] | None:
        """Return the first prediction that isn't finite, and why; or None."""
        rows = np.flatnonzero(~np.isfinite(predictions))
        return (int(rows[0]), f"is {predictions[rows[0]]}; expected a finite number") if len(rows) else None

    def labels(self, batch: "Batch", threads: int | None) -> Labels:
        """Return points and targets of the sequences of a batch."""
        ys = batch.targets.astype(np.float64)
        arrays: Arrays = {"inputs": batch.inputs, "targets": ys, "combination": batch.combination}
        return Labels(arrays, _label_columns(ys))

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return the errors of predictions (float32 ``[n]``), as columns ``[n]`` to be summed.

        One that is missing counts as the worst value in [0, 1].
        """
        ys = labels.arrays["targets"]
        worst = np.where(ys[:, -1] < 0.5, 1.0, 0.0)
        return error_columns(ys, np.where(answered, predictions.astype(np.float64), worst))
