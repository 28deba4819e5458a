"""The ideal observer: the most probable ninth panel, and how probable it is."""

from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_K, check_symbols
from sraven.core.compute.jit import kernel
from sraven.core.ground.errors import ConfigurationError
from sraven.explanations import (
    FIRST_EDGE,
    KEPT,
    ORDER,
    Lattice,
    build_lattice,
    edge_goal,
    edge_rule,
    edge_source,
    edge_symbol,
    for_each_part,
)
from sraven.rules import RULES, Rules, likelihoods

_TIE = 1e-9
"""Panels whose probabilities differ relatively by less than this count as equally probable."""


class _Prior(NamedTuple):
    """Weights of explanations, up to a common factor."""

    weights: NDArray[np.float64]
    """``[n_combinations]``: by lexicographic rank, of an explanation with these rules."""
    ranks: NDArray[np.int64]
    """``[R, M + 1, M + 1]``: what ``count`` of rule r adds to the rank, ``left`` rules being left:
    the combinations that have more of it."""
    likelihoods: NDArray[np.float64]
    """``[R]``: of the symbols of one feature, by rule."""


class _Search(NamedTuple):
    """Scratch memory of `_search`."""

    exits: NDArray[np.int64]
    """``[2 * capacity]``: first edge that leaves a state, and where the last one's edges end."""
    first_exit: NDArray[np.int64]
    """``[M]``: where the exits of a level begin."""
    begin: NDArray[np.int64]
    """``[M + 2]``: where the partial explanations of a level begin."""
    symbol: NDArray[np.int64]
    """``[M + 1]``: symbol that is being tried at a level."""
    state: NDArray[np.int64]
    """``[4 * capacity]``: by partial explanation: the state reached."""
    counts: NDArray[np.int64]
    """``[4 * capacity]``: how often each rule occurs in it, four bits each."""
    weight: NDArray[np.float64]
    """``[4 * capacity]``: sum of the likelihoods of all that end in these two."""


def _make_search(M: int, capacity: int) -> _Search:
    return _Search(
        exits=np.zeros(2 * capacity + M, np.int64),
        first_exit=np.zeros(M, np.int64),
        begin=np.zeros(M + 2, np.int64),
        symbol=np.zeros(M + 1, np.int64),
        state=np.zeros(4 * capacity, np.int64),
        counts=np.zeros(4 * capacity, np.int64),
        weight=np.zeros(4 * capacity, np.float64),
    )


@kernel
def _index_exits(M: Any, levels: Any, edges: Any, exits: Any, first_exit: Any) -> None:
    """Find the edges that leave each state: they lie together, in the order of the states."""
    at = 0
    for level in range(M):
        first_exit[level] = at
        edge, end = levels[FIRST_EDGE, level], levels[FIRST_EDGE, level + 1]
        for state in range(levels[KEPT, level]):
            exits[at] = edge
            at += 1
            while edge < end and edge_source(edges[edge]) == state:
                edge += 1
        exits[at] = end
        at += 1


@kernel
def _next_symbol(level: Any, edges: Any, search: Any) -> Any:
    """Return the least symbol, above the last one tried, that some partial explanation predicts."""
    least = 256
    for partial in range(search.begin[level], search.begin[level + 1]):
        at = search.first_exit[level] + search.state[partial]
        for e in range(search.exits[at], search.exits[at + 1]):
            symbol = edge_symbol(edges[e])
            if search.symbol[level] < symbol < least:
                least = symbol
    return least


@kernel
def _extend(level: Any, permute: Any, edges: Any, likelihoods: Any, search: Any) -> Any:
    """Extend the partial explanations of a level by the symbol tried; -1 if out of memory."""
    state, counts, weight = search.state, search.counts, search.weight
    begin = search.begin[level + 1]
    end = begin
    for partial in range(search.begin[level], begin):
        at = search.first_exit[level] + state[partial]
        for e in range(search.exits[at], search.exits[at + 1]):
            rule = edge_rule(edges[e])
            if edge_symbol(edges[e]) != search.symbol[level]:
                continue
            if not permute and counts[partial] >> (4 * (rule + 1)):
                continue  # without permutations, the features carry their rules in sorted order
            goal, new_counts = edge_goal(edges[e]), counts[partial] + (1 << (4 * rule))
            match = begin
            while match < end and (state[match] != goal or counts[match] != new_counts):
                match += 1
            if match == end:
                if end == state.shape[0]:
                    return -1
                state[end], counts[end], weight[end] = goal, new_counts, 0.0
                end += 1
            weight[match] += weight[partial] * likelihoods[rule]
    return end


@kernel
def _prior_weight(counts: Any, M: Any, weights: Any, ranks: Any) -> Any:
    """Look up the weight of a combination, given as counts of its rules."""
    rank, left = 0, M
    for rule in range(ranks.shape[0]):
        count = (counts >> (4 * rule)) & 15
        rank += ranks[rule, left, count]
        left -= count
    return weights[rank]


@kernel
def _precedes(search_symbol: Any, order: Any, answer: Any) -> Any:
    """Tell whether the word just found comes before ``answer`` in lexicographic order."""
    M = answer.shape[0]
    first, sign = M, 0
    for level in range(M):
        k = order[level]
        if k < first and search_symbol[level] != answer[k]:
            first, sign = k, search_symbol[level] - np.int64(answer[k])
    return sign < 0


