"""Mean latent codes of tasks and rules, how similar they are, and how many heads share a code.

Figures 5E and A8. Codes are rows ``[n, F]``: the F = H scores of a pair, or those of several pairs in turn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.intervals import stream

Array = NDArray[Any]
Floats = NDArray[np.float64]

SPREAD = 1e-3
"""Coordinates that spread less, in units of the layer's RMS, count as constant: all they have is rounding."""


@dataclass(frozen=True)
class Similarity:
    """Cosines between mean codes of rules (Figures 5E, A8C).

    Attributes:
        labels: ``[R]``: the rules that occur, ascending.
        means: ``[R, F]``: the mean code of each (Figure A8B): of the mean codes of all combinations that have
            the rule, so that each of them counts alike.
        cosine: ``[R, R]``: of these means; NaN where one is zero.
        centred: the same, once the mean over rules is subtracted: what all codes share is no similarity.
        combinations: ``[R]``: how many combinations each mean is of.
        constant: whether the codes are, so that all of this is rounding.
    """

    labels: list[int]
    means: Floats
    cosine: Floats
    centred: Floats
    combinations: list[int]
    constant: bool


@dataclass(frozen=True)
class Participation:
    """How many heads share a code: (Σ|a|)² / (H Σ a²), from 1/H for a single one to 1 for all alike.

    Attributes:
        mean: over all codes; None if all are zero.
        by_label: means over the codes of each label, ascending.
        labels: these labels.
        heads: H.
    """

    mean: float | None
    by_label: list[float | None]
    labels: list[int]
    heads: int


def varying(codes: Array) -> NDArray[np.bool_]:
    """Tell which coordinates of codes ``[n, F]`` vary: bool ``[F]``; none of them if codes are constant."""
    wide = np.asarray(codes, np.float64)
    return np.asarray(wide.std(axis=0) > SPREAD * np.sqrt(np.square(wide).mean()))


def mean_codes(codes: Array, groups: Array) -> tuple[Array, Floats]:
    """Return the groups that occur, ascending, and the mean code of each: float64 ``[G, F]``.

    Args:
        codes: float ``[n, F]``.
        groups: integers ``[n]``, or ``[n, D]`` for rows of a table, such as combination and rule.
    """
    present, group = np.unique(groups, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    sizes = np.bincount(group.ravel())
    sums = np.add.reduceat(np.asarray(codes, np.float64)[order], np.cumsum(sizes) - sizes, axis=0)
    return present, sums / sizes[:, None]


def cosines(codes: Floats) -> Floats:
    """Return the cosines between codes ``[G, F]``: float64 ``[G, G]``; NaN where a code is zero."""
    norms = np.linalg.norm(codes, axis=1, keepdims=True)
    units = np.divide(codes, norms, out=np.full_like(codes, np.nan), where=norms > 0)
    return np.asarray(np.clip(units @ units.T, -1, 1))


def similarity(codes: Array, labels: Array, combination: Array) -> Similarity:
    """Return the cosines between mean codes of labels.

    Args:
        codes: float ``[n, F]``.
        labels: integers ``[n]``: the rule.
        combination: integers ``[n]``.
    """
    pairs, by_pair = mean_codes(codes, np.stack([labels, combination], axis=1).astype(np.int64))
    present, means = mean_codes(by_pair, pairs[:, 0])
    return Similarity(
        labels=present.tolist(),
        means=means,
        cosine=cosines(means),
        centred=cosines(means - means.mean(axis=0)),
        combinations=np.bincount(pairs[:, 0])[present].tolist(),
        constant=not varying(codes).any(),
    )


def sample_rows(labels: Array, count: int = 64) -> NDArray[np.int64]:
    """Return random rows sorted by their label ``[n]``; all of them if there are fewer than ``count``."""
    drawn = np.sort(stream(stream="sample").permutation(len(labels))[:count])
    return np.asarray(drawn[np.argsort(labels[drawn], kind="stable")])


def participation_ratios(codes: Array) -> Floats:
    """Return (Σ|a|)² / (H Σ a²) of each code ``[n, H]``: float64 ``[n]``; NaN for a code of zeros."""
    magnitudes = np.abs(np.asarray(codes, np.float64))
    squares = np.square(magnitudes).sum(axis=1)
    sums = np.square(magnitudes.sum(axis=1)) / magnitudes.shape[1]
    return np.asarray(np.divide(sums, squares, out=np.full(len(sums), np.nan), where=squares > 0))


def participation(codes: Array, labels: Array) -> Participation:
    """Return how many heads share codes ``[n, H]``, on average and by label ``[n]``."""
    ratios = participation_ratios(codes)
    present = np.unique(labels)
    means = [_mean(ratios[labels == label]) for label in present]
    return Participation(_mean(ratios), means, present.tolist(), codes.shape[1])


def _mean(ratios: Floats) -> float | None:
    there = ratios[~np.isnan(ratios)]
    return float(there.mean()) if len(there) else None
