"""An observer that composes nothing: it looks up the known function that is nearest.

Where the function is a known one it is right, as far as the points shown tell. What the nearest one leaves of
the targets is taken to be smooth: see `fuzzylogic.gaussian_process`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzylogic import gaussian_process


def predict(
    inputs: NDArray[Any], values: NDArray[np.float64], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the values at the queries of the functions nearest to the targets, and what is left smoothed.

    Args:
        inputs: ``[n, N, L]``, the query's last.
        values: ``[n, N, F]`` of the functions there.
        targets: ``[n, N - 1]`` of the points shown.

    Returns:
        float64 ``[n]``.
    """
    distances = np.square(values[:, :-1] - targets[..., None]).sum(axis=1)
    nearest = np.take_along_axis(values, distances.argmin(axis=1)[:, None, None], axis=2)[..., 0]
    left = targets - nearest[:, :-1]
    found = nearest[:, -1].copy()
    unknown = left.any(axis=1)  # of a known function nothing is left, not even by rounding
    if unknown.any():
        found[unknown] += gaussian_process.predict(inputs[unknown], left[unknown])
    return found
