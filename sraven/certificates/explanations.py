"""Every way to explain the context of an instance, as a small lattice.

An *explanation* (paper, appendix B.2) assigns to each position k of column 3 one position i of
column 1 and one position j of column 2, both assignments being permutations, and one rule that
fits what is visible of the triple (i, j, k): rows 1 and 2, and two entries of row 3. The rules of
an explanation predict the ninth panel.

`_find_triples` tabulates the triples that fit a rule and what they predict. Few do, so the lattice
walks over the positions k, fewest triples first, and keeps the sets of used positions that are
reached: level l holds the states after l positions, an edge between two levels is a fitting triple
with its predicted symbol, and states from which the last level can't be reached are dropped. Every
path from the first level to the last is one explanation and every explanation is one path, except
that positions which show the same three symbols are used from left to right: this changes no
answer, and scales the weights of all answers alike.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import CapacityError
from sraven.core.jit import kernel
from sraven.core.parallel import for_each_chunk
from sraven.rules import ADDITION, DISTRIBUTE_THREE, RULES, SUBTRACTION, Rules, completions

FIRST_CAPACITY = 1 << 8
"""States that nearly every lattice at M = 4 has room for."""

CAPACITY_LIMIT = 1 << 22
"""States that the lattice of one instance may have at most: about 1 GB for each thread that meets one."""

# Rows of `Lattice.levels`.
TRIPLES, ORDER, FIRST_STATE, KEPT, FIRST_EDGE = range(5)
CODES_1, PAIRS_1, CODES_2, PAIRS_2 = range(5, 9)

# A triple or an edge is one int64. Triple: used positions, positions needed before, symbol, rule;
# edge: source, goal, symbol, rule. Positions take a bit each: column 1 from bit 0, column 2 from
# bit 12.
_COLUMN_2 = 12
_FIELD, _FIELD_MASK = 24, (1 << 24) - 1
_SYMBOL, _RULE = 48, 56
_LANE, _LANES = 0xFFFF, 0x0001_0001_0001
_LOWEST_BIT = np.array([0] + [(bits & -bits).bit_length() - 1 for bits in range(1, 1 << 12)])
_HASH = np.uint64(0x9E3779B97F4A7C15)


class Lattice(NamedTuple):
    """Scratch memory for the explanations of one instance at a time."""

    positions: NDArray[np.int64]
    """``[K * K]``: at z1 * K + z2, the positions of column 3, as bits, that show z1 above z2."""
    hits: NDArray[np.int64]
    """``[3, (4 + T) * M * M + 1]`` for T rules beyond the first eight: positions k, as bits, and the
    triple that they share but for k; pairs (i, j) that may fit rule 7."""
    triples: NDArray[np.int64]
    """``[M, (4 + T) * M * M]``: the triples that fit, by position of column 3."""
    levels: NDArray[np.int64]
    """``[9, M + 2]``: by position of column 3: number of triples; by level: position of column 3,
    first state, states kept, first edge; by position of columns 1 and 2: see `_describe_columns`."""
    states: NDArray[np.int64]
    """``[2, capacity]``: used positions; number among the states kept of the level, or -1."""
    edges: NDArray[np.int64]
    """``[4 * capacity]``: edges, by level and then by source."""
    slots: NDArray[np.int64]
    """``[2, 4 * capacity]``: hash table of a level's states: stamp and state, index."""
    completions: NDArray[np.int64]
    """``[T, K * K]``: not scratch: which z the rules beyond the first eight ask for, see `sraven.rules`."""


def make_lattice(M: int, K: int, capacity: int, rules: Rules = RULES) -> Lattice:
    """Return scratch memory for lattices of up to ``capacity`` states, a power of two."""
    table = completions(K, rules)
    most = (4 + len(table)) * M * M
    return Lattice(
        positions=np.zeros(K * K, np.int64),
        hits=np.zeros((3, most + 1), np.int64),
        triples=np.zeros((M, most), np.int64),
        levels=np.zeros((9, M + 2), np.int64),
        states=np.zeros((2, capacity), np.int64),
        edges=np.zeros(4 * capacity, np.int64),
        slots=np.zeros((2, 4 * capacity), np.int64),
        completions=table,
    )


