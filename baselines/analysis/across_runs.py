"""Over many runs: whether those with more structure in their latent codes generalise better."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from baselines.analysis.intervals import Interval, interval, stream
from sraven.core.errors import ConfigurationError
from sraven.scoring.bootstrap import SAMPLES

Array = NDArray[Any]

RUNS = 30
"""Runs below which nothing is concluded."""

CONFIGURATIONS = 10
"""Configurations below which nothing is concluded either: there is too little to resample."""


@dataclass(frozen=True)
class AcrossRuns:
    """Spearman correlations over runs, with intervals that resample configurations.

    Attributes:
        correlation: between topographic similarity and the score on ``ood``.
        partial: the same among runs alike on ``test``: of what is left of both ranks, once a line in the
            ranks on ``test`` is subtracted.
        runs: how many stand behind them.
        configurations: of how many; runs that differ in their seed alone have one.
        conclusive: whether there are `RUNS` and `CONFIGURATIONS` of them, and the interval of ``partial``
            leaves out 0.
        statement: that in a sentence.
    """

    correlation: Interval
    partial: Interval
    runs: int
    configurations: int
    conclusive: bool
    statement: str


def across_runs(structure: Array, ood: Array, test: Array, configurations: Array) -> AcrossRuns:
    """Return how topographic similarity goes with the score on ``ood``, over runs.

    Args:
        structure: float ``[n]``: topographic similarity of each run.
        ood: float ``[n]``: its score there.
        test: float ``[n]``: its score in distribution.
        configurations: ``[n]``: names or digests of configurations, which runs of several seeds share.

    Raises:
        ConfigurationError: if the arrays aren't of the same runs, or a number is none.
    """
    columns = [np.asarray(each, np.float64) for each in (structure, ood, test)]
    n = len(columns[0])
    if any(each.shape != (n,) for each in (*columns, np.asarray(configurations))):
        raise ConfigurationError("across_runs: expected one number and one configuration a run, of each kind")
    if not np.isfinite(columns).all():
        raise ConfigurationError("across_runs: a similarity or score is no number; leave out its run")
    names, group = np.unique(configurations, return_inverse=True)
    members = [np.flatnonzero(group == each) for each in range(len(names))]
    random, found = stream(stream="across", configurations=len(names)), np.full((SAMPLES, 2), np.nan)
    for sample in found:
        rows = np.concatenate([members[each] for each in random.integers(len(names), size=len(names))])
        sample[:] = _correlations(*(column[rows] for column in columns))
    values = _correlations(*columns)
    plain, partial = (interval(value, found[:, k], -1, 1) for k, value in enumerate(values))
    statement, conclusive = _state(n, len(names), partial)
    return AcrossRuns(plain, partial, n, len(names), conclusive, statement)


def _correlations(structure: Array, ood: Array, test: Array) -> tuple[float, float]:
    """Return the correlation of ranks, and that of what a line in the ranks of ``test`` leaves of them."""
    ranks = [rankdata(each) - (len(each) + 1) / 2 for each in (structure, ood, test)]
    base = ranks[2] @ ranks[2]
    left = [each - (each @ ranks[2] / base if base else 0) * ranks[2] for each in ranks[:2]]
    return _cosine(*ranks[:2]), _cosine(*left)


def _cosine(one: Array, other: Array) -> float:
    """Return a correlation of what has mean 0; NaN if one of them is 0, or is but rounding."""
    norms, least = np.linalg.norm(one) * np.linalg.norm(other), 1e-9 * len(one) ** 2
    return float(np.clip(one @ other / norms, -1, 1)) if norms > least else float("nan")


def _state(runs: int, configurations: int, partial: Interval) -> tuple[str, bool]:
    behind = f"{runs} runs of {configurations} configurations stand behind this"
    if runs < RUNS:
        return f"{behind}: no conclusion is drawn from fewer than {RUNS} runs", False
    if configurations < CONFIGURATIONS:
        return f"{behind}: no conclusion is drawn from fewer than {CONFIGURATIONS} configurations", False
    if partial.low is None or partial.high is None:
        return f"{behind}: the correlation isn't defined, so no conclusion is drawn", False
    if partial.low <= 0 <= partial.high:
        return f"{behind}: among runs alike on test, the interval holds 0, so no conclusion is drawn", False
    better = "better" if partial.low > 0 else "worse"
    return f"{behind}: among runs alike on test, those with more structure do {better} on ood", True
