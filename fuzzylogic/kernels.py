"""Compiled loops of the fuzzy-logic generator.

A sequence is a pure function of its words (see `sraven.core.rng`): word 0 of block 0 chooses the
combination by its place in the shuffled split; from block 1 on come the inputs, `fill_uniform`
numbers with variable l of point n at ``l * N + n``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.terms import rank, unrank
from sraven.core.jit import kernel
from sraven.core.permutation import permute
from sraven.core.rng import draw_below, fill_uniform

_FIRST_POINTS_BLOCK = np.uint64(1)
_ATTEMPT = np.uint64(0)
_ONE_F, _ZERO_F = np.float32(1.0), np.float32(0.0)


class Tables(NamedTuple):
    """What the generator of one split reads."""

    members: NDArray[np.int64]
    """``[n_members]``: ids of the terms that the split combines, ascending."""
    of_members: NDArray[np.int64]
    """``[K + 1, n_members + 1]``: binomials that number their combinations."""
    of_all: NDArray[np.int64]
    """``[K + 1, 2**L + 1]``: binomials that number the combinations of all terms."""
    round_keys: NDArray[np.uint64]
    """``[8]``: of the permutation that shuffles the combinations; ``[0]`` if they aren't."""
    listed: NDArray[np.int64]
    """``[n_places, K]``: the term ids of each place of the split, if they are few; else ``[0, K]``."""
    places: NDArray[np.uint64]
    """``[5]``: number of combinations; half its bits; first place of the split; number of its
    places; 2**32 modulo that number."""
    fixed: NDArray[np.float32]
    """``[N, L]``: points that all sequences share, as far as ``fixed_range`` says."""
    fixed_range: NDArray[np.int64]
    """``[2]``: first shared point, and the one after the last."""


@kernel
def evaluate(columns: Any, ids: Any, N: Any, conjunction: Any, values: Any) -> None:
    """Evaluate a disjunction of terms at N points: and = min, or = max, not x = 1 - x.

    ``columns`` (float32) holds variable l of point n at ``l * N + n``. The result goes to
    ``values`` (float32 ``[N]``); every step is exact for multiples of 2**-24.
    """
    L = columns.shape[0] // N
    for n in range(N):
        values[n] = _ZERO_F
    for k in range(ids.shape[0]):
        for n in range(N):
            conjunction[n] = _ONE_F
        for variable in range(L):
            plain = (ids[k] >> variable) & 1
            offset, sign = (_ZERO_F, _ONE_F) if plain else (_ONE_F, -_ONE_F)
            column = columns[variable * N : (variable + 1) * N]
            for n in range(N):
                literal = offset + sign * column[n]
                if literal < conjunction[n]:  # unlike min(), this becomes vector code
                    conjunction[n] = literal
        for n in range(N):
            if conjunction[n] > values[n]:
                values[n] = conjunction[n]


@kernel
def _choose_terms(key: Any, index: Any, tables: Any, ids: Any) -> None:
    """Write the term ids of the combination that sequence ``index`` has."""
    places = tables.places
    place = draw_below(places[3], places[4], key, index, _ATTEMPT)
    if tables.listed.shape[0]:
        for k in range(ids.shape[0]):
            ids[k] = tables.listed[place, k]
        return
    number = places[2] + place
    if tables.round_keys.shape[0]:
        number = permute(number, places[0], places[1], tables.round_keys)
    unrank(np.int64(number), tables.of_members, ids)
    for k in range(ids.shape[0]):
        ids[k] = tables.members[ids[k]]


@kernel
def generate(key: Any, indices: Any, tables: Any, arrays: Any) -> None:
    """Fill ``arrays`` with the sequences ``indices`` (uint64 ``[n]``) of the stream ``key``.

    They are a tuple of those of a `fuzzylogic.task.Batch`, in its order.
    """
    inputs, targets, terms, combination = arrays
    _, N, L = inputs.shape
    blocks = (N * L + 3) // 4
    numbers, draws = np.empty(4 * blocks, np.float32), np.empty((2, blocks), np.uint64)
    conjunction, ids = np.empty(N, np.float32), np.empty(terms.shape[1], np.int64)
    columns = numbers[: N * L]
    begin, end = tables.fixed_range
    for s in range(indices.shape[0]):
        _choose_terms(key, indices[s], tables, ids)
        for k in range(ids.shape[0]):
            terms[s, k] = ids[k]
        combination[s] = rank(ids, tables.of_all)
        fill_uniform(numbers, draws, key, indices[s], _ATTEMPT, _FIRST_POINTS_BLOCK)
        for variable in range(L):
            for n in range(begin, end):
                columns[variable * N + n] = tables.fixed[n, variable]
            for n in range(N):
                inputs[s, n, variable] = columns[variable * N + n]
        evaluate(columns, ids, N, conjunction, targets[s])