def for_each_part(
    work: Callable[[slice, int, int, Lattice], Any],
    M: int,
    K: int,
    rules: Rules,
    count: int,
    threads: int | None,
) -> None:
    """Call a kernel for ``count`` instances: part by part in threads, each with a lattice that grows.

    Args:
        work: handles the instances of a part from ``begin`` on, given the part, ``begin``, a capacity and
            scratch memory of that capacity; returns the first one that didn't fit, or their number.
        M: features of a panel.
        K: symbols.
        rules: the rules that there are.
        count: number of instances.
        threads: threads to use; None for all available ones.

    Raises:
        CapacityError: if an instance doesn't fit into the largest capacity.
    """

    def handle(part: slice) -> None:
        done, n, capacity = 0, part.stop - part.start, FIRST_CAPACITY
        while (done := work(part, done, capacity, make_lattice(M, K, capacity, rules))) < n:
            capacity *= 4
            if capacity > CAPACITY_LIMIT:
                raise CapacityError(
                    f"an instance has more than {CAPACITY_LIMIT:,} partial explanations, too many for "
                    "an exact answer: use a larger K or a smaller M"
                )

    for_each_chunk(handle, count, threads, least=256)


@kernel
def edge_source(edge: Any) -> Any:
    """Return the number, among the states kept of its level, of the state an edge leaves."""
    return edge & _FIELD_MASK


@kernel
def edge_goal(edge: Any) -> Any:
    """Return the number, among the states kept of its level, of the state an edge reaches."""
    return (edge >> _FIELD) & _FIELD_MASK


@kernel
def edge_symbol(edge: Any) -> Any:
    """Return the symbol that an edge predicts."""
    return (edge >> _SYMBOL) & 0xFF


@kernel
def edge_rule(edge: Any) -> Any:
    """Return the rule by which an edge predicts its symbol."""
    return edge >> _RULE


@kernel
def _lanes(context: Any, column: Any, position: Any) -> Any:
    """Return the symbols of the three rows at a position of column 1 or 2, 16 bits each."""
    row_1, row_2 = np.int64(context[column, position]), np.int64(context[3 + column, position])
    return row_1 | row_2 << 16 | np.int64(context[6 + column, position]) << 32


@kernel
def _symbol_set(lanes: Any) -> Any:
    """Return the symbols of all lanes as bits, modulo 64."""
    return 1 << (lanes & 63) | 1 << ((lanes >> 16) & 63) | 1 << ((lanes >> 32) & 63)


@kernel
def _reduced(lanes: Any, K: Any) -> Any:
    """Subtract K in each lane that is K or more, given that none is 2 K or more."""
    return lanes - (((lanes + (0x8000 - K) * _LANES) >> 15) & _LANES) * K


@kernel
def _describe_columns(context: Any, K: Any, permute: Any, positions: Any, levels: Any) -> None:
    """Note the symbols of each position, and its part of a triple."""
    codes_1, pairs_1, codes_2, pairs_2 = levels[CODES_1], levels[PAIRS_1], levels[CODES_2], levels[PAIRS_2]
    for p in range(context.shape[1]):
        levels[TRIPLES, p] = 0
        positions[np.int64(context[2, p]) * K + np.int64(context[5, p])] |= 1 << p
        codes_1[p], codes_2[p] = _lanes(context, 0, p), _lanes(context, 1, p)
        needed = np.int64(0)
        for other in range(p if permute else 0):
            needed |= np.int64(codes_1[other] == codes_1[p]) << other
            needed |= np.int64(codes_2[other] == codes_2[p]) << (_COLUMN_2 + other)
        pairs_1[p] = 1 << p | (needed & ((1 << _COLUMN_2) - 1)) << _FIELD
        pairs_2[p] = 1 << (_COLUMN_2 + p) | (needed >> _COLUMN_2) << (_COLUMN_2 + _FIELD)


