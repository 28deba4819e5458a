"""Exact identifiability: which functions agree with the points shown, and what they predict.

A combination of terms agrees with a point if the greatest of its terms equals the target there. So each
of its terms is nowhere above a target (it is *compatible*), and at every point some term reaches the
target (it *covers* the point). After a few points few compatible terms are left, and the agreeing
combinations are the K-sets of them that cover all points. The search takes the first point that is
uncovered and branches over the terms that cover it, one of which every agreeing set has. To visit each
set once, a term that was tried is *banned* from the branches after it at that depth: the sets with it
have been visited. Where all points are covered and terms are missing, any others will do, in ascending
order.
"""

from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzylogic.terms import binomials, check_total, rank, rank_all
from sraven.core.arguments import check_array, check_integer
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.jit import kernel
from sraven.core.parallel import for_each_chunk

VISIT_LIMIT = 1 << 26
"""Search steps that one sequence may take at most (a few seconds)."""

_ONE_F = np.float32(1.0)
_ONE, _63 = np.uint64(1), np.uint64(63)


class Identification(NamedTuple):
    """What the points shown leave open, by sequence."""

    agreeing: NDArray[np.int64]
    """``[n]``: combinations that agree with all points shown; 0 if none does."""
    ambiguous: NDArray[np.bool_]
    """``[n]``: whether two of them disagree on the query."""
    prediction: NDArray[np.float64]
    """``[n]``: mean of what they predict for the query, the ideal observer's answer; NaN if none."""


class _Scratch(NamedTuple):
    """Scratch memory of the search."""

    compatible: NDArray[np.int64]
    """``[2**L]``: ids of the terms that are compatible, ascending."""
    query: NDArray[np.float32]
    """``[2**L]``: their values at the query."""
    covers: NDArray[np.uint64]
    """``[2**L, words]``: the points that they cover, as bits."""
    uncovered: NDArray[np.uint64]
    """``[K + 1, words]``: what the terms chosen so far leave uncovered, by depth."""
    chosen: NDArray[np.int64]
    """``[K + 1]``: the compatible term tried at a depth."""
    banned: NDArray[np.int64]
    """``[2**L]``: depth at which a term was tried before and is now left out; K if none."""
    point: NDArray[np.int64]
    """``[K + 1]``: the uncovered point that a depth branches over; -1 if all are covered."""
    ids: NDArray[np.int64]
    """``[K]``: a combination, ascending."""


def _make_scratch(terms: int, words: int, K: int) -> _Scratch:
    return _Scratch(
        compatible=np.zeros(terms, np.int64),
        query=np.zeros(terms, np.float32),
        covers=np.zeros((terms, words), np.uint64),
        uncovered=np.zeros((K + 1, words), np.uint64),
        chosen=np.zeros(K + 1, np.int64),
        banned=np.zeros(terms, np.int64),
        point=np.zeros(K + 1, np.int64),
        ids=np.zeros(K, np.int64),
    )


@kernel
def _term_value(inputs: Any, term: Any) -> Any:
    value = _ONE_F
    for variable in range(inputs.shape[0]):
        x = inputs[variable]
        value = min(value, x if (term >> variable) & 1 else _ONE_F - x)
    return value


