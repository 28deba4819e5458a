"""Means over instances, with their standard errors."""

from dataclasses import dataclass
from math import floor, log10

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Mean:
    """A mean over instances, and its standard error."""

    value: float
    standard_error: float

    def __str__(self) -> str:
        """Return both to four digits, or to as many as the error's first one takes."""
        digits = max(4, -floor(log10(self.standard_error))) if self.standard_error else 4
        return f"{self.value:.{digits}f} ± {self.standard_error:.{digits}f}"


def mean(values: ArrayLike) -> Mean:
    """Return the mean of a vector of at least one number, and its standard error."""
    array = np.asarray(values, np.float64)
    return Mean(float(array.mean()), float(array.std() / np.sqrt(len(array))))
