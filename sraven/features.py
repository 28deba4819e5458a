"""The symbols of instances by feature, and not by position: the permutations of the columns undone.

Plain NumPy, which shares no code with the generator: checks of what that made are built on it, and twins.
"""

import numpy as np
from numpy.typing import NDArray

Symbols = NDArray[np.uint8]


def symbols_by_feature(context: Symbols, target: Symbols, permutations: NDArray[np.uint8]) -> Symbols:
    """Return the symbols of the nine panels by feature: uint8 ``[n, row, column, feature]``."""
    n, M = target.shape
    panels = np.concatenate([context, target[:, None]], axis=1).reshape(n, 3, 3, M)
    positions = np.argsort(permutations, axis=2)  # [n, column, feature]
    return np.take_along_axis(panels, positions[:, None], axis=3)


def symbols_by_asked_feature(context: Symbols, target: Symbols, permutations: NDArray[np.uint8]) -> Symbols:
    """Return them by the feature that each position of the ninth panel shows: ``[n, row, column, M]``."""
    symbols = symbols_by_feature(context, target, permutations)
    return np.take_along_axis(symbols, permutations[:, 2, None, None].astype(np.int64), axis=3)
