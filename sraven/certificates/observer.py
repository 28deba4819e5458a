"""The ideal observer: the most probable ninth panel, and how probable it is.

A panel is a word of symbols, one for each level of the lattice, and weighs what all explanations that
spell it weigh. Words are tried depth first, in the order of their symbols, and all partial explanations
that spell the word so far are carried along side by side (see `sraven.certificates.weighing`): at the
last level they sum to its weight. No word is met twice, so the best one so far and the total are all that
has to be kept.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.certificates.explanations import (
    KEPT,
    ORDER,
    Lattice,
    build_lattice,
    edge_goal,
    edge_rule,
    edge_symbol,
    for_each_part,
)
from sraven.certificates.weighing import begin_ways, check_observed, make_ways, may_follow, prior_weight
from sraven.core.jit import kernel
from sraven.rules import RULES, Rules

_TIE = 1e-9
"""Panels whose probabilities differ relatively by less than this count as equally probable."""


@kernel
def _next_symbol(level: Any, tried: Any, edges: Any, ways: Any) -> Any:
    """Return the least symbol above ``tried`` that a partial explanation predicts; 256 if there is none."""
    least = 256
    for way in range(ways.begin[level], ways.begin[level + 1]):
        at = ways.first_exit[level] + ways.state[way]
        for e in range(ways.leaving[at], ways.leaving[at + 1]):
            symbol = edge_symbol(edges[e])
            if tried < symbol < least:
                least = symbol
    return least


@kernel
def _extend(level: Any, symbol: Any, permute: Any, edges: Any, likelihoods: Any, ways: Any) -> Any:
    """Extend the partial explanations of a level by a symbol; return where they end, -1 if out of memory."""
    state, counts, weight = ways.state, ways.counts, ways.weight
    begin = ways.begin[level + 1]
    end = begin
    for way in range(ways.begin[level], begin):
        at = ways.first_exit[level] + state[way]
        for e in range(ways.leaving[at], ways.leaving[at + 1]):
            rule = edge_rule(edges[e])
            if edge_symbol(edges[e]) != symbol or not may_follow(rule, counts[way], permute):
                continue
            goal, counted = edge_goal(edges[e]), counts[way] + (1 << (4 * rule))
            match = begin
            while match < end and (state[match] != goal or counts[match] != counted):
                match += 1
            if match == end:
                if end == state.shape[0]:
                    return -1
                state[end], counts[end], weight[end] = goal, counted, 0.0
                end += 1
            weight[match] += weight[way] * likelihoods[rule]
    return end


@kernel
def _precedes(word: Any, order: Any, answer: Any) -> Any:
    """Return whether a word, by level, comes before ``answer``, by position, in lexicographic order."""
    M = answer.shape[0]
    first, sign = M, 0
    for level in range(M):
        k = order[level]
        if k < first and word[level] != answer[k]:
            first, sign = k, word[level] - np.int64(answer[k])
    return sign < 0


@kernel
def _search(permute: Any, levels: Any, edges: Any, prior: Any, ways: Any, symbol: Any, answer: Any) -> Any:
    """Weigh every answer of a lattice; write the heaviest and return its share.

    ``symbol`` holds the word that is being tried, by level. Returns -1 if out of memory, 0 if no explanation
    has any weight.
    """
    weights, ranks, likelihoods = prior
    M = answer.shape[0]
    answer[:] = 0
    if levels[KEPT, M] == 0:
        return 0.0
    begin_ways(M, levels, edges, ways)
    begin, symbol[0] = ways.begin, -1
    total, best, level = 0.0, 0.0, 0
    while level >= 0:
        if level == M:
            answer_weight = 0.0
            for way in range(begin[M], begin[M + 1]):
                explained = prior_weight(ways.counts[way], M, weights, ranks)
                answer_weight += ways.weight[way] * explained
            total += answer_weight
            tie = abs(answer_weight - best) <= _TIE * best and best > 0
            if (tie and _precedes(symbol, levels[ORDER], answer)) or (not tie and answer_weight > best):
                best = max(best, answer_weight)
                for at in range(M):
                    answer[levels[ORDER, at]] = symbol[at]
            level -= 1
            continue
        symbol[level] = _next_symbol(level, symbol[level], edges, ways)
        if symbol[level] == 256:
            level -= 1
            continue
        end = _extend(level, symbol[level], permute, edges, likelihoods, ways)
        if end < 0:
            return -1.0
        if end > begin[level + 1]:
            level += 1
            begin[level + 1], symbol[level] = end, -1
    return best / total if total > 0 else 0.0


@kernel
def _observe(
    context: Any, K: Any, permute: Any, begin: Any, lattice: Any, prior: Any, ways: Any, word: Any, found: Any
) -> Any:
    """Observe the contexts from ``begin`` on; return the first that didn't fit."""
    answer, posterior = found
    for n in range(begin, context.shape[0]):
        if not build_lattice(context[n], K, permute, n - begin + 1, lattice):
            return n
        share = _search(permute, lattice.levels, lattice.edges, prior, ways, word, answer[n])
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
            observer assumes, such as ``task.combinations("train")``.
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

    def observe(part: slice, begin: int, capacity: int, lattice: Lattice) -> Any:
        ways, word, found = make_ways(M, capacity), np.zeros(M + 1, np.int64), (answer[part], posterior[part])
        return _observe(contexts[part], K, permute, begin, lattice, prior, ways, word, found)

    for_each_part(observe, M, K, rules, n, threads)
    return answer, posterior
