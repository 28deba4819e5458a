"""Checks of predictions before they are scored."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_array
from sraven.core.errors import ConfigurationError
from sraven.core.roles import Column, Scoring


def check_predictions(
    name: str, predictions: ArrayLike, size: int, column: Column, scoring: Scoring
) -> NDArray[Any]:
    """Return predictions of a whole split as an array of the board's type.

    Args:
        name: of the predictions, for the message.
        predictions: of one seed, in the order of the indices.
        size: of the split.
        column: type and shape of the prediction of one instance.
        scoring: the task's.

    Raises:
        ConfigurationError: for a wrong shape, kind of number or value.
    """
    whole = np.dtype(column.dtype).kind in "iu"
    kinds, wanted = ("iu", "integers") if whole else ("f", "floats")
    array = check_array(name, predictions, (size, *column.shape), kinds, wanted)
    if whole and array.size and not 0 <= array.min() <= array.max() <= np.iinfo(column.dtype).max:
        raise ConfigurationError(f"{name} has a value outside 0 to {np.iinfo(column.dtype).max}")
    with np.errstate(over="ignore"):  # what float32 can't hold becomes infinite, and is refused
        array = array.astype(column.dtype)
    if fault := scoring.find_fault(array):
        raise ConfigurationError(f"{name}: row {fault[0]} {fault[1]}")
    return array
