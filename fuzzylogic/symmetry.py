"""An observer that composes nothing but knows the symmetry of the task.

If variables are renamed and negated, a function of the task stays one. So how targets at two points go
together is the same for known functions and for their images. A Gaussian process with the mean and the
covariance of the images gives the best prediction, for functions drawn from them, that is linear in the
targets of the points shown (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, section
2.2). It recognises no term and no function. But no network is told that a new function is like an image of a
known one.
"""

from functools import lru_cache
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import CapacityError

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

NOISE = 1e-6
"""Variance of the noise, in units of the mean variance of a sequence's points, for there to be an inverse."""

_MOST_MOVED = 1 << 22  # terms of known functions, by all renamings and negations
_ALONE = 1 << 18  # multiplications that a processor does alone


class Images(NamedTuple):
    """The images of known functions under all renamings and negations of variables.

    Attributes:
        terms: int64 ``[functions, K]``, ascending in a function.
        weights: float64 ``[functions]``: the share of all images that are this function.
    """

    terms: NDArray[np.int64]
    weights: NDArray[np.float64]


@lru_cache(maxsize=8)
def images(task: "FuzzyLogic") -> Images:
    """Return the images of a task's known functions.

    Raises:
        CapacityError: if there are too many of them.
    """
    L, count = task.L, task.n_combinations("train")
    moved = factorial(L) * 2**L * count * task.K
    if moved > _MOST_MOVED:
        raise CapacityError(
            f"{count:,} known functions of {L} variables have {moved:,} terms if they are renamed and "
            f"negated; up to {_MOST_MOVED:,} are taken"
        )
    terms = np.arange(2**L)
    bits = terms[:, None] >> np.arange(L) & 1
    renamed = np.stack([(bits << np.array(order)).sum(axis=1) for order in permutations(range(L))])
    moved_terms = renamed[:, None] ^ terms[:, None]  # [renamings, negations, terms]
    every = np.sort(moved_terms[..., task.combinations("train").astype(np.int64)], axis=-1)
    functions, counts = np.unique(every.reshape(-1, task.K), axis=0, return_counts=True)
    return Images(np.asarray(functions, np.int64), counts / counts.sum())


def predict(
    values: NDArray[np.float64], weights: NDArray[np.float64], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the means at the queries of the process with the mean and covariance of weighted functions.

    Args:
        values: ``[n, N, F]`` of the functions, the query's last.
        weights: ``[F]`` of the functions, which add up to 1.
        targets: ``[n, N - 1]`` of the points shown.

    Returns:
        float64 ``[n]``.
    """
    means = values @ weights
    spread = (values - means[..., None]) * np.sqrt(weights)
    covariance = np.zeros((*means.shape, means.shape[1]))
    # Of a larger product BLAS would give each processor a part, and wait for those that are busy.
    at_once = max(1, _ALONE // means.shape[1] ** 2)
    for start in range(0, len(weights), at_once):
        part = spread[..., start : start + at_once]
        covariance += part @ part.transpose(0, 2, 1)
    shown = covariance[:, :-1, :-1]
    diagonal = np.arange(shown.shape[-1])
    shown[:, diagonal, diagonal] += NOISE * shown[:, diagonal, diagonal].mean(axis=1, keepdims=True)
    solved = np.linalg.solve(shown, (targets - means[:, :-1])[..., None])[..., 0]
    return np.asarray(means[:, -1] + (covariance[:, -1, :-1] * solved).sum(axis=1))
