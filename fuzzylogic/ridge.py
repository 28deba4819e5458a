"""Observers that compose nothing: linear regression, within a sequence, on what is known from training.

What they score on held-out combinations needs no composition: a new function is close to a weighted sum of
known ones. A model composes where it is better.
"""

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import CapacityError

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

WEIGHTS = np.logspace(-3, 2, 11)
"""Weights of the squared coefficients, of which each sequence takes the best by leave-one-out."""

_MOST_FEATURES = 512


def known_functions(task: "FuzzyLogic", inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the values of the functions of training at points ``[..., L]``: ``[..., functions]``.

    Raises:
        CapacityError: if the task has too many of them.
    """
    count = task.n_combinations("train")
    if count > _MOST_FEATURES:
        raise CapacityError(f"{count:,} known functions; regression takes up to {_MOST_FEATURES:,}")
    return values_of(task.combinations("train"), inputs)


def values_of(functions: NDArray[Any], inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the values of functions at points ``[..., L]``: ``[..., functions]``.

    Args:
        functions: their terms, integers ``[functions, K]``.
        inputs: the points.
    """
    values = _terms(inputs)
    return reduce(np.maximum, (values.take(terms, axis=-1) for terms in functions.T))


def known_terms(task: "FuzzyLogic", inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return them, and the values of the terms that occur in training: ``[..., functions + terms]``."""
    functions = known_functions(task, inputs)
    return np.concatenate([functions, _terms(inputs)[..., task.partition.seen]], axis=-1)


def _terms(inputs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the values of all terms at points: the least of their literals, a variable at a time."""
    literals = np.stack([1.0 - inputs.astype(np.float64), inputs], axis=-1)
    values = np.ones((*inputs.shape[:-1], 1))
    for literal in np.moveaxis(literals, -2, 0):  # a term's number has the first variable as its lowest bit
        least = np.minimum(literal[..., :, None], values[..., None, :])
        values = least.reshape(*inputs.shape[:-1], -1)
    return values


def predict(features: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what ridge regression on the shown points of each sequence predicts for its query.

    In the basis of the features' eigenvectors all weights are tried at once, and leaving out a point takes no
    new fit: its residual is divided by 1 less its leverage.

    Args:
        features: ``[n, N, F]``, the query's last.
        targets: ``[n, N - 1]`` of the points shown.

    Returns:
        float64 ``[n]``.
    """
    shown, query = features[:, :-1], features[:, -1]
    eigenvalues, vectors = np.linalg.eigh(shown.transpose(0, 2, 1) @ shown)
    shown, query = shown @ vectors, (query[:, None] @ vectors)[:, 0]
    moments = (shown * targets[..., None]).sum(axis=1)
    best, found = np.full(len(targets), np.inf), np.zeros(len(targets))
    for weight in WEIGHTS:
        shrunk = np.maximum(eigenvalues, 0) + weight
        coefficients = moments / shrunk
        residuals = targets - (shown @ coefficients[..., None])[..., 0]
        leverage = (shown**2 / shrunk[:, None]).sum(axis=2)
        error = ((residuals / np.maximum(1 - leverage, 1e-12)) ** 2).sum(axis=1)
        better = error < best
        best[better] = error[better]
        found[better] = (query * coefficients).sum(axis=1)[better]
    return found
