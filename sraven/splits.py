"""Rule combinations, and which of them a split draws from (paper, section 4.2)."""

from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from sraven.core.arguments import floor_of_share, greatest_share, least_share
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.rng import RANGE_LIMIT, derive_key, shuffle
from sraven.divisions import divide
from sraven.rules import RULES, Rules

# Partitions that are drawn at most, and combinations that are shuffled for them.
_ATTEMPTS, _STEPS = 1_000_000, 1 << 29


@cache
def rule_combinations(M: int, rules: Rules = RULES) -> NDArray[np.uint8]:
    """Return every multiset of M of R rules: uint8 ``[C(R + M - 1, M), M]``, rows sorted, in
    lexicographic order.

    Raises:
        CapacityError: if there are more than a draw can choose from.
    """
    count = comb(len(rules) + M - 1, M)
    if count > RANGE_LIMIT:
        raise CapacityError(
            f"M={M}: {count:,} combinations of {len(rules)} rules, but a draw chooses from "
            f"{RANGE_LIMIT:,} at most; use a smaller M"
        )
    rows = list(combinations_with_replacement(range(len(rules)), M))
    table = np.array(rows, dtype=np.uint8)
    table.setflags(write=False)
    return table


def exchanges(M: int, known: NDArray[np.int32], rules: Rules = RULES) -> NDArray[np.int64]:
    """Return, for each combination, how many of its rules have to be exchanged to get one of ``known``.

    That is its distance to the nearest of them: M less the rules that they share, each as often as both have
    it. One exchange leads to a neighbour, so a search breadth first from all of ``known`` finds it.

    Args:
        M: number of features.
        known: indices of combinations, at least one.
        rules: the rules that there are.

    Returns:
        int64 ``[n_combinations]``, by the combinations' indices: 0 for those known.
    """
    combinations, R = rule_combinations(M, rules), len(rules)
    counts = np.stack([(combinations == rule).sum(axis=1) for rule in range(R)], axis=1)
    weights = (M + 1) ** np.arange(R, dtype=np.int64)
    keys = counts @ weights
    order = np.argsort(keys)
    found = np.full(len(combinations), -1, np.int64)
    found[known] = 0
    distance = 0
    while len(front := np.flatnonzero(found == distance)):
        distance += 1
        for out in range(R):
            leaving = keys[front[counts[front, out] > 0]] - weights[out]
            for weight in weights:
                reached = order[np.searchsorted(keys, leaving + weight, sorter=order)]
                found[reached[found[reached] < 0]] = distance
    return found


def partition(
    M: int, holdout: float | str, seed: int, version: str, rules: Rules = RULES
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Divide the rule combinations into known and held-out ones.

    For a share, the combinations are shuffled and the first floor(holdout * count) are held out; this is
    repeated until every rule occurs in a known combination. The order depends on M, seed, version and
    the number of rules alone, so tasks that differ in K, policy or permutation share their partition.

    Args:
        M: number of features.
        holdout: share to hold out, 0 to 1, or the name of a division, one of `sraven.divisions.DIVISIONS`.
        seed: seed of the task.
        version: of the benchmark.
        rules: the rules that there are.

    Returns:
        Two int32 vectors, ascending: indices of known and of held-out combinations.

    Raises:
        ConfigurationError: if either part would be empty although ``holdout`` isn't 0, or if the
            known combinations can't contain all rules.
    """
    combinations = rule_combinations(M, rules)
    if isinstance(holdout, str):
        is_known = divide(combinations, holdout, seed, version, rules)
        return np.flatnonzero(is_known).astype(np.int32), np.flatnonzero(~is_known).astype(np.int32)
    count, R = len(combinations), len(rules)
    held_out = floor_of_share(holdout, count)
    known = count - held_out
    least_known = -(-R // min(M, R))
    most = count - least_known
    if holdout > 0 and held_out == 0:
        least = f"use at least {least_share(1, count)}, or 0 for no ood split" if most else "use 0"
        raise ConfigurationError(
            f"holdout={holdout}: holds out none of the {count} rule combinations at M={M}, which "
            f"leaves ood empty; {least}"
        )
    if known < least_known:
        greatest = f"use at most {greatest_share(most, count)}"
        advice = greatest if most else "use 0: no rule can be spared at M=1"
        raise ConfigurationError(
            f"holdout={holdout}: leaves {known} of the {count} rule combinations at M={M} to train, "
            f"but every one of the {R} rules must occur in train, which takes {least_known}; {advice}"
        )
    key = derive_key(version=version, task="sraven", stream="partition", M=M, seed=seed)
    attempts = min(_ATTEMPTS, _STEPS // count)
    for attempt in range(attempts):
        order = np.arange(count, dtype=np.int32)
        shuffle(order, key, np.uint64(attempt))
        if len(np.unique(combinations[order[held_out:]])) == R:
            return np.sort(order[held_out:]), np.sort(order[:held_out])
    raise ConfigurationError(
        f"holdout={holdout}: no partition with every rule in train was found in {attempts:,} "
        f"draws at M={M}, seed={seed}; use a smaller holdout"
    )
