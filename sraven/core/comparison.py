"""Distances between the predictions of two runs, in the unit of their error: see `Scoring.comparison`."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Comparison(NamedTuple):
    """How predictions of a task are compared with others, to find copies and seeds of one network.

    Attributes:
        error: returns the error of a run, given its scores by metric.
        distance: returns how far the predictions of two runs are apart, in the same unit.
        share: of the error by which copies differ at most.
        errors: returns the error on each instance, float64 ``[n]``, given the arrays of the labels and
            predictions; None where seeds aren't networks that were trained apart.
        agreement: returns how far the errors of two runs (float64 ``[n]``) agree, 1 if they are the same.
        most_agreement: of networks that were trained apart; those of the filed entries agree less.
    """

    error: Callable[[Mapping[str, float]], float]
    distance: Callable[[NDArray[Any], NDArray[Any]], float]
    share: float = 0.01
    errors: Callable[[Mapping[str, NDArray[Any]], NDArray[Any]], NDArray[np.float64]] | None = None
    agreement: Callable[[NDArray[np.float64], NDArray[np.float64]], float] = lambda first, second: 0.0
    most_agreement: float = 1.0


def _kappa(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Cohen's kappa of what two runs get wrong: what their accuracies alone make agree isn't counted.

    Source: Geirhos, Meding, Wichmann, Beyond accuracy: quantifying trial-by-trial behaviour (2020).
    """
    p, q = first.mean(), second.mean()
    expected = p * q + (1 - p) * (1 - q)
    return float(((first == second).mean() - expected) / (1 - expected)) if expected < 1 else 0.0


def _cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    norm = sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / norm if norm else 0.0


def compare_answers(metric: str) -> Comparison:
    """Return the comparison of answers that are right or wrong, given the metric that is the share right.

    The truth is ``target`` of the labels.
    """

    def share_differing(first: NDArray[Any], second: NDArray[Any]) -> float:
        return float((first != second).reshape(len(first), -1).any(axis=1).mean())

    def errors(truth: Mapping[str, NDArray[Any]], predictions: NDArray[Any]) -> NDArray[np.float64]:
        wrong = (predictions != truth["target"]).reshape(len(predictions), -1).any(axis=1)
        return np.asarray(wrong, np.float64)

    return Comparison(
        lambda scores: 1 - scores[metric], share_differing, 0.1, errors, _kappa, most_agreement=0.9
    )


def compare_numbers(metric: str) -> Comparison:
    """Return the comparison of numbers, given the metric that is their mean squared error.

    The truth is the last of ``targets`` of the labels.
    """

    def distance(first: NDArray[Any], second: NDArray[Any]) -> float:
        return sqrt(float(np.square(first.astype(np.float64) - second).mean()))

    def errors(truth: Mapping[str, NDArray[Any]], predictions: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(predictions - truth["targets"][:, -1], np.float64)

    return Comparison(
        lambda scores: sqrt(scores[metric]), distance, 0.1, errors, _cosine, most_agreement=0.98
    )
