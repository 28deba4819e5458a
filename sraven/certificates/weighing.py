"""Weights of explanations, and the walk over the lattice on which they are summed.

By Bayes, an explanation weighs its prior times its likelihood. The likelihood is a product over its
edges, as all outcomes of a rule are equally probable. The prior isn't a product: it depends on the multiset
of the rules. So the sums of likelihoods are kept apart by the state reached *and* by how often each rule
occurs, four bits a rule. At the last level these counts name the multiset, and its lexicographic rank
finds its prior. What all explanations share, such as the probability of the permutations, is left out.
"""

from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_symbols
from sraven.certificates.explanations import FIRST_EDGE, KEPT, edge_source
from sraven.core.errors import ConfigurationError
from sraven.core.jit import kernel
from sraven.rules import Rules


class Prior(NamedTuple):
    """Weights of explanations, up to a common factor."""

    weights: NDArray[np.float64]
    """``[n_combinations]``: by lexicographic rank, of an explanation with these rules."""
    ranks: NDArray[np.int64]
    """``[R, M + 1, M + 1]``: what ``count`` of rule r adds to the rank, ``left`` rules being left:
    the combinations that have more of it."""
    likelihoods: NDArray[np.float64]
    """``[R]``: of the symbols of one feature, any three rows of it, by rule."""


class Ways(NamedTuple):
    """Scratch memory: partial explanations of one instance, level by level.

    Those that have reached the same state of the lattice with the same count of each rule can go on alike;
    they are one way.
    """

    leaving: NDArray[np.int64]
    """``[2 * capacity + M]``: first edge that leaves a state; after those of a level, where its edges end."""
    first_exit: NDArray[np.int64]
    """``[M]``: where a level begins in ``leaving``."""
    begin: NDArray[np.int64]
    """``[M + 2]``: where the ways of a level begin."""
    state: NDArray[np.int64]
    """``[4 * capacity]``: by way, its state."""
    counts: NDArray[np.int64]
    """``[4 * capacity]``: how often each rule occurs, four bits each."""
    weight: NDArray[np.float64]
    """``[4 * capacity]``: sum of the likelihoods of the partial explanations."""


def make_ways(M: int, capacity: int) -> Ways:
    """Return scratch memory for lattices of up to ``capacity`` states."""
    return Ways(
        leaving=np.zeros(2 * capacity + M, np.int64),
        first_exit=np.zeros(M, np.int64),
        begin=np.zeros(M + 2, np.int64),
        state=np.zeros(4 * capacity, np.int64),
        counts=np.zeros(4 * capacity, np.int64),
        weight=np.zeros(4 * capacity, np.float64),
    )


@kernel
def begin_ways(M: Any, levels: Any, edges: Any, ways: Any) -> None:
    """Index the edges of a lattice by the state they leave, and begin with the empty explanation."""
    leaving, first_exit, begin, state, counts, weight = ways
    at = 0
    for level in range(M):
        first_exit[level] = at
        edge, end = levels[FIRST_EDGE, level], levels[FIRST_EDGE, level + 1]
        for source in range(levels[KEPT, level]):  # their edges lie together, in the order of the states
            leaving[at] = edge
            at += 1
            while edge < end and edge_source(edges[edge]) == source:
                edge += 1
        leaving[at] = end
        at += 1
    begin[0], begin[1] = 0, 1
    state[0], counts[0], weight[0] = 0, 0, 1.0


@kernel
def may_follow(rule: Any, counts: Any, permute: Any) -> Any:
    """Return whether a rule may come next: without permutations, features carry theirs in sorted order."""
    return permute or counts >> (4 * (rule + 1)) == 0


@kernel
def prior_weight(counts: Any, M: Any, weights: Any, ranks: Any) -> Any:
    """Look up the weight of a combination, given as counts of its rules."""
    rank, left = 0, M
    for rule in range(ranks.shape[0]):
        count = (counts >> (4 * rule)) & 15
        rank += ranks[rule, left, count]
        left -= count
    return weights[rank]


def make_prior(combinations: NDArray[np.uint8], K: int, permute: bool, rules: Rules) -> Prior:
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
    return Prior(weights, ranks, np.array([1 / rule.outcomes(K) for rule in rules]))


def check_observed(
    context: ArrayLike, K: int, combinations: ArrayLike, permute: bool, rules: Rules
) -> tuple[NDArray[np.uint8], int, Prior]:
    """Return the contexts and K as the kernels want them, and the prior of an observer.

    Arguments are those of `sraven.ideal_observer`.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol or rule, or no combination at all.
    """
    contexts, K = check_context(context, K)
    possible = check_symbols("combinations", combinations, ("n_combinations", contexts.shape[2]), len(rules))
    if len(possible) == 0:
        raise ConfigurationError("combinations is empty; give the observer at least one combination")
    return contexts, K, make_prior(possible, K, permute, rules)