@kernel
def _note(hits: Any, n_hits: Any, found: Any, pair: Any, symbol: Any, rule: Any) -> Any:
    """Write a hit, which is kept by counting it; return 1 if some position was found.

    It is written in any case: no branch, so none to mispredict.
    """
    hits[0, n_hits] = found
    hits[1, n_hits] = pair | symbol << _SYMBOL | rule << _RULE
    return np.int64(found != 0)


@kernel
def _fit_pairs(M: Any, K: Any, permute: Any, positions: Any, hits: Any, levels: Any, table: Any) -> Any:
    """Note by which rules but the seventh each pair of positions (i, j) predicts positions k.

    Returns the number of hits, and how many pairs were noted that may fit rule 7.
    """
    codes_1, pairs_1, codes_2, pairs_2 = levels[CODES_1], levels[PAIRS_1], levels[CODES_2], levels[PAIRS_2]
    n_hits, n_candidates = np.int64(0), np.int64(0)
    for i in range(M):
        x, pair_1, set_1 = codes_1[i], pairs_1[i], _symbol_set(codes_1[i])
        here = (1 << M) - 1 if permute else 1 << i
        for j in range(0 if permute else i, M if permute else i + 1):
            y, pair = codes_2[j], pair_1 | pairs_2[j]
            z = _reduced(x + y, K)
            found = positions[(z & _LANE) * K + ((z >> 16) & _LANE)] & here
            n_hits += _note(hits, n_hits, found, pair, z >> 32, ADDITION)
            z = _reduced(x - y + K * _LANES, K)
            found = positions[(z & _LANE) * K + ((z >> 16) & _LANE)] & here
            n_hits += _note(hits, n_hits, found, pair, z >> 32, SUBTRACTION)
            steps = _reduced(y - x + K * _LANES, K)
            step = steps & _LANE
            if steps == step * _LANES and (step <= 2 or step >= K - 2):
                z = _reduced(y + steps, K)
                found = positions[(z & _LANE) * K + ((z >> 16) & _LANE)] & here
                # Rules 0, 1, 2 step up and 3, 4 down; where K < 5, one step may be two rules.
                n_hits += _note(hits, n_hits, found, pair, z >> 32, step) & np.int64(step <= 2)
                n_hits += _note(hits, n_hits, found, pair, z >> 32, K - step + 2) & np.int64(step >= K - 2)
            for row in range(table.shape[0]):
                z1 = table[row, (x & _LANE) * K + (y & _LANE)]
                z2 = table[row, ((x >> 16) & _LANE) * K + ((y >> 16) & _LANE)]
                z3 = table[row, (x >> 32) * K + (y >> 32)]
                if min(z1, z2, z3) >= 0:
                    found = positions[z1 * K + z2] & here
                    n_hits += _note(hits, n_hits, found, pair, z3, DISTRIBUTE_THREE + 1 + row)
            # Rule 7 shows two symbols in each row, three in all: drop two of the bits, and at most
            # one may be left.
            seen = set_1 | _symbol_set(y)
            seen &= seen - 1
            seen &= seen - 1
            distinct = (steps + _LANES * 0x7FFF) & _LANES << 15 == _LANES << 15
            hits[2, n_candidates] = i << 4 | j
            n_candidates += np.int64(seen & (seen - 1) == 0) & np.int64(distinct)
    return n_hits, n_candidates


