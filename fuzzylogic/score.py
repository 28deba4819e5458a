"""Metrics of the fuzzy-logic task, on the query of each sequence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_array
from sraven.core.errors import ConfigurationError


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
    query = ys[:, -1]
    errors, variances = (guesses - query) ** 2, ys.var(axis=1)
    varied = variances > 0
    spread = ((query - query.mean()) ** 2).sum()
    return Scores(
        mse=float(errors.mean()),
        r2=float(1 - errors.sum() / spread) if spread > 0 else float("nan"),
        r2_per_sequence=float((1 - errors[varied] / variances[varied]).mean())
        if varied.any()
        else float("nan"),
    )


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
