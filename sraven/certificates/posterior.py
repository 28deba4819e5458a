"""Exact posteriors at each position of the answer by itself: of its rule, and of its symbol.

Forward and backward over the lattice. Forward, the likelihoods of all partial explanations that reach the
same *way*, a state with a count of each rule (see `weighing`), are summed. Backward, the weights
of all that leads on from a way are, beginning at the last level with the prior of the combination that
the counts name. An edge weighs what leads to it, times its likelihood, times what leads on. The edges of
a level share out the probability of its position, by their rules or by their symbols, and no explanation
is listed.
"""

from typing import Any, NamedTuple

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
from sraven.certificates.weighing import Ways, begin_ways, check_observed, make_ways, may_follow, prior_weight
from sraven.core.jit import kernel
from sraven.rules import RULES, Rules

_WAY, _WAY_MASK = 24, (1 << 24) - 1
_HASH = np.uint64(0x9E3779B97F4A7C15)


class _Sweep(NamedTuple):
    """Scratch memory of `_sweep`. A step is an edge that leaves a way."""

    ways: Ways
    first_step: NDArray[np.int64]
    """``[M]``: where the steps from a level begin: way by way, edge by edge."""
    behind: NDArray[np.float64]
    """``[4 * capacity]``: sum of the weights of all that leads on from a way."""
    goals: NDArray[np.int32]
    """``[8 * capacity]``: the way that a step leads to, or -1 where it isn't allowed."""
    slots: NDArray[np.int64]
    """``[8 * capacity]``: hash table of a level's ways: stamp and way."""


def _make_sweep(M: int, capacity: int) -> _Sweep:
    return _Sweep(
        ways=make_ways(M, capacity),
        first_step=np.zeros(M, np.int64),
        behind=np.zeros(4 * capacity, np.float64),
        goals=np.zeros(8 * capacity, np.int32),
        slots=np.zeros(8 * capacity, np.int64),
    )


@kernel
def _find_or_add(goal: Any, counted: Any, stamp: Any, end: Any, ways: Any, slots: Any) -> Any:
    """Return the way of the level in the making with this state and these counts; ``end`` if it is new."""
    state, counts = ways.state, ways.counts
    mixed = (np.uint64(counted) * _HASH + np.uint64(goal)) * _HASH
    slot = np.int64(mixed >> np.uint64(32)) & (slots.shape[0] - 1)
    while slots[slot] >> _WAY == stamp:
        way = slots[slot] & _WAY_MASK
        if state[way] == goal and counts[way] == counted:
            return way
        slot = (slot + 1) & (slots.shape[0] - 1)
    if end < state.shape[0]:
        slots[slot] = stamp << _WAY | end
        state[end], counts[end], ways.weight[end] = goal, counted, 0.0
    return end


@kernel
def _sweep_forward(first_stamp: Any, M: Any, permute: Any, edges: Any, likelihoods: Any, sweep: Any) -> Any:
    """Find all ways and steps, and sum up what leads to each; return whether they fit into the memory."""
    ways, first_step, _, goals, slots = sweep
    leaving, first_exit, begin, state, counts, weight = ways
    step = 0
    for level in range(M):
        end = begin[level + 1]
        first_step[level] = step
        for way in range(begin[level], begin[level + 1]):
            at = first_exit[level] + state[way]
            for e in range(leaving[at], leaving[at + 1]):
                if step == goals.shape[0]:
                    return False
                edge = edges[e]
                rule, goal = edge_rule(edge), np.int64(-1)
                if may_follow(rule, counts[way], permute):
                    counted = counts[way] + (1 << (4 * rule))
                    goal = _find_or_add(edge_goal(edge), counted, first_stamp + level, end, ways, slots)
                    if goal == state.shape[0]:
                        return False
                    end = max(end, goal + 1)
                    weight[goal] += weight[way] * likelihoods[rule]
                goals[step] = goal
                step += 1
        begin[level + 2] = end
    return True


@kernel
def _sweep_back(M: Any, of_rules: Any, levels: Any, edges: Any, prior: Any, sweep: Any, shares: Any) -> None:
    """Sum up what leads on from each way, and add the weight of each step to its position's shares."""
    weights, ranks, likelihoods = prior
    ways, first_step, behind, goals, _ = sweep
    leaving, first_exit, begin, state, counts, weight = ways
    for way in range(begin[M], begin[M + 1]):
        behind[way] = prior_weight(counts[way], M, weights, ranks)
    for level in range(M - 1, -1, -1):
        k, step = levels[ORDER, level], first_step[level]
        for way in range(begin[level], begin[level + 1]):
            at, total = first_exit[level] + state[way], 0.0
            for e in range(leaving[at], leaving[at + 1]):
                goal = goals[step]
                step += 1
                if goal >= 0:
                    on = likelihoods[edge_rule(edges[e])] * behind[goal]
                    value = edge_rule(edges[e]) if of_rules else edge_symbol(edges[e])
                    shares[k, value] += weight[way] * on
                    total += on
            behind[way] = total


@kernel
def _sweep(
    stamp: Any, permute: Any, of_rules: Any, levels: Any, edges: Any, prior: Any, sweep: Any, shares: Any
) -> Any:
    """Write the shares of a lattice, ``[M, values]``, zeros before; return whether the memory was enough."""
    M = shares.shape[0]
    if levels[KEPT, M] == 0:
        return True
    begin_ways(M, levels, edges, sweep.ways)
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
    out: Any,
) -> Any:
    """Divide the probability of the contexts from ``begin`` on; return the first that didn't fit."""
    M = context.shape[2]
    for n in range(begin, context.shape[0]):
        serial = n - begin + 1
        if not build_lattice(context[n], K, permute, serial, lattice):
            return n
        if not _sweep(serial * M, permute, of_rules, lattice.levels, lattice.edges, prior, sweep, out[n]):
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

    def divide(part: slice, begin: int, capacity: int, lattice: Lattice) -> Any:
        here, sweep = contexts[part], _make_sweep(M, capacity)
        return _divide(here, K, permute, of_rules, begin, lattice, prior, sweep, shares[part])

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
        combinations: integers ``[n_combinations, M]``: the rules of the combinations that are
            assumed, each as probable as any other, such as ``task.combinations("train")``.
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