@kernel
def _fit_distribute_three(x: Any, y: Any, K: Any, here: Any, context: Any, positions: Any) -> Any:
    """Return the positions of column 3 that fit rule 7 with symbols x and y, and the prediction.

    No row shows one symbol twice. The prediction is -1 where each position predicts its own symbol.
    """
    x1, x2, x3 = x & _LANE, (x >> 16) & _LANE, x >> 32
    y1, y2, y3 = y & _LANE, (y >> 16) & _LANE, y >> 32
    x2_is_old, y2_is_old = x2 == x1 or x2 == y1, y2 == x1 or y2 == y1
    x3_is_old, y3_is_old = x3 == x1 or x3 == y1, y3 == x1 or y3 == y1
    if x2_is_old and y2_is_old:
        # Rows 1 and 2 show the same two symbols, so z1 = z2 is the third.
        if x3_is_old and y3_is_old:
            found = 0
            for k in range(context.shape[1]):
                third = np.int64(context[2, k])
                if third == context[5, k] and third != x1 and third != y1:
                    found |= 1 << k
            return found & here, -1
        if not x3_is_old and not y3_is_old:
            return 0, 0
        third = y3 if x3_is_old else x3
        missing = third
    elif x2_is_old or y2_is_old:
        # Row 2 shows the third symbol, which is z1; z2 is the one that row 2 lacks.
        third = y2 if x2_is_old else x2
        missing = x1 + y1 + third - x2 - y2
    else:
        return 0, 0
    if not (x3_is_old or x3 == third) or not (y3_is_old or y3 == third):
        return 0, 0
    return positions[third * K + missing] & here, x1 + y1 + third - x3 - y3


@kernel
def _add_triple(k: Any, triple: Any, triples: Any, levels: Any) -> None:
    triples[k, levels[TRIPLES, k]] = triple
    levels[TRIPLES, k] += 1


@kernel
def _find_triples(context: Any, K: Any, permute: Any, lattice: Any) -> None:
    """Tabulate every triple (i, j, k) of one context ``[8, M]`` that fits a rule.

    For a pair (i, j) each rule asks for certain symbols z1, z2 in rows 1 and 2 of column 3, so a
    look-up finds the positions k. If not ``permute``, only triples (k, k, k) count. The symbols of
    the three rows are lanes of one integer: one operation serves all of them. Rules beyond the first
    eight have a table.
    """
    M = context.shape[1]
    positions, hits, triples, levels = lattice.positions, lattice.hits, lattice.triples, lattice.levels
    _describe_columns(context, K, permute, positions, levels)
    codes_1, pairs_1, codes_2, pairs_2 = levels[CODES_1], levels[PAIRS_1], levels[CODES_2], levels[PAIRS_2]
    n_hits, n_candidates = _fit_pairs(M, K, permute, positions, hits, levels, lattice.completions)
    for candidate in range(n_candidates):
        i, j = hits[2, candidate] >> 4, hits[2, candidate] & 15
        here = (1 << M) - 1 if permute else 1 << i
        found, symbol = _fit_distribute_three(codes_1[i], codes_2[j], K, here, context, positions)
        while found:
            k = _LOWEST_BIT[found]
            found &= found - 1
            predicted = np.int64(context[2, k]) if symbol < 0 else symbol
            triple = pairs_1[i] | pairs_2[j] | predicted << _SYMBOL | DISTRIBUTE_THREE << _RULE
            _add_triple(k, triple, triples, levels)
    for hit in range(n_hits):
        found = hits[0, hit]
        while found:
            _add_triple(_LOWEST_BIT[found], hits[1, hit], triples, levels)
            found &= found - 1
    for k in range(M):
        positions[np.int64(context[2, k]) * K + np.int64(context[5, k])] = 0


@kernel
def _find_or_add(state: Any, stamp: Any, end: Any, slots: Any) -> Any:
    """Return the index of a state of the level in the making; ``end`` if it is new."""
    stamped = stamp << _FIELD | state
    slot = np.int64((np.uint64(state) * _HASH) >> np.uint64(32)) & (slots.shape[1] - 1)
    while slots[0, slot] >> _FIELD == stamp:
        if slots[0, slot] == stamped:
            return slots[1, slot]
        slot = (slot + 1) & (slots.shape[1] - 1)
    slots[0, slot] = stamped
    slots[1, slot] = end
    return end


