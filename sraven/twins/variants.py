"""The variants of a puzzle: how each kind follows from the first one, in arrays of all sets at once.

A variant is a batch of SRAVEN, as the first puzzles are, with its own rules and orders.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.features import symbols_by_feature
from sraven.kernels import Tables
from sraven.rules import RULES
from sraven.splits import rule_combinations
from sraven.task import Batch

DrawPuzzles = Callable[[Tables], Batch]
"""Returns the puzzles of a variant's own random stream, one for each set, given the tables of a generator."""

FIRST = "first"
"""The kind of the puzzle whose twins the others are."""

NEGATION = np.array([0, 3, 4, 1, 2, 5, 6, 7], np.uint8)
"""The rule that -x, -y, -z follow, by that of x, y, z: progressions change sign, all others stay."""


def negated_combinations(M: int) -> NDArray[np.int64]:
    """Return, for each combination of M rules, the index of that of the negated puzzles: ``[n]``."""
    combinations, digits = rule_combinations(M), len(RULES) ** np.arange(M)[::-1]
    return np.searchsorted(combinations @ digits, np.sort(NEGATION[combinations], axis=1) @ digits)


class Tools(NamedTuple):
    """What variants are made with.

    Attributes:
        K: number of symbols.
        split: the tables of the split.
        by_rule: for each rule, the tables of puzzles all of whose features follow it, all in the same order.
        negated: of `negated_combinations`.
        threads: to certify with; None for all available ones.
    """

    K: int
    split: Tables
    by_rule: tuple[Tables, ...]
    negated: NDArray[np.int64]
    threads: int | None


def _symbols(batch: Batch) -> NDArray[np.uint8]:
    """Return the symbols of the nine panels by feature: uint8 ``[n, row, column, feature]``."""
    return symbols_by_feature(batch.context, batch.target, batch.permutations)


def _show(first: Batch, symbols: NDArray[np.uint8], permutations: NDArray[np.uint8]) -> Batch:
    """Return puzzles of the rules of ``first`` with other symbols, shown in other orders."""
    n, M = first.target.shape
    orders = permutations[:, None].astype(np.int64)
    panels = np.take_along_axis(symbols, orders, axis=3).reshape(n, 9, M)
    shown = {"context": panels[:, :8], "target": panels[:, 8], "permutations": permutations}
    return first._replace(**shown)


def _first(first: Batch, number: int, draw: DrawPuzzles, tools: Tools) -> Batch:
    return draw(tools.split)


def _columns(first: Batch, number: int, draw: DrawPuzzles, tools: Tools) -> Batch:
    return _show(first, _symbols(first), draw(tools.split).permutations)


def _rows(first: Batch, number: int, draw: DrawPuzzles, tools: Tools) -> Batch:
    """Move the last rows to the top: the row asked for is the second, then the first."""
    return _show(first, np.roll(_symbols(first), number + 1, axis=1), first.permutations)


def _values(first: Batch, number: int, draw: DrawPuzzles, tools: Tools) -> Batch:
    """Draw, by each rule, a puzzle all of whose features follow it; a feature takes its own rule's."""
    of_rules = np.stack([_symbols(draw(tables)) for tables in tools.by_rule])
    rules = first.rules[None, :, None, None].astype(np.int64)
    return _show(first, np.take_along_axis(of_rules, rules, axis=0)[0], first.permutations)


def _negated(first: Batch, number: int, draw: DrawPuzzles, tools: Tools) -> Batch:
    """Negate the symbols. Features are numbered by their rules, so they get other numbers."""
    rules = NEGATION[first.rules]
    order = np.argsort(rules, axis=1, kind="stable")
    numbers = np.argsort(order, axis=1).astype(np.uint8)
    return Batch(
        context=((tools.K - first.context.astype(np.int64)) % tools.K).astype(np.uint8),
        target=((tools.K - first.target.astype(np.int64)) % tools.K).astype(np.uint8),
        rules=np.take_along_axis(rules, order, axis=1),
        permutations=np.take_along_axis(numbers[:, None], first.permutations.astype(np.int64), axis=2),
        combination=tools.negated[first.combination].astype(np.int32),
    )


class Kind(NamedTuple):
    """A kind of variants.

    Attributes:
        make: returns variants, given the first puzzles, their number among those of the kind, their stream
            and tools.
        tries: how often one is drawn before its puzzle is given up.
    """

    make: Callable[[Batch, int, DrawPuzzles, Tools], Batch]
    tries: int = 1


KINDS: Mapping[str, Kind] = {
    FIRST: Kind(_first),
    "columns": Kind(_columns, 16),
    "rows": Kind(_rows),
    "values": Kind(_values, 16),
    "negated": Kind(_negated),
}
"""The kinds by name, in the order in which a set has them."""
