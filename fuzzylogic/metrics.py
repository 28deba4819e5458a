"""Metrics of the fuzzy-logic task, on the query of each sequence."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Arrays, Column, Labels, Metric, ratio
from sraven.core.versions import latest
from sraven.scoring.agreement import compare_numbers

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
    # Sequences whose targets are all equal are left out; what predicts nothing, NaN, stays NaN.
    relative = np.where(variances > 0, errors / np.where(variances > 0, variances, 1), 0)
    return {"squared_error": errors, "relative_error": relative, "below_zero": relative > 1}


def overall(guesses: NDArray[np.float64], ys: NDArray[np.float64]) -> dict[str, float]:
    """Return the metrics that are functions of sums, of predictions ``[n]`` given targets ``[n, N]``."""
    columns = {**_label_columns(ys), **error_columns(ys, guesses)}
    sums = {name: np.asarray(column.sum(), np.float64) for name, column in columns.items()}
    return {
        name: float(metric.function(*(sums[column] for column in metric.summands)))
        for name, metric in METRICS.items()
        if not metric.of_instances
    }


@dataclass(frozen=True)
class FuzzyLogicScoring:
    """Scores predictions of one task.

    ===================  ============================================================================
    metric               meaning
    ===================  ============================================================================
    ``r2_per_sequence``  the paper's R²: the mean over sequences of 1 - squared error / variance of that
                         sequence's N targets. Sequences whose targets are all equal are left out
    ``r2``               1 - SSE / SST, pooled over all sequences; a constant that is the mean scores 0
    ``mse``              mean squared error
    ``r2_median``        the median over the same sequences as ``r2_per_sequence``
    ``below_zero``       share of these whose R² is below 0
    ===================  ============================================================================

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
