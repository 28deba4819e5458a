"""Checks of features, symbols and panels that callers hand in."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_array, check_integer
from sraven.core.errors import ConfigurationError
from sraven.settings import M_LIMIT

K_RANGE = 3, 256
"""Least and greatest number of symbols: distribute three needs three, and a symbol is a byte."""


def check_K(K: Any) -> int:
    """Return the number of symbols as an int."""
    return check_integer("K", K, *K_RANGE, "distribute three needs three symbols")


def check_M(M: Any) -> int:
    """Return the number of features as an int."""
    return check_integer("M", M, 1, M_LIMIT, "certificates are exact up to there")


def check_symbols(name: str, panels: ArrayLike, shape: tuple[Any, ...], K: int) -> NDArray[np.uint8]:
    """Return an array of symbols (or rules) as C-contiguous uint8.

    Args:
        name: what to call it in an error.
        panels: integers from 0 to K - 1.
        shape: the shape that it must have; a string stands for any length.
        K: number of symbols, or of rules.

    Raises:
        ConfigurationError: if the shape, the kind of numbers or a value is wrong.
    """
    array = check_array(name, panels, shape, "iu", "integers, such as uint8")
    if array.size and not (array.min() >= 0 and array.max() < K):
        wrong = array[(array < 0) | (array >= K)][0]
        raise ConfigurationError(f"{name} contains {wrong}; expected values from 0 to {K - 1}")
    return np.ascontiguousarray(array, dtype=np.uint8)


def check_context(context: ArrayLike, K: int) -> tuple[NDArray[np.uint8], int]:
    """Return contexts as C-contiguous uint8 ``[n, 8, M]``, and the number of symbols as an int."""
    K = check_K(K)
    array = check_symbols("context", context, ("n", 8, "M"), K)
    check_M(array.shape[2])
    return array, K
