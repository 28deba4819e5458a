"""What a method keeps of its score where combinations are new, from its scores by combination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Labels, Scoring
from sraven.scoring.bootstrap import LEVEL, SAMPLES, resample_combinations
from sraven.scoring.combinations import count_new_pairs
from sraven.scoring.scores import DIGITS, Run, score_samples

KNOWN = "test"
"""The split of new instances of known combinations."""

BALANCED = "balanced_feature_accuracy"
"""The metric of what is kept of the parts, where a task has it: of SRAVEN, features right at equal rules."""

_NORMAL = 1.959963984540054
"""Standard errors from the middle of a normal distribution to the ends of 95 % of it."""


@dataclass(frozen=True)
class Estimate:
    """A number, and where 95 % of the samples of combinations lie; None where it isn't defined."""

    value: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class NewPairs:
    """The score on the held-out combinations with as many new pairs of parts.

    Attributes:
        pairs: how many of the pairs of a combination occur in none of training.
        combinations: how many combinations have so many.
        instances: of these combinations.
        score: on them.
        at_equal_parts: as in `Composing`, of these combinations alone.
    """

    pairs: int
    combinations: int
    instances: int
    score: Estimate
    at_equal_parts: Estimate


@dataclass(frozen=True)
class PartsKept:
    """What a method knows of the parts of combinations, such as features by their rules.

    Attributes:
        metric: `BALANCED`: the mean over rules of the share right of the features that follow one, so that
            both splits have equally many of each.
        known: on new instances of the combinations of training.
        held_out: on combinations that training lacks.
        lost: known less held out: the primary measure of what new combinations cost.
        kept: held out / known; None unless known is above 0.
        lost_by_seed: of each seed that both splits have.
    """

    metric: str
    known: Estimate
    held_out: Estimate
    lost: Estimate
    kept: Estimate
    lost_by_seed: tuple[float, ...]


@dataclass(frozen=True)
class Composing:
    """What a method scores on known and on held-out combinations. Intervals resample combinations.

    Attributes:
        metric: the score that is compared.
        known: on new instances of the combinations of training.
        held_out: on combinations that training lacks.
        kept: held out / known; None unless known is above 0.
        by_new_pairs: held out, by the number of new pairs, ascending.
        at_equal_parts: what being held out changes where combinations have the same parts: the coefficient
            of a least-squares fit to combinations, weighted by instances, beside one for each part (rule or
            term); its interval is robust to unequal variances. None where parts and being held out can't be
            told apart.
        parts: what it keeps of parts; None where the task has no such metric, or no predictions are known.
    """

    metric: str
    known: Estimate
    held_out: Estimate
    kept: Estimate
    by_new_pairs: tuple[NewPairs, ...]
    at_equal_parts: Estimate
    parts: PartsKept | None = None


@dataclass(frozen=True)
class _Apart:
    """Scores by combination: means ``[n]``, instances ``[n]`` and the parts of each ``[n, M]``."""

    means: NDArray[np.float64]
    instances: NDArray[np.float64]
    rows: NDArray[Any]

    def where(self, chosen: NDArray[np.bool_]) -> "_Apart":
        return _Apart(self.means[chosen], self.instances[chosen], self.rows[chosen])

    def mean(self) -> float:
        return float(self.means @ self.instances / self.instances.sum())

    def samples(self, first: int = 0) -> NDArray[np.float64]:
        return resample_combinations(self.means.tolist(), self.instances.tolist(), first)


def _read(task: Any, scores: Mapping[str, Any], split: str, metric: str) -> _Apart | None:
    """Return what a split's scores say by combination; None where they don't."""
    found = scores.get("by_combination", {}).get(metric)
    if found is None or None in found["mean"]:
        return None
    places = np.searchsorted(task.combination_indices(split), found["combination"])
    instances = np.asarray(found["instances"], np.float64)
    return _Apart(np.asarray(found["mean"], np.float64), instances, task.combinations(split)[places])


def _estimate(value: float, samples: NDArray[np.float64]) -> Estimate:
    """Return a value with the interval of its samples; NaN ones, in which it isn't defined, are left out."""
    low, high = np.nanquantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(round(value, DIGITS), (round(float(low), DIGITS), round(float(high), DIGITS)))


