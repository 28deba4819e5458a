"""Observers that compose nothing: Gaussian processes within a sequence.

A function of the task is smooth but for kinks, so the points shown say much about the query whatever is known
of terms. What a model scores is read against this: a score below it needs neither training nor composition.

The covariance of two points is that of Matérn 5/2 with one length scale, plus a weighted product of features,
such as the values that known functions and terms have there; see `fuzzylogic.ridge`. Length scale,
noise and weight are those of a grid with the greatest marginal likelihood, the scale of all has a closed
form, and the mean is that of the points shown (Rasmussen and Williams, Gaussian Processes for Machine
Learning, 2006, sections 2.2, 4.2 and 5.4).
"""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

LENGTHS = (0.5, 1.0, 2.0)
"""Length scales, in units of the inputs."""

NOISES = (1e-4, 1e-2)
"""Variances of the noise, in units of the variance of the smooth part."""

WEIGHTS = (0.0, 0.1, 1.0, 10.0, 100.0)
"""Weights of features, in the same unit."""

_FAR = 1e12  # above all squares of targets in units of the covariance


def _matern(distances: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = np.sqrt(5) / length * distances
    return np.asarray((1 + scaled + scaled**2 / 3) * np.exp(-scaled))


def predict(
    inputs: NDArray[Any], targets: NDArray[np.float64], features: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the means that Gaussian processes on the shown points of each sequence have at its query.

    One Cholesky factor has all that is asked: of the covariance of the points with the query and the targets
    as two more rows, whose factors are those rows by the inverse of the points' own.

    Args:
        inputs: ``[n, N, L]``, the query's last.
        targets: ``[n, N - 1]`` of the points shown.
        features: ``[n, N, F]``, linear in which functions may be; None for none.

    Returns:
        float64 ``[n]``.
    """
    count, points = targets.shape
    means: NDArray[np.float64] = targets.mean(axis=1)
    inputs = inputs.astype(np.float64)
    distances = np.sqrt(np.square(inputs[:, :, None] - inputs[:, None]).sum(axis=-1))
    linear = np.zeros_like(distances)
    if features is not None:
        centred = features - features[:, :-1].mean(axis=1, keepdims=True)
        linear = centred @ centred.transpose(0, 2, 1)
    rows = np.zeros((count, points + 2, points + 2))
    rows[:, -1, :points], rows[:, -1, -1] = targets - means[:, None], _FAR
    diagonal = np.arange(points + 1)
    best, found = np.full(count, -np.inf), means.copy()
    for length in LENGTHS:
        smooth = _matern(distances, length)
        for weight, noise in product(WEIGHTS if features is not None else (0.0,), NOISES):
            rows[:, :-1, :-1] = smooth + weight * linear
            rows[:, diagonal, diagonal] += noise
            factors = np.linalg.cholesky(rows)
            query, shown = factors[:, -2, :points], factors[:, -1, :points]
            spread = np.maximum(np.square(shown).sum(axis=1), np.finfo(float).tiny)
            pivots = factors[:, diagonal[:-1], diagonal[:-1]]
            likelihood = -points / 2 * np.log(spread) - np.log(pivots).sum(axis=1)
            better = likelihood > best
            best[better] = likelihood[better]
            found[better] = (means + (query * shown).sum(axis=1))[better]
    return found
