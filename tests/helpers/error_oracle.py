"""Wrong answers sorted in plain Python, to be checked by eye against the definitions in docs/errors.md.

It shares no code with the package. Panels are sequences of integers, a context eight of them.
"""

from collections import Counter
from typing import NamedTuple

from helpers import oracle

TWO_OPERANDS = (5, 6, 8, 9)
"""Addition, subtraction, minimum, maximum."""

SIBLING = {0: 7, 7: 0, 1: 3, 3: 1, 2: 4, 4: 2, 5: 6, 6: 5, 8: 9, 9: 8}
"""The other rule of the same family."""


class Feature(NamedTuple):
    """What position p of the ninth panel shows: its rule, and its symbols of each row, the last one open."""

    rule: int
    rows: list[list[int]]


def features(context, rules, permutations):
    """Return the feature at each position of the ninth panel, from where each column shows it."""
    found = []
    for feature in permutations[2]:
        first, second, third = (list(shown).index(feature) for shown in permutations)
        rows = [[context[0][first], context[1][second], context[2][third]]]
        rows += [[context[3][first], context[4][second], context[5][third]]]
        rows += [[context[6][first], context[7][second]]]
        found.append(Feature(int(rules[feature]), rows))
    return found


def completes(rule, feature, symbol, K):
    """Tell whether a symbol completes the third row to one of a rule."""
    third = [*feature.rows[2], symbol]
    if rule == oracle.DISTRIBUTE_THREE:
        return any(oracle.follows(rule, [earlier, third], K) for earlier in feature.rows[:2])
    return oracle.follows(rule, [third], K)


def given(feature, K):
    """Return the symbol that the feature's own rule gives."""
    [symbol] = [symbol for symbol in range(K) if completes(feature.rule, feature, symbol, K)]
    return symbol


def followed(context, rules, permutations, prediction, K):
    """Return which rules the wrong symbol at each position follows; an empty set where it is right."""
    return [
        {rule for rule in oracle.RULES if symbol != given(feature, K) and completes(rule, feature, symbol, K)}
        for feature, symbol in zip(features(context, rules, permutations), prediction, strict=True)
    ]


def exchanged(context, rules, permutations, prediction, K):
    """Tell at which positions the wrong symbol is that of the feature's rule with an operand of another."""
    found = features(context, rules, permutations)
    return [
        symbol != given(own, K)
        and own.rule in TWO_OPERANDS
        and any(
            oracle.follows(own.rule, [[x, y, symbol]], K)
            for n, other in enumerate(found)
            if n != place and other.rule in TWO_OPERANDS
            for x, y in ((own.rows[2][0], other.rows[2][1]), (other.rows[2][0], own.rows[2][1]))
        )
        for place, (own, symbol) in enumerate(zip(found, prediction, strict=True))
    ]


def kind(context, rules, permutations, prediction, K, permute):
    """Return what kind of answer a prediction is, one of `sraven.mistakes.KINDS` or "right"."""
    target = [given(feature, K) for feature in features(context, rules, permutations)]
    if list(prediction) == target:
        return "right"
    if tuple(prediction) in oracle.answers(context, K, permute):
        return "valid alternative"
    if Counter(prediction) == Counter(target):
        return "correspondence"
    by_position = followed(context, rules, permutations, prediction, K)
    if all(found or a == b for found, a, b in zip(by_position, prediction, target, strict=True)):
        return "another rule"
    with_others = exchanged(context, rules, permutations, prediction, K)
    fits = zip(by_position, with_others, prediction, target, strict=True)
    if all(found or other or a == b for found, other, a, b in fits):
        return "operand of another feature"
    return "none of these"


def by_sibling(feature, right, K):
    """Return the symbol that the sibling of a feature's rule gives in place of the right one, and how many of
    the first two rows tell them apart; -1 and 0 if it gives nothing definite, or the same.
    """
    sibling = SIBLING[feature.rule]
    if sibling not in TWO_OPERANDS:
        return -1, 0
    *earlier, symbol = [
        next(z for z in range(K) if oracle.follows(sibling, [[x, y, z]], K)) for x, y, *_ in feature.rows
    ]
    telling = sum(given != row[2] for given, row in zip(earlier, feature.rows, strict=False))
    return (-1, 0) if symbol == right else (symbol, telling)


def distance(combination, known):
    """Return how many rules of a combination the nearest known one hasn't, each as often as it has it."""
    own = Counter(combination)
    return min((own - Counter(other)).total() for other in known)
