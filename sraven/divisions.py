"""Named divisions of the rule combinations: which rules never occur together in training.

A share holds out whole combinations at random, and leaves nearly every pair of rules in training. These hold
out pairs of rules, or repetitions. Each treats all rules alike, so every rule is as frequent in ``train`` as
in ``ood``: what a model loses on ``ood`` is not due to harder rules there.

``camps``, ``ring`` and the scattered ones divide by families of siblings, such as addition and subtraction.
Exchanging a rule for its sibling never leads from a known combination to one held out, so the rules beside a
feature never tell which sibling it follows. ``pairs`` and ``blocks`` separate siblings.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, count
from math import comb

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.rng import derive_key, shuffle
from sraven.rules import Rules, families

Shuffled = Callable[[Iterable[int]], list[int]]
"""Returns the numbers of rules in an order that the seed of the task draws."""

Combinations = NDArray[np.uint8]
"""Rows of rules, sorted: uint8 ``[n, M]``."""

Division = Callable[[Combinations, Rules, Shuffled], NDArray[np.bool_]]
"""Returns which of all combinations are known: bool ``[n]``."""


_DRAWS = 1 << 16
"""Draws of a scattered division before it is given up."""


def _halves(order: list[int], name: str, what: str = "rules") -> tuple[list[int], list[int]]:
    """Return every other rule, or family, of an order, and the rest: equally many."""
    if len(order) % 2:
        raise ConfigurationError(
            f"holdout={name!r}: needs an even number of {what}, but the rule set has {len(order)}; use "
            "holdout='repeats', a share such as 0.25, or another rule set"
        )
    return order[::2], order[1::2]


def _spread(kinds: Iterable[str], shuffled: Shuffled) -> list[int]:
    """Return all numbers by their kind, those of each kind shuffled: halves have as many of each."""
    members: dict[str, list[int]] = {}
    for number, kind in enumerate(kinds):
        members.setdefault(kind, []).append(number)
    return [number for numbers in members.values() for number in shuffled(numbers)]


def _within(rows: Combinations, one: list[int]) -> NDArray[np.bool_]:
    """Return which rows are within one of two sets of numbers: bool ``[n]``."""
    inside = np.isin(rows, one)
    return np.asarray(inside.all(axis=1) | ~inside.any(axis=1))


def forbid_pairs(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations with at most one rule of each pair; a random matching pairs the rules."""
    pairs = zip(*_halves(shuffled(range(len(rules))), "pairs"), strict=True)
    both = [(table == one).any(axis=1) & (table == other).any(axis=1) for one, other in pairs]
    return ~np.asarray(np.any(both, axis=0))


def separate_blocks(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations within one of two equal blocks of rules, each with half of every kind."""
    one, _ = _halves(_spread((rule.kind for rule in rules), shuffled), "blocks")
    return _within(table, one)


def hold_out_repeats(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations of different rules; those with a rule twice are held out."""
    M = table.shape[1]
    if len(rules) < M:
        raise ConfigurationError(
            f"holdout='repeats': no combination of {M} rules has {M} different ones, as there are "
            f"{len(rules)}; use M up to {len(rules)}"
        )
    return np.asarray((table[:, 1:] != table[:, :-1]).all(axis=1))


def _of_families(table: Combinations, rules: Rules, name: str) -> NDArray[np.uint8]:
    """Return the family of each rule of each combination: uint8 ``[n, M]``."""
    members = families(rules)
    size = len(members[0])
    if len(members) < 4 or any(len(family) != size for family in members):
        raise ConfigurationError(
            f"holdout={name!r}: needs four families of rules or more, all of one size, but the rule set has "
            f"{', '.join(str(len(family)) for family in members)}; give each rule its family"
        )
    family_of = np.empty(len(rules), np.uint8)
    for number, family in enumerate(members):
        family_of[family] = number
    return family_of[table]


def separate_camps(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations within one of two camps, each of half of the families of rules."""
    found = _of_families(table, rules, "camps")
    kinds = (rules[members[0]].kind for members in families(rules))
    one, _ = _halves(_spread(kinds, shuffled), "camps", "families of rules")
    return _within(found, one)


def join_neighbours(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are combinations of one family of rules, or of two that are neighbours in a ring of all."""
    found = _of_families(table, rules, "ring")
    ring = shuffled(range(len(families(rules))))
    edges = zip(ring, ring[1:] + ring[:1], strict=True)
    return np.asarray(np.any([np.isin(found, edge).all(axis=1) for edge in edges], axis=0))


def _scatter(
    name: str, like: "Division", table: Combinations, rules: Rules, shuffled: Shuffled
) -> NDArray[np.bool_]:
    """Return which combinations are known by a draw that knows as many as another division.

    A *class* is all combinations with the same multiset of families: whole classes keep siblings together.
    They are taken in a random order, each unless a family would get more than its share. That is done
    again until every family has its share and all pairs of rules occur, a rule beside itself among them.
    """
    n, M = table.shape
    if M < 3:
        raise ConfigurationError(
            f"holdout={name!r}: at M={M} all pairs of rules leave nothing to hold out; use M from 3"
        )
    found = np.sort(_of_families(table, rules, name), axis=1)
    F, known = int(found.max()) + 1, int(like(table, rules, sorted).sum())
    classes, of_class, sizes = np.unique(found, axis=0, return_inverse=True, return_counts=True)
    counts = np.stack([(classes == family).sum(axis=1) for family in range(F)], axis=1)
    uses, share = (counts * sizes[:, None]).tolist(), known * M // F
    pairs = [set(combinations(row, 2)) for row in classes.tolist()]
    for _ in range(_DRAWS):
        left, taken = [share] * F, list[int]()
        for number in shuffled(range(len(classes))):
            after = [have - use for have, use in zip(left, uses[number], strict=True)]
            if min(after) >= 0:
                left = after
                taken.append(number)
        if not any(left) and len(set().union(*(pairs[number] for number in taken))) == comb(F + 1, 2):
            return np.isin(of_class.reshape(n), taken)
    raise CapacityError(
        f"holdout={name!r}: {_DRAWS:,} draws found none that treats all rules alike at M={M}; use a smaller M"
    )


def scatter(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are as many combinations as `camps` knows, whole multisets of families, with all pairs."""
    return _scatter("scattered", separate_camps, table, rules, shuffled)


def scatter_as_ring(table: Combinations, rules: Rules, shuffled: Shuffled) -> NDArray[np.bool_]:
    """Known are as many combinations as `ring` knows, whole multisets of families, with all pairs."""
    return _scatter("scattered-ring", join_neighbours, table, rules, shuffled)


DIVISIONS: Mapping[str, Division] = {
    "pairs": forbid_pairs,
    "blocks": separate_blocks,
    "repeats": hold_out_repeats,
    "camps": separate_camps,
    "ring": join_neighbours,
    "scattered": scatter,
    "scattered-ring": scatter_as_ring,
}
"""The divisions by name; the docstrings are sentences for cards. No line ever changes, as `holdout` of a task
may name it."""


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
    key = derive_key(version=version, task="sraven", stream="division", division=name, seed=seed)
    draws = count()

    def shuffled(numbers: Iterable[int]) -> list[int]:
        order = np.array(list(numbers), np.int32)
        shuffle(order, key, np.uint64(next(draws)))
        return [int(number) for number in order]

    return DIVISIONS[name](table, rules, shuffled)