@kernel
def _search(permute: Any, levels: Any, edges: Any, prior: Any, search: Any, answer: Any) -> Any:
    """Weigh every answer of a lattice; write the heaviest and return its share.

    Depth first over words of predicted symbols, with all partial explanations that spell a word
    side by side: at the last level they sum to the weight of one answer. Returns -1 if out of
    memory, 0 if no explanation has any weight.
    """
    weights, ranks, likelihoods = prior
    M = answer.shape[0]
    answer[:] = 0
    if levels[KEPT, M] == 0:
        return 0.0
    _index_exits(M, levels, edges, search.exits, search.first_exit)
    begin, symbol, weight = search.begin, search.symbol, search.weight
    begin[0], begin[1], symbol[0] = 0, 1, -1
    search.state[0], search.counts[0], weight[0] = 0, 0, 1.0
    total, best, level = 0.0, 0.0, 0
    while level >= 0:
        if level == M:
            answer_weight = 0.0
            for partial in range(begin[M], begin[M + 1]):
                explained = _prior_weight(search.counts[partial], M, weights, ranks)
                answer_weight += weight[partial] * explained
            total += answer_weight
            tie = abs(answer_weight - best) <= _TIE * best and best > 0
            if (tie and _precedes(symbol, levels[ORDER], answer)) or (not tie and answer_weight > best):
                best = max(best, answer_weight)
                for at in range(M):
                    answer[levels[ORDER, at]] = symbol[at]
            level -= 1
            continue
        symbol[level] = _next_symbol(level, edges, search)
        if symbol[level] == 256:
            level -= 1
            continue
        end = _extend(level, permute, edges, likelihoods, search)
        if end < 0:
            return -1.0
        if end > begin[level + 1]:
            level += 1
            begin[level + 1], symbol[level] = end, -1
    return best / total if total > 0 else 0.0


@kernel
def _observe(
    context: Any,
    K: Any,
    permute: Any,
    begin: Any,
    lattice: Any,
    prior: Any,
    search: Any,
    answer: Any,
    posterior: Any,
) -> Any:
    """Observe the contexts from ``begin`` on; return the first that didn't fit."""
    for n in range(begin, context.shape[0]):
        if not build_lattice(context[n], K, permute, n - begin + 1, lattice):
            return n
        share = _search(permute, lattice.levels, lattice.edges, prior, search, answer[n])
        if share < 0:
            return n
        posterior[n] = share
    return context.shape[0]


def _make_prior(combinations: NDArray[np.uint8], K: int, permute: bool, rules: Rules) -> _Prior:
    """Return the weights for a uniform prior over the given combinations."""
    M, R = combinations.shape[1], len(rules)
    ranks = np.zeros((R, M + 1, M + 1), np.int64)
    for rule in range(R - 1):
        later = R - 1 - rule
        for left in range(M + 1):
            for count in range(left + 1):
                ranks[rule, left, count] = sum(comb(later + rest - 1, rest) for rest in range(left - count))
    counts = np.stack([(combinations == rule).sum(axis=1) for rule in range(R)], axis=1)
    left = M - np.cumsum(counts, axis=1) + counts
    rows = ranks[np.arange(R), left, counts].sum(axis=1)
    # A multiset of rules can be dealt to the triples in this many labelled ways.
    ways = np.array([factorial(count) for count in range(M + 1)], np.float64)[counts].prod(axis=1)
    weights = np.zeros(comb(R + M - 1, M), np.float64)
    weights[rows] = ways if permute else 1.0
    return _Prior(weights, ranks, likelihoods(K, rules))


def ideal_observer(
    context: ArrayLike,
    K: int,
    combinations: ArrayLike,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    threads: int | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the most probable ninth panel of each context, and its probability.

    The posterior is exact, under the generator: it sums, over all explanations, prior times
    likelihood. The prior is uniform over ``combinations`` and over permutations. The mean of the
    probabilities is the accuracy that no model can beat, except by luck.

    Args:
        context: integers ``[n, 8, M]``: the eight context panels, row-major.
        K: number of symbols, 3 to 256.
        combinations: integers ``[n_combinations, M]``: the rules of the combinations that the
            observer thinks possible, such as ``task.combinations("train")``.
        permute: whether columns may show the features in different orders; if not, the features
            carry the rules of a combination in ascending order, as in the task.
        rules: the rules that there are, as ``task.rules``; those of version 1 unless others are given.
        threads: threads to use; None for all available ones.

    Returns:
        uint8 ``[n, M]``: the panels; of equally probable ones the first in lexicographic order.
        float64 ``[n]``: their posterior probabilities. Where the combinations explain nothing,
        the panel is all zeros and its probability 0.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol or rule.
        CapacityError: if an instance has too many explanations for an exact posterior.
    """
    K = check_K(K)
    contexts = check_context(context, K)
    n, _, M = contexts.shape
    possible = check_symbols("combinations", combinations, ("n_combinations", M), len(rules))
    if len(possible) == 0:
        raise ConfigurationError("combinations is empty; give the observer at least one combination")
    prior = _make_prior(possible, K, permute, rules)
    answer, posterior = np.zeros((n, M), np.uint8), np.zeros(n, np.float64)

    def observe(part: slice, begin: int, capacity: int, lattice: Lattice) -> int:
        search = _make_search(M, capacity)
        done = _observe(
            contexts[part], K, permute, begin, lattice, prior, search, answer[part], posterior[part]
        )
        return int(done)

    for_each_part(observe, M, K, rules, n, threads)
    return answer, posterior
