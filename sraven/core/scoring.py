"""Scores of predictions on a split: over seeds, by combination, with bootstrap intervals.

Every metric is a function of sums over instances (`sraven.core.task.Metric`), so the same columns
give the score of the split, of each combination and of each bootstrap sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.bootstrap import LEVEL, resample
from sraven.core.task import Labels, Scoring


@dataclass(frozen=True)
class Score:
    """A metric on a split.

    Attributes:
        mean: over seeds; None where it isn't defined.
        standard_error: over seeds; None for a single seed.
        interval: of the mean: 95 % of bootstrap samples of the instances lie within.
        by_seed: the score of each seed, in the order of the seeds.
    """

    mean: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    by_seed: tuple[float | None, ...]


@dataclass(frozen=True)
class CombinationScores:
    """A metric for each combination that occurs in a split; lists of equal length.

    Attributes:
        combination: numbers of the combinations, as in the batch.
        instances: how many instances each has.
        mean: over seeds.
        low: where the bootstrap interval begins.
        high: where it ends.
    """

    combination: tuple[int, ...]
    instances: tuple[int, ...]
    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True)
class SplitScores:
    """What one method scores on one split.

    Attributes:
        instances: the denominator: the size of the split.
        seeds: the seeds, ascending.
        missing: predictions that are missing, by seed; they count as wrong.
        metrics: the scores by metric.
        by_combination: those that are given by combination, too.
    """

    instances: int
    seeds: tuple[int, ...]
    missing: tuple[int, ...]
    metrics: Mapping[str, Score]
    by_combination: Mapping[str, CombinationScores]


@dataclass(frozen=True)
class Run:
    """Predictions of one seed on one split.

    Attributes:
        seed: the seed.
        predictions: ``[n, ...]``, for every instance of the split.
        answered: bool ``[n]``: which of them are there.
    """

    seed: int
    predictions: NDArray[Any]
    answered: NDArray[np.bool_]


_DIGITS = 9


def _number(value: Any) -> float | None:
    """Return a number as it is written down; None for NaN.

    Nine digits are below what any sample can show, and hide how machines add up.
    """
    return round(float(value), _DIGITS) if np.isfinite(value) else None


def _interval(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the middle of the samples (first axis) begins and ends; NaN samples are left out."""
    tail = (1 - LEVEL) / 2
    defined = np.isfinite(samples).any(axis=0)
    samples = np.where(defined, np.where(np.isfinite(samples), samples, np.nan), 0.0)
    low, high = np.nanquantile(samples, (tail, 1 - tail), axis=0)
    return np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def _over_seeds(values: NDArray[np.float64], low: Any, high: Any) -> Score:
    """Return the score of a metric, given its value for each seed."""
    error = _number(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    bounds = _number(low), _number(high)
    interval = None if bounds[0] is None or bounds[1] is None else (bounds[0], bounds[1])
    return Score(_number(values.mean()), error, interval, tuple(_number(value) for value in values))


def score_runs(
    scoring: Scoring, labels: Labels, runs: Sequence[Run], *, threads: int | None = None
) -> SplitScores:
    """Score the runs of one method on one split.

    All seeds are scored on the same bootstrap samples of the instances, so the interval is one of
    their mean.

    Args:
        scoring: the task's.
        labels: the truth about the split.
        runs: predictions of one or more seeds.
        threads: threads to use; None for all available ones.
    """
    outcomes = [
        {**labels.summands, **scoring.outcomes(labels, run.predictions, run.answered, threads)}
        for run in runs
    ]
    metrics, grouped = scoring.metrics, scoring.by_combination
    first = [name for metric in grouped for name in metrics[metric].summands]
    names = list(dict.fromkeys([*first, *outcomes[0]]))  # without repeats, in this order
    n, n_runs, n_grouped = len(runs[0].answered), len(runs), len(set(first))
    columns = np.stack([run[name] for name in names for run in outcomes], axis=1).astype(np.float64)
    numbers, groups = np.unique(labels.arrays["combination"], return_inverse=True)
    sampled, sampled_by_group = resample(columns, groups, len(numbers), n_grouped * n_runs, threads=threads)
    by_group = np.zeros((len(numbers), n_grouped * n_runs))
    np.add.at(by_group, groups, columns[:, : n_grouped * n_runs])

    def evaluate(metric: str, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a metric by run, ``[..., n_runs]``, from sums of columns ``[..., columns]``."""
        of_runs = sums.reshape(*sums.shape[:-1], -1, n_runs)
        summands = (of_runs[..., names.index(name), :] for name in metrics[metric].summands)
        return metrics[metric].function(*summands)

    def by_combination(metric: str) -> CombinationScores:
        values = evaluate(metric, by_group).mean(axis=-1)
        low, high = _interval(evaluate(metric, sampled_by_group).mean(axis=-1))
        lists = [tuple(_number(value) for value in column) for column in (values, low, high)]
        sizes = np.bincount(groups, minlength=len(numbers))
        return CombinationScores(tuple(numbers.tolist()), tuple(sizes.tolist()), *lists)

    totals = columns.sum(axis=0)
    return SplitScores(
        instances=n,
        seeds=tuple(run.seed for run in runs),
        missing=tuple(int((~run.answered).sum()) for run in runs),
        metrics={
            metric: _over_seeds(evaluate(metric, totals), *_interval(evaluate(metric, sampled).mean(axis=-1)))
            for metric in metrics
        },
        by_combination={metric: by_combination(metric) for metric in grouped},
    )
