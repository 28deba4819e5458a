"""How predictions are told to be others again, or made of others: see `sraven.core.roles.Comparison`."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Answers, Comparison

VOTERS = 6
"""Runs that may give a wrong answer together: all that are filed give more of them with each that comes."""


def _kappa(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return Cohen's kappa of what two runs get wrong: what their accuracies alone make agree isn't counted.

    Source: Geirhos, Meding, Wichmann, Beyond accuracy: quantifying trial-by-trial behaviour (2020).
    """
    p, q = first.mean(), second.mean()
    expected = p * q + (1 - p) * (1 - q)
    return float(((first == second).mean() - expected) / (1 - expected)) if expected < 1 else 0.0


def _cosine(first: NDArray[Any], second: NDArray[Any]) -> float:
    norm = sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / norm if norm else 0.0


def _share_given(run: Answers, others: Sequence[Answers]) -> float:
    """Return the share of a run's wrong answers that six others give word for word, chosen one by one."""
    answers, wrong = run[0].reshape(len(run[1]), -1), run[1]
    left = answers[wrong]
    given = [(other.reshape(answers.shape)[wrong] == left).all(axis=1) for other, _ in others]
    is_new = np.ones(len(left), bool)
    for _ in range(VOTERS if given else 0):
        is_new &= ~max(given, key=lambda each: (each & is_new).sum())
    return 1 - float(is_new.mean()) if len(left) else 0.0


def _share_explained(run: Answers, others: Sequence[Answers]) -> float:
    """Return the share of a run's squared error that the weighted sum of others' errors explains best."""
    if not others or not run[1].any():
        return 0.0
    errors = np.array([error for _, error in others])
    weights, *_ = np.linalg.lstsq(errors @ errors.T, errors @ run[1], rcond=None)
    return 1 - float(np.square(run[1] - weights @ errors).sum() / np.square(run[1]).sum())


def compare_answers(metric: str) -> Comparison:
    """Return the comparison of answers that are right or wrong, given the metric that is the share right.

    The truth is ``target`` of the labels.
    """

    def share_differing(first: NDArray[Any], second: NDArray[Any]) -> float:
        return float((first != second).reshape(len(first), -1).any(axis=1).mean())

    def errors(truth: Mapping[str, NDArray[Any]], predictions: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((predictions != truth["target"]).reshape(len(predictions), -1).any(axis=1))

    return Comparison(
        *(lambda scores: 1 - scores[metric], share_differing, 0.1, errors),
        *(_kappa, 0.9, _share_given, 0.85),
    )


def compare_numbers(metric: str) -> Comparison:
    """Return the comparison of numbers, given the metric that is their mean squared error.

    The truth is the last of ``targets`` of the labels.
    """

    def distance(first: NDArray[Any], second: NDArray[Any]) -> float:
        return sqrt(float(np.square(first.astype(np.float64) - second).mean()))

    def errors(truth: Mapping[str, NDArray[Any]], predictions: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(predictions - truth["targets"][:, -1], np.float64)

    return Comparison(
        *(lambda scores: sqrt(scores[metric]), distance, 0.1, errors),
        *(_cosine, 0.98, _share_explained, 0.99),
    )
