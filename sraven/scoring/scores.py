"""Scores of predictions on a split: over seeds, by combination, with bootstrap intervals.

Every metric is a function of sums over instances (`sraven.core.roles.Metric`), so the same columns
give the score of the split, of each combination and of each bootstrap sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Arrays, Labels, Metric, Scoring
from sraven.scoring.bootstrap import LEVEL, SAMPLES, bootstrap_sums, draw_counts, resample_combinations


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

    def by_metrics(self, names: Sequence[str]) -> "SplitScores":
        """Return the scores by some of the metrics alone."""
        metrics = {name: self.metrics[name] for name in names}
        apart = {name: found for name, found in self.by_combination.items() if name in metrics}
        return replace(self, metrics=metrics, by_combination=apart)


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


def whole_run(predictions: NDArray[Any], seed: int = 0) -> Run:
    """Return predictions of all instances, ``[n, ...]``, as a run that lacks none."""
    return Run(seed, predictions, np.ones(len(predictions), np.bool_))


DIGITS = 9
"""Decimal places of a score, below what any sample can show: they hide how machines add up."""


def _number(value: Any) -> float | None:
    """Return a number as it is written down; None for NaN."""
    return round(float(value), DIGITS) + 0.0 if np.isfinite(value) else None  # no -0.0


def middle(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the middle of the samples (first axis) begins and ends; NaN samples are left out."""
    ordered = np.sort(samples.T, axis=-1).T  # in memory, samples side by side; NaN comes last
    defined = np.isfinite(ordered).sum(axis=0)

    def quantile(share: float) -> NDArray[np.float64]:
        place = share * np.maximum(defined - 1, 0)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(defined - 1, 0))
        low, high = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
        return np.asarray(np.where(defined > 0, low + (place - below) * (high - low), np.nan))

    return quantile((1 - LEVEL) / 2), quantile((1 + LEVEL) / 2)


def interval_over_combinations(scores: Mapping[str, Any], metric: str) -> tuple[float, float] | None:
    """Return the interval of a metric that is a mean over instances, if its combinations are resampled.

    None where its scores aren't given by combination, or one of them has none.

    Args:
        scores: `SplitScores` as JSON values.
        metric: its name.
    """
    apart = scores.get("by_combination", {}).get(metric)
    if apart is None or None in apart["mean"]:
        return None
    low, high = middle(resample_combinations(apart["mean"], apart["instances"]))
    return round(float(low), DIGITS), round(float(high), DIGITS)