@kernel
def _find_compatible(inputs: Any, targets: Any, scratch: Any) -> Any:
    """Find the terms that are nowhere above a target, and what they cover; return their number."""
    compatible, query, covers = scratch.compatible, scratch.query, scratch.covers
    shown = inputs.shape[0] - 1
    n_compatible = compatible.shape[0]
    for term in range(n_compatible):
        compatible[term] = term
    for n in range(shown):
        kept = 0
        for c in range(n_compatible):
            if _term_value(inputs[n], compatible[c]) <= targets[n]:
                compatible[kept] = compatible[c]
                kept += 1
        n_compatible = kept
    for c in range(n_compatible):
        covers[c] = 0
        for n in range(shown):
            if _term_value(inputs[n], compatible[c]) == targets[n]:
                covers[c, n // 64] |= _ONE << (np.uint64(n) & _63)
        query[c] = _term_value(inputs[shown], compatible[c])
    return n_compatible


@kernel
def _first_point(bits: Any) -> Any:
    """Return the least set bit, or -1."""
    for word in range(bits.shape[0]):
        if bits[word]:
            point = 0
            while not (bits[word] >> np.uint64(point)) & _ONE:
                point += 1
            return 64 * word + point
    return -1


@kernel
def _is_listed(K: Any, scratch: Any, listed: Any, table: Any) -> Any:
    """Return whether the chosen combination is one of those in question (bits by number)."""
    ids = scratch.ids
    for k in range(K):
        term = scratch.compatible[scratch.chosen[k]]
        place = k
        while place > 0 and ids[place - 1] > term:
            ids[place] = ids[place - 1]
            place -= 1
        ids[place] = term
    number = rank(ids, table)
    return (listed[number // 8] >> (number % 8)) & 1


@kernel
def _next_candidate(depth: Any, n_compatible: Any, K: Any, scratch: Any) -> Any:
    """Return the next term to try at a depth: one that covers its point, or any if all are."""
    point = scratch.point[depth]
    for c in range(scratch.chosen[depth] + 1, n_compatible):
        if scratch.banned[c] < K:
            continue
        if point < 0 or (scratch.covers[c, point // 64] >> (np.uint64(point) & _63)) & _ONE:
            return c
    return n_compatible


@kernel
def _search(n_compatible: Any, K: Any, shown: Any, limit: Any, scratch: Any, listed: Any, table: Any) -> Any:
    """Visit every agreeing combination.

    Returns their number (-1 if there were too many steps), the sum of their predictions, the
    least and the greatest.
    """
    uncovered, chosen, banned, point = scratch.uncovered, scratch.chosen, scratch.banned, scratch.point
    count, total, least, greatest = 0, 0.0, np.float32(2.0), np.float32(-1.0)
    uncovered[0] = 0
    for n in range(shown):
        uncovered[0, n // 64] |= _ONE << (np.uint64(n) & _63)
    banned[:n_compatible] = K
    depth, steps = 0, 0
    chosen[0], point[0] = -1, _first_point(uncovered[0])
    while depth >= 0:
        steps += 1
        if steps > limit:
            return -1, total, least, greatest
        if chosen[depth] >= 0:
            banned[chosen[depth]] = depth  # sets with this term have all been visited
        candidate = _next_candidate(depth, n_compatible, K, scratch)
        chosen[depth] = candidate
        if candidate == n_compatible:
            for c in range(n_compatible):
                if banned[c] == depth:
                    banned[c] = K
            depth -= 1
            continue
        done = True
        for word in range(uncovered.shape[1]):
            uncovered[depth + 1, word] = uncovered[depth, word] & ~scratch.covers[candidate, word]
            done = done and uncovered[depth + 1, word] == 0
        if depth + 1 < K:
            depth += 1
            banned[candidate] = depth - 1  # chosen terms can't be chosen again further down
            chosen[depth], point[depth] = -1, _first_point(uncovered[depth])
        elif done and (listed.shape[0] == 0 or _is_listed(K, scratch, listed, table)):
            value = scratch.query[chosen[0]]
            for k in range(1, K):
                value = max(value, scratch.query[chosen[k]])
            count += 1
            total += value
            least, greatest = min(least, value), max(greatest, value)
    return count, total, least, greatest


@kernel
def _identify(
    inputs: Any, targets: Any, K: Any, limit: Any, listed: Any, table: Any, scratch: Any, out: Any
) -> Any:
    """Identify sequences; return the first that took too many steps, or their number."""
    agreeing, ambiguous, prediction = out
    shown = inputs.shape[1] - 1
    for s in range(inputs.shape[0]):
        n_compatible = _find_compatible(inputs[s], targets[s], scratch)
        found, total, least, greatest = _search(n_compatible, K, shown, limit, scratch, listed, table)
        if found < 0:
            return s
        agreeing[s] = found
        ambiguous[s] = found > 0 and least < greatest
        prediction[s] = total / found if found else np.nan
    return inputs.shape[0]


def _listed_bits(combinations: ArrayLike | None, L: int, K: int) -> NDArray[np.uint8]:
    """Return a bit for each combination of all terms: set if it is in question; none for all."""
    if combinations is None:
        return np.zeros(0, np.uint8)
    rows = check_array("combinations", combinations, ("n_combinations", K), "iu", "integers").astype(np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= 1 << L or (np.diff(rows, axis=1) <= 0).any()):
        raise ConfigurationError(f"combinations has a row that isn't {K} ascending term ids below {1 << L}")
    bits = np.zeros(comb(1 << L, K), np.bool_)
    bits[rank_all(rows, 1 << L)] = True
    return np.packbits(bits, bitorder="little")


def identify(
    inputs: ArrayLike,
    targets: ArrayLike,
    K: int,
    combinations: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> Identification:
    """Find, for each sequence, the functions that agree with the points shown, exactly.

    Args:
        inputs: floats ``[n, N, L]`` in [0, 1), as float32 numbers; the last point is the query.
        targets: floats ``[n, N]``; the last one is not looked at.
        K: terms of a function.
        combinations: integers ``[n_combinations, K]``, ascending term ids: the functions to
            consider, such as ``task.combinations("train")``; None for all.
        threads: threads to use; None for all available ones.

    Returns:
        number of agreeing combinations, whether they disagree on the query, and the mean of their
        predictions, which is what the ideal observer with a uniform prior predicts.

    Raises:
        ConfigurationError: for a wrong shape, kind of number or term.
        CapacityError: if the points leave too much open for an exact answer.
    """
    xs = check_array("inputs", inputs, ("n", "N", "L"), "f", "floats, such as float32")
    n, N, L = xs.shape
    ys = check_array("targets", targets, (n, N), "f", "floats, such as float32")
    check_integer("K", K, 1, 8)
    check_integer("L, the last axis of inputs,", L, 1, 16)
    check_integer("N, the second axis of inputs,", N, 2, 1 << 16)
    check_total(L, K)
    xs, ys = np.ascontiguousarray(xs, np.float32), np.ascontiguousarray(ys, np.float32)
    listed, table = _listed_bits(combinations, L, K), binomials(1 << L, K)
    out = Identification(np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.float64))

    def identify_part(part: slice) -> None:
        scratch = _make_scratch(1 << L, -(-(N - 1) // 64), K)
        here = Identification._make(array[part] for array in out)
        done = _identify(xs[part], ys[part], K, VISIT_LIMIT, listed, table, scratch, here)
        if done < part.stop - part.start:
            raise CapacityError(
                f"sequence {part.start + done}: {N - 1} points leave too many of the combinations of "
                f"{1 << L:,} terms open for an exact answer; use more points, or a smaller L or K"
            )

    for_each_chunk(identify_part, n, threads, least=256)
    return out
