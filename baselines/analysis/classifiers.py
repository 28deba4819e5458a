"""Logistic regressions with an L2 penalty and balanced classes."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import ThreadpoolController

from baselines.analysis.intervals import stream
from baselines.analysis.probe_scores import count_classes, measure_classes

Array = NDArray[Any]

STRENGTHS = (1e-2, 1e-1, 1.0, 1e1, 1e2)
"""Inverse strengths of the penalty, C of scikit-learn, from which one is chosen."""

FOLDS = 3
"""Folds of the cross-validation; a combination lies in one of them."""

CHOICE_ROWS = 4_096
"""Rows on which C is chosen, at most."""

ITERATIONS, ITERATIONS_OF_CHOICE = 2_000, 300
"""Of lbfgs at most, in the final fit and while C is chosen."""


def _model(iterations: int) -> LogisticRegression:
    return LogisticRegression(solver="lbfgs", class_weight="balanced", max_iter=iterations, warm_start=True)


@cache
def _threads() -> ThreadpoolController:
    """Return what limits threads; to find their libraries takes as long as many a fit."""
    return ThreadpoolController()


def _converges(model: LogisticRegression, codes: Array, classes: Array) -> bool:
    """Fit a model, in one thread as more cost more than they save; return whether it converged."""
    with warnings.catch_warnings(record=True) as caught, _threads().limit(limits=1):
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(codes, classes)
    return not any(issubclass(each.category, ConvergenceWarning) for each in caught)


def choose_strength(codes: Array, classes: Array, combination: Array) -> float | None:
    """Return the C with the greatest balanced accuracy out of fold; None if all classes are alike.

    Of `CHOICE_ROWS` rows at most, each combination lies in one of `FOLDS` folds. The least C goes first, and
    every fit starts where the last one ended. Of equal ones the least C wins.

    Args:
        codes: float ``[n, F]``, standardised.
        classes: integers ``[n]`` from 0.
        combination: integers ``[n]``.
    """
    if len(np.unique(classes)) < 2:
        return None
    rows = stream(stream="choice").permutation(len(codes))[:CHOICE_ROWS]
    codes, classes, combination = codes[rows], classes[rows], combination[rows]
    groups, group = np.unique(combination, return_inverse=True)
    fold = (stream(stream="folds").permutation(len(groups)) % FOLDS)[group]
    predicted = np.zeros((len(STRENGTHS), len(classes)), np.int64)
    for held in range(FOLDS):
        inside, outside = fold != held, fold == held
        if outside.any() and inside.any():
            predicted[:, outside] = _along_strengths(codes, classes, inside, outside)
    n, one = int(classes.max()) + 1, np.zeros(len(classes), np.int64)
    counts = np.stack([count_classes(classes, each, one, n)[0] for each in predicted])
    found = measure_classes(counts)[0]["balanced_accuracy"]
    return STRENGTHS[int(np.argmax(np.round(found, 6)))]


def _along_strengths(codes: Array, classes: Array, inside: Array, outside: Array) -> Array:
    """Return what models of the rows inside predict for those outside: integers ``[len(STRENGTHS), n]``."""
    if len(np.unique(classes[inside])) < 2:
        return np.full((len(STRENGTHS), int(outside.sum())), classes[inside][0])
    model, found = _model(ITERATIONS_OF_CHOICE), []
    for strength in STRENGTHS:
        _converges(model.set_params(C=strength), codes[inside], classes[inside])
        found.append(model.predict(codes[outside]))
    return np.stack(found)


def fit_and_predict(
    codes: Array, classes: Array, strength: float | None, others: Sequence[Array]
) -> tuple[list[Array], bool]:
    """Fit a classifier; return what it predicts for other codes, and whether it converged.

    Args:
        codes: float ``[n, F]``, standardised.
        classes: integers ``[n]``; if they are all alike, that one is predicted.
        strength: C; None if they are.
        others: float ``[m, F]`` each, standardised in the same way.
    """
    if strength is None or len(np.unique(classes)) < 2:
        return [np.full(len(each), classes[0]) for each in others], True
    model = _model(ITERATIONS).set_params(C=strength)
    converged = _converges(model, codes, classes)
    return [model.predict(each) for each in others], converged