@kernel
def _walk(permute: Any, first_stamp: Any, lattice: Any) -> Any:
    """Find all states and edges of the triples noted; return whether they fit into the memory.

    A level is a position of column 3: those with the fewest triples come first, so that few states are open
    at a time. A state is the set of used positions of columns 1 and 2, as bits: the order in which they were
    used doesn't matter.
    """
    _, _, triples, levels, states, edges, slots, _ = lattice
    M, order, n_triples, used = triples.shape[0], levels[ORDER], levels[TRIPLES], states[0]
    for k in range(M):  # insertion sort
        place = k
        while permute and place > 0 and n_triples[order[place - 1]] > n_triples[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k
    first_state, first_edge = levels[FIRST_STATE], levels[FIRST_EDGE]
    used[0], first_state[0], first_state[1] = 0, 0, 1
    n_edges = 0
    for level in range(M):
        k = levels[ORDER, level]
        first_edge[level] = n_edges
        end = first_state[level + 1]
        for source in range(first_state[level], first_state[level + 1]):
            for t in range(levels[TRIPLES, k]):
                triple = triples[k, t]
                takes, needs = triple & _FIELD_MASK, (triple >> _FIELD) & _FIELD_MASK
                if used[source] & takes or used[source] & needs != needs:
                    continue
                if end == used.shape[0] or n_edges == edges.shape[0]:
                    return False
                goal = _find_or_add(used[source] | takes, first_stamp + level, end, slots)
                if goal == end:
                    used[end] = used[source] | takes
                    end += 1
                edges[n_edges] = source | (goal << _FIELD) | (triple >> _SYMBOL) << _SYMBOL
                n_edges += 1
        first_state[level + 2] = end
    first_edge[M] = n_edges
    return True


@kernel
def prune(M: Any, lattice: Any) -> None:
    """Drop states and edges off every complete path; number the other states level by level.

    ``lattice.levels[KEPT, M]`` is then positive if there is a complete path.
    """
    levels, edges, number = lattice.levels, lattice.edges, lattice.states[1]
    first_state, first_edge = levels[FIRST_STATE], levels[FIRST_EDGE]
    number[: first_state[M]] = -1
    number[first_state[M] : first_state[M + 1]] = 0
    for e in range(first_edge[M] - 1, -1, -1):
        if number[edge_goal(edges[e])] == 0:
            number[edge_source(edges[e])] = 0
    for level in range(M + 1):
        kept = 0
        for s in range(first_state[level], first_state[level + 1]):
            if number[s] == 0:
                number[s] = kept
                kept += 1
        levels[KEPT, level] = kept
    end = 0
    for level in range(M):
        begin = first_edge[level]
        first_edge[level] = end
        for e in range(begin, first_edge[level + 1]):
            goal = number[edge_goal(edges[e])]
            if goal >= 0:
                source = number[edge_source(edges[e])]
                edges[end] = source | (goal << _FIELD) | (edges[e] >> _SYMBOL) << _SYMBOL
                end += 1
    first_edge[M] = end


@kernel
def explore(context: Any, K: Any, permute: Any, serial: Any, lattice: Any) -> Any:
    """Find all states and edges of one context ``[8, M]``; return whether they fit into the memory.

    ``serial`` numbers the calls with this memory from 1, so that hash tables need no clearing.
    """
    _find_triples(context, K, permute, lattice)
    return _walk(permute, serial * context.shape[1], lattice)


@kernel
def explore_towards(
    context: Any, panel: Any, equal: Any, K: Any, permute: Any, serial: Any, lattice: Any
) -> Any:
    """Do as `explore` with the explanations that predict ``panel``, or another symbol at every position.

    There is one if the last level has a state. Few triples predict what a panel shows, so this takes
    a small part of the states of all explanations.
    """
    _find_triples(context, K, permute, lattice)
    triples, n_triples = lattice.triples, lattice.levels[TRIPLES]
    for k in range(panel.shape[0]):
        kept = np.int64(0)
        for t in range(n_triples[k]):
            triples[k, kept] = triples[k, t]
            kept += np.int64(((triples[k, t] >> _SYMBOL & 0xFF) == panel[k]) == equal)
        n_triples[k] = kept
    return _walk(permute, serial * context.shape[1], lattice)


@kernel
def build_lattice(context: Any, K: Any, permute: Any, serial: Any, lattice: Any) -> Any:
    """Explore one context and prune; return whether it fits into the memory."""
    if not explore(context, K, permute, serial, lattice):
        return False
    prune(context.shape[1], lattice)
    return True
