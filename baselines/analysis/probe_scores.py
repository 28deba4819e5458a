"""Predictions of labels, counted by combination, and the scores of the counts.

Letters in array names: G combinations, C classes or labels, S bootstrap samples.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.intervals import Interval, interval, resample

Array = NDArray[Any]
Counts = NDArray[np.float64]

Measure = Callable[[Counts], tuple[dict[str, Counts], Counts]]


@dataclass(frozen=True)
class ProbeScore:
    """How well labels of one part were predicted.

    Attributes:
        metrics: by name; `MEASURES` says which.
        by_class: F1 of each class, by its name; of each label's presence if there are several.
        absent: classes that don't occur in the part; they are left out of means.
        rows: how many predictions.
        combinations: how many combinations they are of; the intervals resample these.
    """

    metrics: Mapping[str, Interval]
    by_class: Mapping[str, Interval]
    absent: tuple[str, ...]
    rows: int
    combinations: int


def ratio(above: Counts, below: Counts) -> Counts:
    """Divide; NaN where there is nothing to divide by."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0))


def _mean(values: Counts) -> Counts:
    """Return means over the last axis of what is defined there; NaN where nothing is."""
    return ratio(np.nansum(values, axis=-1), (~np.isnan(values)).sum(axis=-1).astype(np.float64))


def measure_classes(counts: Counts) -> tuple[dict[str, Counts], Counts]:
    """Return accuracy, balanced accuracy and macro F1, and the F1 of each class ``[..., C]``.

    Classes that don't occur have no recall and no F1, and are in no mean.

    Args:
        counts: float64 ``[..., C, C]``, true classes in rows, predicted ones in columns.
    """
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    true, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    f1 = ratio(2 * right, np.where(true > 0, true + predicted, 0))
    accuracy = ratio(right.sum(axis=-1), true.sum(axis=-1))
    balanced = _mean(ratio(right, true))
    return {"accuracy": accuracy, "balanced_accuracy": balanced, "macro_f1": _mean(f1)}, f1


def measure_presence(counts: Counts) -> tuple[dict[str, Counts], Counts]:
    """Return means over labels of F1 and balanced accuracy, and the F1 of each label ``[..., C]``.

    Args:
        counts: float64 ``[..., C, 2, 2]``: of each label, whether it is there in rows, and whether that was
            predicted in columns.
    """
    hits, lacking = counts[..., 1, 1], counts[..., 0, 0]
    there, predicted = counts[..., 1, :].sum(axis=-1), counts[..., :, 1].sum(axis=-1)
    f1 = ratio(2 * hits, np.where(there > 0, there + predicted, 0))
    recalls = ratio(hits, there) + ratio(lacking, counts[..., 0, :].sum(axis=-1))
    return {"f1": _mean(f1), "balanced_accuracy": _mean(recalls / 2)}, f1


def count_classes(truth: Array, predicted: Array, combination: Array, classes: int) -> Counts:
    """Count predictions: float64 ``[G, C, C]``, the combinations ascending.

    Args:
        truth: integers ``[n]`` below ``classes``.
        predicted: the same.
        combination: integers ``[n]``.
        classes: C.
    """
    present, group = np.unique(combination, return_inverse=True)
    cell = (group * classes + truth) * classes + predicted
    counts = np.bincount(cell, minlength=len(present) * classes**2)
    return counts.reshape(len(present), classes, classes).astype(np.float64)


def count_presence(truth: Array, predicted: Array, combination: Array, classes: int) -> Counts:
    """Count predictions of several labels' presence: float64 ``[G, C, 2, 2]``.

    Args:
        truth: bool ``[n, C]``.
        predicted: the same.
        combination: integers ``[n]``.
        classes: C.
    """
    true, said = truth.T.astype(np.int64), predicted.T.astype(np.int64)
    return np.stack([count_classes(true[c], said[c], combination, 2) for c in range(classes)], axis=1)


class Kind(NamedTuple):
    """How labels of a kind are counted and measured."""

    tally: Callable[[Array, Array, Array, int], Counts]
    measure: Measure


KINDS = {1: Kind(count_classes, measure_classes), 2: Kind(count_presence, measure_presence)}
"""By the number of axes of the labels: one of several classes, or several that are there or not."""


def subtract(counts: Counts, others: Counts, measure: Measure) -> dict[str, Interval]:
    """Return by how much predictions score more than others of the same rows, by metric, with intervals.

    A bootstrap sample draws the same combinations for both, so what makes some hard for both cancels.

    Args:
        counts: float64 ``[G, ...]``, as those of `summarise`.
        others: the same of the others.
        measure: `measure_classes` or `measure_presence`.
    """
    drawn = resample(len(counts))
    more, less = ((each.sum(axis=0), np.tensordot(drawn, each, axes=1)) for each in (counts, others))
    values, samples = ([measure(a)[0], measure(b)[0]] for a, b in zip(more, less, strict=True))
    return {
        name: interval(float(values[0][name] - values[1][name]), samples[0][name] - samples[1][name], -1, 1)
        for name in values[0]
    }


def summarise(
    counts: Counts, measure: Measure, names: Sequence[str], rows: int, combinations: int
) -> ProbeScore:
    """Return the score of counts, with intervals.

    Args:
        counts: float64 ``[G, ...]``, as ``measure`` wants it after the sum over G.
        measure: `measure_classes` or `measure_presence`.
        names: of the classes.
        rows: how many predictions were made.
        combinations: how many there are.
    """
    sampled = np.tensordot(resample(len(counts)), counts, axes=1)
    values, by_class = measure(counts.sum(axis=0))
    value_samples, class_samples = measure(sampled)
    classes = {name: interval(float(by_class[c]), class_samples[:, c]) for c, name in enumerate(names)}
    metrics = {name: interval(float(value), value_samples[name]) for name, value in values.items()}
    absent = tuple(name for name, found in classes.items() if found.value is None)
    return ProbeScore(metrics, classes, absent, rows, combinations)