def _over_seeds(values: NDArray[np.float64], low: Any, high: Any) -> Score:
    """Return the score of a metric, given its value for each seed."""
    error = _number(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    bounds = _number(low), _number(high)
    interval = None if bounds[0] is None or bounds[1] is None else (bounds[0], bounds[1])
    return Score(_number(values.mean()), error, interval, tuple(_number(value) for value in values))


@dataclass(frozen=True)
class _Columns:
    """The columns of all runs side by side: those of the labels once, those of outcomes for each run.

    Attributes:
        metrics: the task's.
        matrix: float64 ``[n, C]``; first come the columns that are summed by combination.
        places: where the columns of a name lie, one or one for each run.
        n_grouped: how many are summed by combination.
    """

    metrics: Mapping[str, Metric]
    matrix: NDArray[np.float64]
    places: Mapping[str, slice]
    n_grouped: int

    def of_all(self, metric: str, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a metric of all instances by run, ``[n_runs]``, given the sums of all columns."""
        return self.evaluate(metric, self.matrix if self.metrics[metric].of_instances else totals)

    def evaluate(self, metric: str, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a metric by run, ``[..., n_runs]``, from sums of columns ``[..., columns]``."""
        summands = [sums[..., self.places[name]] for name in self.metrics[metric].summands]
        return self.metrics[metric].function(*summands)


def _stack(
    metrics: Mapping[str, Metric], grouped: Sequence[str], labels: Labels, outcomes: Sequence[Arrays]
) -> _Columns:
    # No other columns than the metrics ask for: what a later metric brings leaves old scores as they are.
    asked = {name for metric in metrics.values() for name in metric.summands}
    found = {name: [column] for name, column in labels.summands.items() if name in asked}
    found |= {name: [outcome[name] for outcome in outcomes] for name in outcomes[0] if name in asked}
    first = {name: found[name] for metric in grouped for name in metrics[metric].summands}
    ordered = first | found
    ends = np.cumsum([len(columns) for columns in ordered.values()])
    places = {name: slice(end - len(found[name]), end) for name, end in zip(ordered, ends, strict=True)}
    columns = [np.asarray(column, np.float64) for each in ordered.values() for column in each]
    return _Columns(metrics, np.stack(columns).T, places, sum(map(len, first.values())))


def _sum_by_group(
    matrix: NDArray[np.float64], groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the sums of the columns of a matrix ``[n, C]`` over each group: ``[n_groups, C]``."""
    sums = np.empty((n_groups, matrix.shape[1]))
    for number, column in enumerate(matrix.T):
        sums[:, number] = np.bincount(groups, column, n_groups)
    return sums


def score_plainly(
    scoring: Scoring, labels: Labels, predictions: NDArray[Any], metrics: Sequence[str]
) -> dict[str, float]:
    """Score the predictions of one run, by the same sums as `score_runs`, without intervals or combinations.

    Args:
        scoring: the task's.
        labels: the truth about the instances.
        predictions: of all of them.
        metrics: names of the metrics, in this order.

    Returns:
        a score for each metric; NaN where it isn't defined, and for all if a prediction can't be scored.
    """
    if scoring.find_fault(predictions):
        return dict.fromkeys(metrics, float("nan"))
    outcomes = scoring.outcomes(labels, predictions, whole_run(predictions).answered, None)
    columns = _stack({name: scoring.metrics[name] for name in metrics}, (), labels, [outcomes])
    totals = columns.matrix.sum(axis=0)
    return {metric: round(float(columns.of_all(metric, totals)[0]), DIGITS) for metric in metrics}


class Samples(NamedTuple):
    """A metric of some runs on a split.

    Attributes:
        by_run: ``[runs]``.
        samples: ``[samples, runs]``: on the same samples of combinations for all runs, NaN where undefined.
        by_instance: ``[n, runs]``: of each instance by itself.
    """

    by_run: NDArray[np.float64]
    samples: NDArray[np.float64]
    by_instance: NDArray[np.float64]


def score_samples(
    scoring: Scoring,
    labels: Labels,
    runs: Sequence[Run],
    metrics: Sequence[str],
    *,
    by_combination: bool,
    samples: int,
    first: int = 0,
    threads: int | None = None,
) -> dict[str, Samples]:
    """Score runs on samples of the combinations of a split, for comparison with others on the same ones.

    Args:
        scoring: the task's.
        labels: the truth about the split.
        runs: predictions of one or more seeds.
        metrics: names of metrics that are functions of sums.
        by_combination: whether combinations are drawn, and not instances.
        samples: how many.
        first: number of the first sample; samples of other numbers are independent.
        threads: threads to use; None for all available ones.
    """
    outcomes = [scoring.outcomes(labels, run.predictions, run.answered, threads) for run in runs]
    columns = _stack({name: scoring.metrics[name] for name in metrics}, metrics, labels, outcomes)
    combination = labels.arrays["combination"] if by_combination else np.arange(len(columns.matrix))
    numbers, groups = np.unique(combination, return_inverse=True)
    sums = _sum_by_group(columns.matrix, groups, len(numbers))
    # Some samples at a time: where instances are drawn, there are many of them.
    sizes = {first + at: min(SAMPLES, samples - at) for at in range(0, samples, SAMPLES)}
    draws = (draw_counts(len(numbers), at, size).T for at, size in sizes.items())
    sampled, total = np.concatenate([each.astype(np.float64) @ sums for each in draws]), sums.sum(axis=0)
    return {
        name: Samples(*(columns.evaluate(name, each) for each in (total, sampled, columns.matrix)))
        for name in metrics
    }


def score_runs(
    scoring: Scoring,
    labels: Labels,
    runs: Sequence[Run],
    *,
    metrics: Sequence[str] | None = None,
    threads: int | None = None,
) -> SplitScores:
    """Score the runs of one method on one split.

    All seeds are scored on the same bootstrap samples of the instances, so the interval is one of
    their mean.

    Args:
        scoring: the task's.
        labels: the truth about the split.
        runs: predictions of one or more seeds.
        metrics: names of the metrics, in this order; None for all of the task.
        threads: threads to use; None for all available ones.
    """
    outcomes = [scoring.outcomes(labels, run.predictions, run.answered, threads) for run in runs]
    chosen = {name: scoring.metrics[name] for name in (scoring.metrics if metrics is None else metrics)}
    grouped = [name for name in scoring.by_combination if name in chosen]
    columns = _stack(chosen, grouped, labels, outcomes)
    matrix, n_grouped = columns.matrix, columns.n_grouped
    numbers, groups, sizes = np.unique(labels.arrays["combination"], return_inverse=True, return_counts=True)
    totals, by_group = matrix.sum(axis=0), _sum_by_group(matrix[:, :n_grouped], groups, len(numbers))

    sampled: dict[str, list[NDArray[np.float64]]] = {
        name: [] for name, metric in chosen.items() if not metric.of_instances
    }
    sampled_by_group: dict[str, list[NDArray[np.float64]]] = {metric: [] for metric in grouped}
    for sums, sums_by_group in bootstrap_sums(matrix, groups, len(numbers), n_grouped, threads=threads):
        for metric, samples in sampled.items():
            samples.append(columns.evaluate(metric, sums).mean(axis=-1))
        for metric, samples in sampled_by_group.items():
            samples.append(columns.evaluate(metric, sums_by_group).mean(axis=-1))

    def apart(metric: str) -> CombinationScores:
        values = columns.evaluate(metric, by_group).mean(axis=-1)
        bounds = middle(np.concatenate(sampled_by_group[metric]))
        lists = [tuple(_number(value) for value in column) for column in (values, *bounds)]
        return CombinationScores(tuple(numbers.tolist()), tuple(sizes.tolist()), *lists)

    def score(metric: str) -> Score:
        bounds = middle(np.concatenate(sampled[metric])) if metric in sampled else (np.nan, np.nan)
        return _over_seeds(columns.of_all(metric, totals), *bounds)

    return SplitScores(
        instances=len(matrix),
        seeds=tuple(run.seed for run in runs),
        missing=tuple(int((~run.answered).sum()) for run in runs),
        metrics={metric: score(metric) for metric in chosen},
        by_combination={metric: apart(metric) for metric in grouped},
    )
