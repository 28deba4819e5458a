"""The eight rules that a row of a matrix may follow (paper, appendix B.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rule:
    """A rule: its name, and a row (x, y, z) in words; arithmetic is modulo K."""

    name: str
    row: str


RULES = (
    Rule("constant", "x, x, x"),
    Rule("progression +1", "x, x+1, x+2"),
    Rule("progression +2", "x, x+2, x+4"),
    Rule("progression -1", "x, x-1, x-2"),
    Rule("progression -2", "x, x-2, x-4"),
    Rule("addition", "x, y, x+y"),
    Rule("subtraction", "x, y, x-y"),
    Rule("distribute three", "three distinct symbols, in an order of its own in each row"),
)
"""Rule ``r`` of a feature is ``RULES[r]``."""

STEPS = (0, 1, 2, -1, -2)
"""Step of the rules 0 to 4: constant and the progressions."""

ADDITION, SUBTRACTION, DISTRIBUTE_THREE = 5, 6, 7

ORDERS_OF_THREE = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""The orders in which distribute three shows its symbols."""


def row_table(K: int) -> NDArray[np.uint32]:
    """Return every row of the rules 0 to 6: uint32 ``[7, K * K]``.

    Entry ``[r, x * K + y]`` holds the three symbols of the row, the first in the lowest byte.
    The rules 0 to 4 have no use for ``y``.
    """
    x, y = np.divmod(np.arange(K * K), K)
    rows = [(x, (x + step) % K, (x + 2 * step) % K) for step in STEPS]
    rows += [(x, y, (x + y) % K), (x, y, (x - y) % K)]
    return np.array([a | b << 8 | c << 16 for a, b, c in rows], dtype=np.uint32)


def log_likelihoods(K: int) -> NDArray[np.float64]:
    """Return, for each rule, the log probability of the three rows of one feature: ``[8]``.

    K**-3 for the rules 0 to 4, K**-6 for addition and subtraction; distribute three draws a set
    of three symbols and three orders.
    """
    step, arithmetic = -3 * np.log(K), -6 * np.log(K)
    three = np.log(6.0 / (K * (K - 1) * (K - 2))) - 3 * np.log(6.0)
    return np.array([step] * len(STEPS) + [arithmetic, arithmetic, three])
