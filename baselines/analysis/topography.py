"""Topographic similarity: whether tasks that are alike have latent codes that are alike.

It is the Spearman correlation between distances of tasks and distances of their mean codes. Pairs of tasks
aren't independent, so its p-value is that of a Mantel test: the tasks change places, and with them all of
their distances.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import permutation_test, rankdata

from baselines.analysis.intervals import stream
from baselines.analysis.similarity import cosines, mean_codes, varying

Array = NDArray[Any]
Floats = NDArray[np.float64]

COSINE, EUCLIDEAN = "cosine", "euclidean"
"""Distances of codes: 1 - cos, and that of Euclid."""

TASKS = 256
"""Tasks at most; of more, as many random ones."""

EXACT_TASKS = 8
"""Up to as many tasks, all permutations are tried."""

PERMUTATIONS = 1_999
"""Random permutations of more tasks; with the tasks as they are, 2,000."""

_AT_ONCE = 16
"""Permutations whose distances are in memory at once."""


@dataclass(frozen=True)
class Topography:
    """A topographic similarity.

    Attributes:
        correlation: Spearman's, over pairs of tasks; None where distances are all alike, or codes constant.
        p: share of permutations whose correlation is at least as great, the tasks as they are among them.
        permutations: how many that is of.
        exact: whether these are all there are.
        tasks: how many are compared.
        note: why there is none; empty if there is.
    """

    correlation: float | None
    p: float | None
    permutations: int
    exact: bool
    tasks: int
    note: str = ""


def code_distances(means: Floats) -> dict[str, Floats]:
    """Return the distances between codes ``[G, F]`` by their name: float64 ``[G, G]`` each."""
    squares = np.square(means[:, None] - means[None]).sum(axis=-1)
    return {COSINE: 1 - cosines(means), EUCLIDEAN: np.sqrt(squares)}


def topographic_similarity(tasks: Floats, codes: Floats) -> Topography:
    """Return the correlation between distances of tasks and distances of their codes, with its p-value.

    Args:
        tasks: float ``[G, G]``, symmetric. Equal distances have to be equal to the last bit.
        codes: the same of codes.
    """
    count = len(tasks)
    if count < 3:
        return Topography(None, None, 0, False, count, f"{count} tasks: three make the first correlation")
    upper = np.triu_indices(count, 1)
    if np.isnan(codes[upper]).any():
        return Topography(None, None, 0, False, count, "a mean code is zero, and has no direction")
    ranks = [_centred_ranks(each[upper]) for each in (tasks, codes)]
    norms = [float(np.linalg.norm(each)) for each in ranks]
    for what, norm in zip(("tasks", "codes"), norms, strict=True):
        if norm == 0:
            return Topography(None, None, 0, False, count, f"all distances of {what} are alike")
    placed = np.zeros((2, count, count))
    placed[:, upper[0], upper[1]] = ranks
    mine, theirs = placed + placed.transpose(0, 2, 1)

    def correlation(orders: Array, axis: int) -> Floats:
        """Return the correlations with the tasks of codes in some orders ``[..., G]``."""
        moved = theirs[orders[..., :, None], orders[..., None, :]]
        return np.asarray(np.einsum("ij,...ij->...", mine, moved) / (2 * norms[0] * norms[1]))

    exact = count <= EXACT_TASKS
    found = permutation_test(
        (np.arange(count),),
        correlation,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=factorial(EXACT_TASKS) if exact else PERMUTATIONS,
        batch=_AT_ONCE,
        alternative="greater",
        rng=stream(stream="mantel", tasks=count),
    )
    observed = float(np.clip(found.statistic, -1, 1))  # rounding may lead beyond
    # Of all there are, one is the tasks as they are; beside random ones, these count as well.
    permutations = len(found.null_distribution) + (0 if exact else 1)
    return Topography(observed, float(found.pvalue), permutations, exact, count)


def topography(codes: Array, groups: Array, tasks: Mapping[str, Floats]) -> dict[str, dict[str, Topography]]:
    """Return the topographic similarity of codes by distance of tasks and by distance of codes.

    Args:
        codes: float ``[n, F]``.
        groups: integers ``[n]``: which task each is of, its row in the distances.
        tasks: float ``[G, G]`` each, by name. Of tasks that occur, `TASKS` at most are compared.
    """
    present, means = mean_codes(codes, groups)
    drawn = np.sort(stream(stream="tasks").permutation(len(present))[:TASKS])
    present, means = present[drawn], means[drawn]
    if not varying(codes).any():
        none = Topography(None, None, 0, False, len(present), "constant codes")
        return {name: {COSINE: none, EUCLIDEAN: none} for name in tasks}
    between = code_distances(means)
    return {
        name: {
            kind: topographic_similarity(distances[np.ix_(present, present)], each)
            for kind, each in between.items()
        }
        for name, distances in tasks.items()
    }


def _centred_ranks(values: Floats) -> Floats:
    """Return ranks less their mean: exactly 0 where all values are alike."""
    return np.asarray(rankdata(values) - (len(values) + 1) / 2)
