"""What combinations of parts share with those of training: pairs and larger parts of them that are new.

A *combination* is a row of parts, sorted: rules of SRAVEN, terms of fuzzy logic; a part may occur twice. All
functions take combinations as integers ``[n, M]``, and are exact.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]


class Divergences(NamedTuple):
    """How far two sets of combinations are from each other, 0 for alike to 1 for nothing in common.

    It is D = 1 − Σ p^a q^(1−a) of Keysers et al., "Measuring compositional generalization" (ICLR 2020).
    Here p and q are how frequent something is in training and in what is held out, each combination
    counting once.

    Attributes:
        atoms: of the parts, with a = 0.5.
        compounds: of pairs of parts within a combination, with a = 0.1: it matters whether training has a
            pair, hardly how often.
    """

    atoms: float
    compounds: float


def _subsets(rows: Rows, size: int, base: int) -> Iterator[NDArray[np.int64]]:
    """Yield, for each choice of ``size`` columns, the numbers of the parts there: int64 ``[n]``."""
    weights = base ** np.arange(size, dtype=np.int64)
    for columns in combinations(range(rows.shape[1]), size):
        yield rows[:, columns].astype(np.int64) @ weights


def _distinct(rows: Rows, size: int, base: int) -> NDArray[np.int64]:
    return np.unique(np.concatenate(list(_subsets(rows, size, base))))


def _base(*tables: Rows) -> int:
    return 1 + max(int(table.max(initial=0)) for table in tables)


def combines_known(rows: Rows, known: Rows, order: int) -> NDArray[np.bool_]:
    """Return which combinations have only such ``order`` parts together as some known one has: bool ``[n]``.

    These are what an observer of that order believes in. Order M is that of whole combinations, order 1 asks
    for known parts alone.
    """
    base = _base(rows, known)
    seen = _distinct(known, order, base)
    return np.asarray(np.all([np.isin(subset, seen) for subset in _subsets(rows, order, base)], axis=0))


def count_new_pairs(rows: Rows, known: Rows) -> NDArray[np.int64]:
    """Return how many of the M(M−1)/2 pairs of parts of each combination no known one has: int64 ``[n]``."""
    base = _base(rows, known)
    seen = _distinct(known, 2, base)
    return np.asarray(np.sum([~np.isin(pair, seen) for pair in _subsets(rows, 2, base)], axis=0), np.int64)


def revealed_parts(held_out: Rows, known: Rows, shown: Rows) -> list[tuple[int, ...]]:
    """Return the parts of held-out combinations that no known one has, but others show.

    Args:
        held_out: combinations ``[n, M]``.
        known: those of training, ``[k, M]``.
        shown: others, ``[m, J]`` of any J.

    Returns:
        what is shown, each sorted: pairs, then triples, and so on, up to whole combinations.
    """
    base, found = _base(held_out, known, shown), list[tuple[int, ...]]()
    for size in range(2, min(held_out.shape[1], shown.shape[1]) + 1):
        new = np.setdiff1d(_distinct(held_out, size, base), _distinct(known, size, base))
        codes = np.intersect1d(new, _distinct(shown, size, base))
        found += [tuple(int(code) // base**place % base for place in range(size)) for code in codes]
    return found


def _divergence(known: Rows, held_out: Rows, size: int, power: float) -> float:
    base = _base(known, held_out)
    p_at, q_at = (np.concatenate(list(_subsets(rows, size, base))) for rows in (known, held_out))
    p, q = (np.bincount(at, minlength=base**size) / len(at) for at in (p_at, q_at))
    return max(0.0, 1 - float(np.sum(p**power * q ** (1 - power))))  # no −1e-16


def divergences(known: Rows, held_out: Rows) -> Divergences:
    """Return how far held-out combinations are from known ones, by their parts and by pairs of them.

    Combinations of a single part have no pairs: nothing of them can diverge.
    """
    pairs = _divergence(known, held_out, 2, 0.1) if known.shape[1] > 1 else 0.0
    return Divergences(_divergence(known, held_out, 1, 0.5), pairs)
