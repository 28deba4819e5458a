"""How probable an explanation is: the prior over combinations of rules, and the likelihood of symbols.

What weighs explanations, for whichever end, walks over the lattice with an index of the edges that leave
each state.
"""

from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_K, check_symbols
from sraven.core.compute.jit import kernel
from sraven.core.ground.errors import ConfigurationError
from sraven.explanations import FIRST_EDGE, KEPT, edge_source
from sraven.rules import Rules, likelihoods


class Prior(NamedTuple):
    """Weights of explanations, up to a common factor."""

    weights: NDArray[np.float64]
    """``[n_combinations]``: by lexicographic rank, of an explanation with these rules."""
    ranks: NDArray[np.int64]
    """``[R, M + 1, M + 1]``: what ``count`` of rule r adds to the rank, ``left`` rules being left:
    the combinations that have more of it."""
    likelihoods: NDArray[np.float64]
    """``[R]``: of the symbols of one feature, by rule."""


class Exits(NamedTuple):
    """Scratch memory: which edges of a lattice leave which state."""

    edges: NDArray[np.int64]
    """``[2 * capacity]``: first edge that leaves a state, and where the last one's edges end."""
    first: NDArray[np.int64]
    """``[M]``: where the exits of a level begin."""


def make_exits(M: int, capacity: int) -> Exits:
    """Return scratch memory for lattices of up to ``capacity`` states."""
    return Exits(np.zeros(2 * capacity + M, np.int64), np.zeros(M, np.int64))


@kernel
def index_exits(M: Any, levels: Any, edges: Any, exits: Any) -> None:
    """Find the edges that leave each state: they lie together, in the order of the states."""
    at = 0
    for level in range(M):
        exits.first[level] = at
        edge, end = levels[FIRST_EDGE, level], levels[FIRST_EDGE, level + 1]
        for state in range(levels[KEPT, level]):
            exits.edges[at] = edge
            at += 1
            while edge < end and edge_source(edges[edge]) == state:
                edge += 1
        exits.edges[at] = end
        at += 1


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
    return Prior(weights, ranks, likelihoods(K, rules))


def check_observed(
    context: ArrayLike, K: int, combinations: ArrayLike, permute: bool, rules: Rules
) -> tuple[NDArray[np.uint8], int, Prior]:
    """Return the contexts and K as the kernels want them, and the prior of an observer.

    Arguments are those of `sraven.ideal_observer`.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol or rule, or no combination at all.
    """
    K = check_K(K)
    contexts = check_context(context, K)
    possible = check_symbols("combinations", combinations, ("n_combinations", contexts.shape[2]), len(rules))
    if len(possible) == 0:
        raise ConfigurationError("combinations is empty; give the observer at least one combination")
    return contexts, K, make_prior(possible, K, permute, rules)
