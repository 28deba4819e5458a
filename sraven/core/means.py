"""Means over instances, with their standard errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sraven.core.escape import with_error


@dataclass(frozen=True)
class Mean:
    """A mean over n instances, and its standard error."""

    value: float
    standard_error: float
    n: int

    def __str__(self) -> str:
        """Return both to four digits, or to as many as the error's first one takes."""
        if not self.standard_error:  # an error of 0 would claim too much
            return f"none of {self.n:,}" if self.value == 0 else f"{self.value:.4f} in all {self.n:,}"
        return with_error(self.value, self.standard_error)


def standard_error(values: ArrayLike) -> float | None:
    """Return the standard error of the mean of a vector; None if there are fewer than two numbers."""
    array = np.asarray(values, np.float64)
    return float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else None


def mean(values: ArrayLike) -> Mean:
    """Return the mean of a vector of at least two numbers, and its standard error."""
    array = np.asarray(values, np.float64)
    return Mean(float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))), len(array))


def share(values: ArrayLike) -> Mean:
    """Return the mean of a vector with its standard error; of fewer than two numbers that is 0."""
    n = len(array := np.asarray(values, np.float64))
    return mean(array) if n > 1 else Mean(float(array.sum()), 0.0, n)
