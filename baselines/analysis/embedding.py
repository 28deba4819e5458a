"""Latent codes in the plane (figures 2D, 5A, 5B, A2, A6, A7), and how far to believe such a picture.

t-SNE finds clusters in anything. So each picture comes with numbers: how many neighbours the plane keeps, and
for each label that colours it, whether neighbours share it more often than if labels were dealt at random,
among the codes themselves and in the plane. Where groups are given, neighbours are of another combination:
codes of one function lie together because they are of one function, which says nothing of its terms.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from sraven.core.errors import ConfigurationError

POINTS = 2_000
"""Of a picture at most."""

NEIGHBOURS = 10
"""Of each point, that are compared with it."""

_WIDE = 50
"""Codes wider than this become so many principal components first."""

_PERPLEXITY, _LEAST_POINTS = 30.0, 10
"""Of t-SNE, as its authors advise; less where there are few points. Fewer than 10 are no picture."""

_PERMUTATIONS = 199

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Neighbours:
    """How alike the labels of neighbours are.

    Attributes:
        score: of categories, the share of neighbours with the same one; of values, 1 minus the mean squared
            difference of neighbours over twice the variance (Geary's): 1 if they are equal, 0 if they have
            nothing to do with one another.
        permuted: the same with labels dealt at random, mean; what the score is to be read against.
        permuted_most: the largest of these.
        p: share of deals, the true one among them, with at least this score.
        permutations: how many there were.
    """

    score: float
    permuted: float
    permuted_most: float
    p: float
    permutations: int


@dataclass(frozen=True)
class Embedding:
    """Points in the plane.

    Attributes:
        positions: float32 ``[n', 2]``.
        chosen: int64 ``[n']``, ascending: which of the codes they are of.
        trustworthiness: 1 if all neighbours in the plane are neighbours among the codes, about 0.5 if none is
            (Venna & Kaski 2001).
        perplexity: of t-SNE.
        seed: that codes were chosen with.
    """

    positions: Floats
    chosen: NDArray[np.int64]
    trustworthiness: float
    perplexity: float
    seed: int


def embed(codes: ArrayLike, seed: int = 0, points: int = POINTS) -> Embedding:
    """Lay codes out in the plane by t-SNE, after principal components where they are wide.

    Codes are taken as they are, since scores of heads have one unit. The same codes and seed give the same
    picture on one machine; another processor may turn or bend it.

    Args:
        codes: float ``[n, C]``.
        seed: of the choice of points, of the components and of t-SNE.
        points: how many to show at most.

    Raises:
        ConfigurationError: for codes that are too few, not finite, or all the same.
        ModuleNotFoundError: without scikit-learn, of the extra ``analysis``.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE, trustworthiness
    from threadpoolctl import threadpool_limits

    array = _check_codes(codes)
    random, count = np.random.default_rng(seed), len(array)
    chosen = np.sort(random.choice(count, min(points, count), replace=False))
    shown = array[chosen]
    spread = shown.std(axis=0).max()
    if spread <= 1e-6 * np.abs(shown).max():
        raise ConfigurationError("these codes are all the same: no picture; choose another layer or pair")
    perplexity = min(_PERPLEXITY, (len(shown) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed)
    # Threads that wait for one another in each of many short loops take fifty times as long on busy cores.
    with threadpool_limits(1):
        if shown.shape[1] > _WIDE and len(shown) > _WIDE:
            shown = PCA(_WIDE, random_state=seed).fit_transform(shown)
        positions = tsne.fit_transform(shown).astype(np.float32)
        kept = trustworthiness(shown, positions, n_neighbors=min(NEIGHBOURS, len(shown) // 2 - 1))
    return Embedding(positions, chosen, float(kept), float(perplexity), seed)


def neighbours(
    points: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike | None = None,
    seed: int = 0,
    permutations: int = _PERMUTATIONS,
) -> Neighbours | None:
    """Compare labels of neighbours with labels dealt at random.

    Labels that all instances of a group share, such as terms of a function, are dealt to groups, since
    instances of a group aren't independent; others to instances.

    Args:
        points: float ``[n, C]``: codes, or positions in the plane; at most a few thousand.
        labels: ``[n]``: integers or texts are categories, floats are values.
        groups: integers ``[n]``: combinations; neighbours are then points of other groups. None: any others.
        seed: of the deals.
        permutations: how many.

    Returns:
        None if labels are all the same, or there are too few points of other groups.
    """
    array, label = _check_codes(points), np.asarray(labels)
    group = np.arange(len(array)) if groups is None else np.unique(groups, return_inverse=True)[1]
    if label.shape != (len(array),) or group.shape != label.shape:
        raise ConfigurationError(f"labels {label.shape}, groups {group.shape}: expected {len(array)} of each")
    if len(np.unique(label)) < 2 or len(array) - np.bincount(group).max() < NEIGHBOURS:
        return None
    near = _nearest(array, group)
    coded = label.astype(np.float64) if label.dtype.kind == "f" else np.unique(label, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    firsts = np.unique(group, return_index=True)[1]
    units = group if (coded == coded[firsts][group]).all() else np.arange(len(coded))
    of_units = coded[np.unique(units, return_index=True)[1]]
    score = _alikeness(coded, near)
    dealt = [_alikeness(rng.permutation(of_units)[units], near) for _ in range(permutations)]
    p = (1 + sum(each >= score - 1e-12 for each in dealt)) / (1 + permutations)
    return Neighbours(score, float(np.mean(dealt)), max(dealt), p, permutations)


def _alikeness(label: NDArray[Any], near: NDArray[np.int64]) -> float:
    """Return the score of `Neighbours` for labels ``[n]`` and neighbours ``[n, NEIGHBOURS]``."""
    if label.dtype.kind == "f":
        return float(1 - np.square(label[near] - label[:, None]).mean() / (2 * label.var()))
    return float((label[near] == label[:, None]).mean())


def _nearest(points: Floats, groups: NDArray[Any]) -> NDArray[np.int64]:
    """Return the nearest points of other groups, ``[n, NEIGHBOURS]``."""
    distance = cdist(points, points)
    distance[groups[:, None] == groups] = np.inf
    return np.argpartition(distance, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def _check_codes(codes: ArrayLike) -> Floats:
    array = np.asarray(codes, np.float32)
    if array.ndim != 2 or len(array) < _LEAST_POINTS or not array.shape[1]:
        raise ConfigurationError(
            f"codes have the shape {array.shape}; expected [n, C] with at least {_LEAST_POINTS}"
        )
    if not np.isfinite(array).all():
        raise ConfigurationError("codes have values that aren't finite; the run has diverged")
    return array
