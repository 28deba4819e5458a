"""Controls of a probe that look at no code: guesses, and labels permuted between combinations."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.intervals import stream

Array = NDArray[Any]


class Labels(NamedTuple):
    """What is to be read off the rows of a part.

    Attributes:
        values: integers ``[n]`` below the number of classes; or bool ``[n, C]``: what is there.
        combination: integers ``[n]``: of rules or terms.
    """

    values: Array
    combination: Array


def columns_of(values: Array) -> list[Array]:
    """Return what each classifier is to predict: integers ``[n]``, one of them or C."""
    return list(np.atleast_2d(values.T).astype(np.int64))


def joined(columns: list[Array], like: Array) -> Array:
    """Return columns as labels of a kind: the inverse of `columns_of`."""
    return np.stack(columns, axis=1).astype(np.bool_) if like.ndim == 2 else columns[0]


def majority(fitting: Array) -> Array:
    """Return what is most frequent in the fitting data, as the labels of one row."""
    return joined([np.bincount(column).argmax(0, keepdims=True) for column in columns_of(fitting)], fitting)


def permute_labels(labels: Mapping[str, Labels], fit: str, number: int = 0) -> dict[str, Labels]:
    """Return labels permuted between combinations, the control that catches codes of the combination.

    A combination gets the labels of another one: in all parts alike, so that a probe that knows combinations
    by heart reads these labels as well as the true ones. Combinations of the fitting part change places among
    themselves, and so do all others. Rows of a combination that had one label have one still; where a
    combination has several, it is drawn which of the other's each becomes.

    Args:
        labels: by part.
        fit: the part whose combinations are known.
        number: of the permutation.
    """
    parts = list(labels)
    combination = np.concatenate([labels[part].combination for part in parts]).astype(np.int64)
    values = np.concatenate([labels[part].values for part in parts])
    kinds, kind = np.unique(values, axis=0, return_inverse=True)
    pairs, pair = np.unique(np.stack([combination, kind.ravel()], 1), axis=0, return_inverse=True)
    random, known = stream(stream="relabel", number=number), np.unique(labels[fit].combination)
    renamed = np.empty(len(pairs), np.int64)
    for group in (known, np.setdiff1d(combination, known)):
        order = random.permutation(group)
        for one, other in zip(order, np.roll(order, 1), strict=True):  # one cycle: none keeps its own
            mine, theirs = (np.flatnonzero(pairs[:, 0] == each) for each in (one, other))
            renamed[mine] = pairs[np.resize(random.permutation(theirs), len(mine)), 1]
    ends = np.cumsum([len(labels[part].combination) for part in parts])[:-1]
    moved = np.split(kinds[renamed[pair.ravel()]], ends)
    return {part: Labels(new, labels[part].combination) for part, new in zip(parts, moved, strict=True)}
