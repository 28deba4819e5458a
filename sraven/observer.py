"""The ideal observer: the most probable ninth panel, and how probable it is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.compute.jit import kernel
from sraven.explanations import (
    KEPT,
    ORDER,
    Lattice,
    build_lattice,
    edge_goal,
    edge_rule,
    edge_symbol,
    for_each_part,
)
from sraven.rules import RULES, Rules
from sraven.weighing import Exits, check_observed, index_exits, make_exits, prior_weight

_TIE = 1e-9
"""Panels whose probabilities differ relatively by less than this count as equally probable."""


class _Search(NamedTuple):
    """Scratch memory of `_search`."""

    exits: Exits
    """Which edges leave which state."""
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
        exits=make_exits(M, capacity),
        begin=np.zeros(M + 2, np.int64),
        symbol=np.zeros(M + 1, np.int64),
        state=np.zeros(4 * capacity, np.int64),
        counts=np.zeros(4 * capacity, np.int64),
        weight=np.zeros(4 * capacity, np.float64),
    )


@kernel
def _next_symbol(level: Any, edges: Any, search: Any) -> Any:
    """Return the least symbol, above the last one tried, that some partial explanation predicts."""
    least = 256
    for partial in range(search.begin[level], search.begin[level + 1]):
        at = search.exits.first[level] + search.state[partial]
        for e in range(search.exits.edges[at], search.exits.edges[at + 1]):
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
        at = search.exits.first[level] + state[partial]
        for e in range(search.exits.edges[at], search.exits.edges[at + 1]):
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
    index_exits(M, levels, edges, search.exits)
    begin, symbol, weight = search.begin, search.symbol, search.weight
    begin[0], begin[1], symbol[0] = 0, 1, -1
    search.state[0], search.counts[0], weight[0] = 0, 0, 1.0
    total, best, level = 0.0, 0.0, 0
    while level >= 0:
        if level == M:
            answer_weight = 0.0
            for partial in range(begin[M], begin[M + 1]):
                explained = prior_weight(search.counts[partial], M, weights, ranks)
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
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        threads: threads to use; None for all available ones.

    Returns:
        uint8 ``[n, M]``: the panels; of equally probable ones the first in lexicographic order.
        float64 ``[n]``: their posterior probabilities. Where the combinations explain nothing,
        the panel is all zeros and its probability 0.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol or rule.
        CapacityError: if an instance has too many explanations for an exact posterior.
    """
    contexts, K, prior = check_observed(context, K, combinations, permute, rules)
    n, _, M = contexts.shape
    answer, posterior = np.zeros((n, M), np.uint8), np.zeros(n, np.float64)

    def observe(part: slice, begin: int, capacity: int, lattice: Lattice) -> int:
        search = _make_search(M, capacity)
        done = _observe(
            contexts[part], K, permute, begin, lattice, prior, search, answer[part], posterior[part]
        )
        return int(done)

    for_each_part(observe, M, K, rules, n, threads)
    return answer, posterior
