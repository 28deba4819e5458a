"""Exact posteriors at each position of the answer by itself: of its rule, and of its symbol."""

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

_NODE, _NODE_MASK = 24, (1 << 24) - 1
_HASH = np.uint64(0x9E3779B97F4A7C15)


class _Sweep(NamedTuple):
    """Scratch memory of `_sweep`.

    A node is what partial explanations have in common that can go on alike: the state of the lattice that
    they have reached, and how often each rule occurs in them. A step is an edge that leaves a node.
    """

    exits: Exits
    """Which edges leave which state."""
    begin: NDArray[np.int64]
    """``[M + 2]``: where the nodes of a level begin."""
    first_step: NDArray[np.int64]
    """``[M]``: where the steps from a level begin: node by node, edge by edge."""
    state: NDArray[np.int64]
    """``[4 * capacity]``: by node, its state."""
    counts: NDArray[np.int64]
    """``[4 * capacity]``: how often each rule occurs, four bits each."""
    before: NDArray[np.float64]
    """``[4 * capacity]``: sum of the likelihoods of all ways to a node."""
    behind: NDArray[np.float64]
    """``[4 * capacity]``: sum of the weights of all ways on from it."""
    goals: NDArray[np.int32]
    """``[8 * capacity]``: the node that a step leads to, or -1 where it isn't allowed."""
    slots: NDArray[np.int64]
    """``[8 * capacity]``: hash table of a level's nodes: stamp and node."""


def _make_sweep(M: int, capacity: int) -> _Sweep:
    return _Sweep(
        exits=make_exits(M, capacity),
        begin=np.zeros(M + 2, np.int64),
        first_step=np.zeros(M, np.int64),
        state=np.zeros(4 * capacity, np.int64),
        counts=np.zeros(4 * capacity, np.int64),
        before=np.zeros(4 * capacity, np.float64),
        behind=np.zeros(4 * capacity, np.float64),
        goals=np.zeros(8 * capacity, np.int32),
        slots=np.zeros(8 * capacity, np.int64),
    )


@kernel
def _find_or_add(
    reached: Any, counted: Any, stamp: Any, end: Any, state: Any, counts: Any, slots: Any
) -> Any:
    """Return the node of the level in the making with this state and these counts; ``end`` if it is new."""
    mixed = (np.uint64(counted) * _HASH + np.uint64(reached)) * _HASH
    slot = np.int64(mixed >> np.uint64(32)) & (slots.shape[0] - 1)
    while slots[slot] >> _NODE == stamp:
        node = slots[slot] & _NODE_MASK
        if state[node] == reached and counts[node] == counted:
            return node
        slot = (slot + 1) & (slots.shape[0] - 1)
    if end < state.shape[0]:
        slots[slot] = stamp << _NODE | end
        state[end], counts[end] = reached, counted
    return end


@kernel
def _sweep_forward(first_stamp: Any, M: Any, permute: Any, edges: Any, likelihoods: Any, sweep: Any) -> Any:
    """Find all nodes and steps, and sum up what leads to each; return whether they fit into the memory."""
    exits, begin, first_step, state, counts, before, _, goals, slots = sweep
    leaving, first_exit = exits
    begin[0], begin[1] = 0, 1
    state[0], counts[0], before[0] = 0, 0, 1.0
    step = 0
    for level in range(M):
        end = begin[level + 1]
        first_step[level] = step
        for node in range(begin[level], begin[level + 1]):
            at = first_exit[level] + state[node]
            for e in range(leaving[at], leaving[at + 1]):
                if step == goals.shape[0]:
                    return False
                edge = edges[e]
                rule, goal = edge_rule(edge), np.int64(-1)
                # Without permutations, the features carry their rules in sorted order.
                if permute or counts[node] >> (4 * (rule + 1)) == 0:
                    counted = counts[node] + (1 << (4 * rule))
                    goal = _find_or_add(
                        edge_goal(edge), counted, first_stamp + level, end, state, counts, slots
                    )
                    if goal == state.shape[0]:
                        return False
                    if goal == end:
                        before[end] = 0.0
                        end += 1
                    before[goal] += before[node] * likelihoods[rule]
                goals[step] = goal
                step += 1
        begin[level + 2] = end
    return True


