"""Numbers with an interval, by resampling whole groups: combinations of rules or terms, or configurations.

Instances of one combination resemble each other, so an interval over instances would be too narrow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sraven.core.rng import derive_key
from sraven.scoring.bootstrap import LEVEL, SAMPLES


@dataclass(frozen=True)
class Interval:
    """A number, and between what the share `LEVEL` of its bootstrap samples lie.

    Attributes:
        value: the number; None where it isn't defined.
        low: the lower end; None without an interval.
        high: the upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def stream(**name: str | int) -> np.random.Generator:
    """Return the random numbers that belong to a name, the same in every run."""
    return np.random.Generator(np.random.Philox(key=derive_key(task="analysis", **name)))


def resample(groups: int, samples: int = SAMPLES) -> NDArray[np.float64]:
    """Return how often each bootstrap sample draws each of some groups: float64 ``[samples, groups]``."""
    random = stream(stream="bootstrap", groups=groups)
    return random.multinomial(groups, np.full(groups, 1 / groups), size=samples).astype(np.float64)


def interval(value: float, samples: NDArray[np.float64], least: float = 0, most: float = 1) -> Interval:
    """Return a number with the interval of its bootstrap samples, those left out that aren't defined.

    Some groups are drawn twice, others never, and that alone shifts a mean of F1. So the interval is of how
    samples lie about their own mean, put about the number.

    Args:
        value: of all groups; NaN if it isn't defined.
        samples: float64 ``[samples]``, NaN where it isn't defined.
        least: that the number may be.
        most: that it may be.
    """
    if np.isnan(value):
        return Interval(None)
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return Interval(float(value))
    about = np.quantile(defined - defined.mean(), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    low, high = np.clip(value + about, least, most)
    return Interval(float(value), float(low), float(high))