def _effect(known: _Apart, held_out: _Apart) -> Estimate:
    """Return what being held out changes beside the parts, by weighted least squares."""
    rows = np.concatenate([known.rows, held_out.rows])
    parts = np.stack([(rows == part).sum(axis=1) for part in np.unique(rows)], axis=1).astype(np.float64)
    is_new = np.repeat([0.0, 1.0], [len(known.rows), len(held_out.rows)])
    design = np.column_stack([parts, is_new])  # the counts of parts add up to M: they hold the constant, too
    if np.linalg.matrix_rank(design) < design.shape[1] or len(design) == design.shape[1]:
        return Estimate(None, None)
    weights = np.concatenate([known.instances, held_out.instances])
    means = np.concatenate([known.means, held_out.means])
    inverse = np.linalg.inv(design.T @ (weights[:, None] * design))
    fitted = inverse @ design.T @ (weights * means)
    # The sandwich estimate of White (1980), with the correction n / (n − k).
    scores = (weights * (means - design @ fitted))[:, None] * design
    variances = inverse @ (scores.T @ scores) @ inverse * len(design) / (len(design) - design.shape[1])
    value, error = float(fitted[-1]), float(np.sqrt(variances[-1, -1]))
    ends = value - _NORMAL * error, value + _NORMAL * error
    return Estimate(round(value, DIGITS), (round(ends[0], DIGITS), round(ends[1], DIGITS)))


def _of_pairs(pairs: int, known: _Apart, new: _Apart) -> NewPairs:
    score = _estimate(new.mean(), new.samples())
    return NewPairs(pairs, len(new.means), int(new.instances.sum()), score, _effect(known, new))


def measure_composing(
    task: Any, scores: Mapping[str, Mapping[str, Any]], metric: str, held_out: str
) -> Composing | None:
    """Return what a method keeps on held-out combinations; None where scores aren't known by combination.

    Args:
        task: with ``combinations`` and ``combination_indices`` of each split.
        scores: by split, `SplitScores` as JSON values.
        metric: a mean over instances that is given by combination.
        held_out: the split of held-out combinations.
    """
    if not {KNOWN, held_out} <= set(scores) or held_out == KNOWN:
        return None
    known = _read(task, scores[KNOWN], KNOWN, metric)
    new = _read(task, scores[held_out], held_out, metric) if known else None
    if known is None or new is None:
        return None
    known_samples, new_samples = known.samples(), new.samples()
    kept = Estimate(None, None)
    if known.mean() > 0 and known_samples.min() > 0:
        # Other samples: with as many combinations on both sides, the same ones would go up and down together.
        kept = _estimate(new.mean() / known.mean(), new_samples / known.samples(SAMPLES))
    pairs = count_new_pairs(new.rows, task.combinations("train"))
    groups = [(int(count), new.where(pairs == count)) for count in np.unique(pairs)]
    return Composing(
        metric=metric,
        known=_estimate(known.mean(), known_samples),
        held_out=_estimate(new.mean(), new_samples),
        kept=kept,
        by_new_pairs=tuple(_of_pairs(count, known, each) for count, each in groups),
        at_equal_parts=_effect(known, new),
    )


def measure_parts(
    scoring: Scoring,
    labels: Mapping[str, Labels],
    runs: Mapping[str, Sequence[Run]],
    held_out: str,
    *,
    threads: int | None = None,
) -> PartsKept | None:
    """Return what a method keeps of parts; None where the task has no such metric, or a split is missing.

    Args:
        scoring: the task's.
        labels: the truth by split.
        runs: by split, predictions of one or more seeds.
        held_out: the split of held-out combinations.
        threads: threads to use; None for all available ones.
    """
    if BALANCED not in scoring.metrics or not {KNOWN, held_out} <= set(runs) or held_out == KNOWN:
        return None
    sampled = partial(score_samples, scoring, metrics=(BALANCED,), by_combination=True, threads=threads)
    # Other samples for each, as in `measure_composing`.
    known = sampled(labels=labels[KNOWN], runs=runs[KNOWN], samples=SAMPLES, first=SAMPLES)[BALANCED]
    new = sampled(labels=labels[held_out], runs=runs[held_out], samples=SAMPLES)[BALANCED]
    known_samples, new_samples = known.samples.mean(axis=1), new.samples.mean(axis=1)
    values = float(known.by_run.mean()), float(new.by_run.mean())
    kept = Estimate(None, None)
    if np.nanmin(known_samples) > 0:
        kept = _estimate(values[1] / values[0], new_samples / known_samples)
    by_seed = [
        {run.seed: float(value) for run, value in zip(runs[split], of.by_run, strict=True)}
        for split, of in ((KNOWN, known), (held_out, new))
    ]
    return PartsKept(
        metric=BALANCED,
        known=_estimate(values[0], known_samples),
        held_out=_estimate(values[1], new_samples),
        lost=_estimate(values[0] - values[1], known_samples - new_samples),
        kept=kept,
        lost_by_seed=tuple(
            round(by_seed[0][seed] - by_seed[1][seed], DIGITS)
            for seed in sorted(by_seed[0].keys() & by_seed[1])
        ),
    )
