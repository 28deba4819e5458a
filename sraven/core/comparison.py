"""Distances between the predictions of two runs, in the unit of their error: see `Scoring.comparison`."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Comparison(NamedTuple):
    """How predictions of a task are compared with others, to find copies.

    Attributes:
        error: returns the error of a run, given its scores by metric.
        distance: returns how far the predictions of two runs are apart, in the same unit.
        share: of the error by which copies differ at most.
    """

    error: Callable[[Mapping[str, float]], float]
    distance: Callable[[NDArray[Any], NDArray[Any]], float]
    share: float = 0.01


def compare_answers(metric: str) -> Comparison:
    """Return the comparison of answers that are right or wrong, given the metric that is the share right."""

    def share_differing(first: NDArray[Any], second: NDArray[Any]) -> float:
        return float((first != second).reshape(len(first), -1).any(axis=1).mean())

    return Comparison(lambda scores: 1 - scores[metric], share_differing, 0.1)


def compare_numbers(metric: str) -> Comparison:
    """Return the comparison of numbers, given the metric that is their mean squared error."""

    def distance(first: NDArray[Any], second: NDArray[Any]) -> float:
        return sqrt(float(np.square(first.astype(np.float64) - second).mean()))

    return Comparison(lambda scores: sqrt(scores[metric]), distance, 0.1)
