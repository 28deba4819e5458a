"""Rows or partners: how a feature shows which of two siblings it follows, such as addition or subtraction.

*Rows* tell: the first two rows of the context fit its rule, and one in which the sibling gives another symbol
doesn't fit the sibling. *Partners*, the other rules of a combination, may tell as well: if training has these
partners beside one of the two alone. A network that answers by partners is right where they tell, and gives
the sibling's answer where they mislead.

Only features count that are alone of their family in their puzzle: where two add or subtract, a wrong answer
may as well have taken an operand of the other.
"""

import numpy as np
from numpy.typing import NDArray

from sraven.rules import Rules, families, row_ends

PARTNERS = {
    "tell": "training has these partners beside the feature's rule, not beside its sibling",
    "fit both": "training has them beside both",
    "fit neither": "training has them beside neither",
    "mislead": "training has them beside the sibling alone",
}
"""What the partners of a feature do, with the meaning of each."""

_SAID = {(True, False): 0, (True, True): 1, (False, False): 2, (False, True): 3}
"""The place in `PARTNERS`, by whether training has them beside the rule, and beside its sibling."""


def siblings(rules: Rules) -> NDArray[np.int64]:
    """Return the sibling of each rule, the other one of its family: int64 ``[R]``, -1 for none."""
    found = np.full(len(rules), -1)
    for members in families(rules):
        if len(members) == 2:
            found[members] = members[::-1]
    return found


def sibling_answers(
    rows: NDArray[np.uint8], shown: NDArray[np.int64], K: int, rules: Rules
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Return what the siblings of the features at the positions of the ninth panel give.

    Args:
        rows: ``[n, row, column, M]``, of `sraven.features.symbols_by_asked_feature`.
        shown: the rule of the feature at each position, ``[n, M]``.
        K: symbols.
        rules: the rules that there are.

    Returns:
        int16 ``[n, M]``: what the sibling gives in the third row; -1 where that is nothing, nothing definite
        or the target's symbol, or where another feature is of the same family.
        int64 ``[n, M]``: how many of the first two rows don't fit the sibling.
    """
    other, ends = siblings(rules)[shown], row_ends(K, rules)
    x, y, target = np.moveaxis(rows[:, 2], 1, 0).astype(np.int64)
    given = np.where(other >= 0, ends[other, x, y], -1)
    same = (shown[:, :, None] == shown[:, None]) | (other[:, :, None] == shown[:, None])
    symbol = np.where((given == target) | (same.sum(axis=2) > 1), -1, given).astype(np.int16)
    first, second, third = np.moveaxis(rows[:, :2], 2, 0)  # [n, row, M] each
    differs = ends[other[:, None], first, second] != third
    return symbol, np.where(symbol >= 0, differs.sum(axis=1), 0)


def partners_say(
    combinations: NDArray[np.uint8], known: NDArray[np.int32], rules: Rules
) -> NDArray[np.uint8]:
    """Return what partners say of a feature with a rule: uint8 ``[n_combinations, R]``, by `PARTNERS`.

    It means something where a combination has a rule that has a sibling.

    Args:
        combinations: all there are, sorted rows.
        known: numbers of those of training.
        rules: the rules that there are.
    """
    number = {tuple(row): at for at, row in enumerate(combinations.tolist())}
    is_known = np.isin(np.arange(len(combinations)), known).tolist()
    found = np.zeros((len(combinations), len(rules)), np.uint8)
    for rule, other in enumerate(siblings(rules).tolist()):
        for at in np.flatnonzero((combinations == rule).any(axis=1)) if other >= 0 else ():
            row = combinations[at].tolist()
            row[row.index(rule)] = other
            exchanged = number[tuple(sorted(row))]
            found[at, rule] = _SAID[is_known[at], is_known[exchanged]]
    return found
