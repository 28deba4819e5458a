"""Named divisions of the rule combinations: which rules never occur together in training.

A share holds out whole combinations at random, and leaves nearly every pair of rules in training. These hold
out pairs of rules, or repetitions. Each treats all rules alike, so every rule is as frequent in ``train`` as
in ``ood``: what a model loses on ``ood`` is not due to harder rules there.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.rng import derive_key, shuffle
from sraven.rules import Rules

Shuffled = Callable[[Iterable[int]], list[int]]
"""Returns the numbers of rules in an order that the seed of the task draws."""

Combinations = NDArray[np.uint8]
"""Rows of rules, sorted: uint8 ``[n, M]``."""


def _halves(order: list[int], name: str) -> tuple[list[int], list[int]]:
    """Return every other rule of an order, and the rest: equally many."""
    if len(order) % 2:
        raise ConfigurationError(
            f"holdout={name!r}: needs an even number of rules, but the rule set has {len(order)}; use "
            "holdout='repeats', a share such as 0.25, or another rule set"
        )
    return order[::2], order[1::2]


def forbid_pairs(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations with at most one rule of each pair; a random matching pairs the rules."""
    pairs = zip(*_halves(shuffled(range(len(rules))), "pairs"), strict=True)
    both = [(table == one).any(axis=1) & (table == other).any(axis=1) for one, other in pairs]
    return ~np.asarray(np.any(both, axis=0))


def separate_blocks(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations within one of two equal blocks of rules, each with half of every kind."""
    kinds: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        kinds.setdefault(rule.kind, []).append(number)
    order = [rule for members in kinds.values() for rule in shuffled(members)]
    one, _ = _halves(order, "blocks")
    inside = np.isin(table, one)
    return np.asarray(inside.all(axis=1) | ~inside.any(axis=1))


def hold_out_repeats(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations of different rules; those with a rule twice are held out."""
    M = table.shape[1]
    if len(rules) < M:
        raise ConfigurationError(
            f"holdout='repeats': no combination of {M} rules has {M} different ones, as there are "
            f"{len(rules)}; use M up to {len(rules)}"
        )
    return np.asarray((table[:, 1:] != table[:, :-1]).all(axis=1))


DIVISIONS: Mapping[str, Callable[[Combinations, Rules, Shuffled], NDArray[np.bool_]]] = {
    "pairs": forbid_pairs,
    "blocks": separate_blocks,
    "repeats": hold_out_repeats,
}
"""By name, which combinations are known (bool ``[n]``), given all of them, the rules and what shuffles. The
docstring is a sentence for cards. No line ever changes, as `holdout` of a task may name it."""


def divide(table: Combinations, name: str, seed: int, version: str, rules: Rules) -> NDArray[np.bool_]:
    """Return which combinations are known by a named division: bool ``[n]``.

    The draw depends on the seed alone, so tasks with other M, K or policies forbid the same pairs.

    Args:
        table: all combinations, uint8 ``[n, M]``.
        name: one of `DIVISIONS`.
        seed: of the task.
        version: of the benchmark.
        rules: the rules that there are.

    Raises:
        ConfigurationError: if the rules, or M, can't be divided so.
    """
    if table.shape[1] < 2:
        raise ConfigurationError(
            f"holdout={name!r}: divides by rules that occur together, and at M=1 none do; use M of at "
            "least 2, or holdout=0"
        )
    key, draws = derive_key(version=version, task="sraven", stream="division", division=name, seed=seed), 0

    def shuffled(numbers: Iterable[int]) -> list[int]:
        nonlocal draws
        order = np.array(list(numbers), np.int32)
        shuffle(order, key, np.uint64(draws))
        draws += 1
        return [int(number) for number in order]

    return DIVISIONS[name](table, rules, shuffled)