@kernel
def _sweep_back(M: Any, of_rules: Any, levels: Any, edges: Any, prior: Any, sweep: Any, shares: Any) -> None:
    """Sum up what leads on from each node, and add the weight of each step to its position's shares."""
    weights, ranks, likelihoods = prior
    exits, begin, first_step, state, counts, before, behind, goals, _ = sweep
    leaving, first_exit = exits
    for node in range(begin[M], begin[M + 1]):
        behind[node] = prior_weight(counts[node], M, weights, ranks)
    for level in range(M - 1, -1, -1):
        k, step = levels[ORDER, level], first_step[level]
        for node in range(begin[level], begin[level + 1]):
            at, total = first_exit[level] + state[node], 0.0
            for e in range(leaving[at], leaving[at + 1]):
                goal = goals[step]
                step += 1
                if goal >= 0:
                    weight = likelihoods[edge_rule(edges[e])] * behind[goal]
                    value = edge_rule(edges[e]) if of_rules else edge_symbol(edges[e])
                    shares[k, value] += before[node] * weight
                    total += weight
            behind[node] = total


@kernel
def _sweep(
    stamp: Any, permute: Any, of_rules: Any, levels: Any, edges: Any, prior: Any, sweep: Any, shares: Any
) -> Any:
    """Write the shares of a lattice, ``[M, values]``, zeros before; return whether the memory was enough.

    Forward and backward: what an explanation weighs is a product along its path, times the prior of
    the rules that it has used, which the nodes count.
    """
    M = shares.shape[0]
    if levels[KEPT, M] == 0:
        return True
    index_exits(M, levels, edges, sweep.exits)
    if not _sweep_forward(stamp, M, permute, edges, prior.likelihoods, sweep):
        return False
    _sweep_back(M, of_rules, levels, edges, prior, sweep, shares)
    for k in range(M):
        total = shares[k].sum()
        if total > 0:
            shares[k] /= total
    return True


@kernel
def _divide(
    context: Any,
    K: Any,
    permute: Any,
    of_rules: Any,
    begin: Any,
    lattice: Any,
    prior: Any,
    sweep: Any,
    shares: Any,
) -> Any:
    """Divide the probability of the contexts from ``begin`` on; return the first that didn't fit."""
    M = context.shape[2]
    for n in range(begin, context.shape[0]):
        serial = n - begin + 1
        if not build_lattice(context[n], K, permute, serial, lattice):
            return n
        levels, edges = lattice.levels, lattice.edges
        if not _sweep(serial * M, permute, of_rules, levels, edges, prior, sweep, shares[n]):
            return n
    return context.shape[0]


def _marginals(
    context: ArrayLike,
    K: int,
    combinations: ArrayLike,
    of_rules: bool,
    permute: bool,
    rules: Rules,
    threads: int | None,
) -> NDArray[np.float64]:
    contexts, K, prior = check_observed(context, K, combinations, permute, rules)
    n, _, M = contexts.shape
    shares = np.zeros((n, M, len(rules) if of_rules else K), np.float64)

    def divide(part: slice, begin: int, capacity: int, lattice: Lattice) -> int:
        sweep = _make_sweep(M, capacity)
        here = contexts[part]
        return int(_divide(here, K, permute, of_rules, begin, lattice, prior, sweep, shares[part]))

    for_each_part(divide, M, K, rules, n, threads)
    return shares


def rule_posterior(
    context: ArrayLike,
    K: int,
    combinations: ArrayLike,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Return how probable each rule is at each position of the ninth panel, given the context.

    The posterior is that of `ideal_observer`, exact and under the generator: it sums, over all
    explanations, prior times likelihood. The rule that an instance of a task has at position p is
    ``rules[permutations[2, p]]``.

    Args:
        context: integers ``[n, 8, M]``: the eight context panels, row-major.
        K: number of symbols, 3 to 256.
        combinations: integers ``[n_combinations, M]``: the rules of the combinations that are thought
            possible, each as probable as any other, such as ``task.combinations("train")``.
        permute: whether columns may show the features in different orders; if not, the features
            carry the rules of a combination in ascending order, as in the task.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        threads: threads to use; None for all available ones.

    Returns:
        float64 ``[n, M, R]`` for R rules, 8 of the paper. The probabilities of a position sum to 1;
        where the combinations explain nothing, all of an instance are 0.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol or rule.
        CapacityError: if an instance has too many explanations for an exact posterior.
    """
    return _marginals(context, K, combinations, True, permute, rules, threads)


def symbol_marginals(
    context: ArrayLike,
    K: int,
    combinations: ArrayLike,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Return how probable each symbol is at each position of the ninth panel, given the context.

    It is what a model can know at best whose outputs are independent: no cross-entropy is lower than that
    of these probabilities. The most probable symbols of all positions together need not be a possible
    panel; `ideal_observer` returns the most probable one.

    Arguments and errors are those of `rule_posterior`.

    Returns:
        float64 ``[n, M, K]``. The probabilities of a position sum to 1; where the combinations explain
        nothing, all of an instance are 0.
    """
    return _marginals(context, K, combinations, False, permute, rules, threads)
