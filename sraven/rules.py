"""The rules that a row of a matrix may follow (paper, appendix B.3), and the sets of them that tasks have.

A rule is one object, from which follow the generator's table of rows, the likelihoods, the counts and
the texts. It says twice what a row is: by ``draw`` for the generator and by ``fits`` for all that
certifies it, and `check_rules` holds the one against the other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from sraven.core.arguments import check_choice
from sraven.core.errors import ConfigurationError

Symbols = NDArray[np.int64]

Draw = Callable[[Symbols, Symbols, int], tuple[Symbols, Symbols, Symbols]]
Fits = Callable[[Symbols, Symbols, Symbols, int], NDArray[np.bool_]]


@dataclass(frozen=True)
class Rule:
    """A rule of the three rows (x, y, z) of a feature; arithmetic is modulo K.

    Attributes:
        name: its name.
        row: a row in words.
        outcomes: returns, for K symbols, in how many ways the three rows may look; all are equally
            probable.
        fits: returns which features follow it (bool ``[...]``), given x, y and z (``[3, ...]``, the
            rows first) and K.
        draw: returns rows, given pairs of symbols drawn uniformly, and K. None where the rows of a
            feature depend on each other: then `sraven.kernels` and `sraven.certificates.explanations` have to
            know the rule.
        kind: rules of one kind are spread evenly where a division makes blocks of rules.
        family: rules of one family are *siblings*: a division by families never tells one from the other.
    """

    name: str
    row: str
    outcomes: Callable[[int], int]
    fits: Fits
    draw: Draw | None
    kind: str = ""
    family: str = ""


Rules = tuple[Rule, ...]

ADDITION, SUBTRACTION, DISTRIBUTE_THREE = 5, 6, 7

ORDERS_OF_THREE = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""The orders in which distribute three shows its symbols."""

RULES_LIMIT = 15
"""Most rules that there can be: the ideal observer counts them in four bits each."""

_PROBE = 5
"""Symbols with which rules are compared with themselves before anything is made by them."""


def _progression(step: int) -> tuple[Callable[[int], int], Fits, Draw]:
    def fits(x: Symbols, y: Symbols, z: Symbols, K: int) -> NDArray[np.bool_]:
        return np.asarray(((y == (x + step) % K) & (z == (y + step) % K)).all(axis=0))

    return lambda K: K**3, fits, lambda x, y, K: (x, (x + step) % K, (x + 2 * step) % K)


def _arithmetic(sign: int) -> tuple[Callable[[int], int], Fits, Draw]:
    def fits(x: Symbols, y: Symbols, z: Symbols, K: int) -> NDArray[np.bool_]:
        return np.asarray((z == (x + sign * y) % K).all(axis=0))

    return lambda K: K**6, fits, lambda x, y, K: (x, y, (x + sign * y) % K)


def _extremum(bounds: np.ufunc, pick: np.ufunc) -> tuple[Callable[[int], int], Fits, Draw]:
    def fits(x: Symbols, y: Symbols, z: Symbols, K: int) -> NDArray[np.bool_]:
        return np.asarray((bounds(z, x) & bounds(z, y) & ((z == x) | (z == y))).all(axis=0))

    return lambda K: K**6, fits, lambda x, y, K: (x, y, pick(x, y))


def _distributes_three(x: Symbols, y: Symbols, z: Symbols, K: int) -> NDArray[np.bool_]:
    symbols = np.sort(np.stack([x, y, z]), axis=0)  # [symbols of a row, rows, ...]
    distinct = (np.diff(symbols, axis=0) > 0).all(axis=(0, 1))
    return np.asarray(distinct & (symbols == symbols[:, :1]).all(axis=(0, 1)))


RULES = (
    Rule("constant", "x, x, x", *_progression(0), "symbols", "symbols"),
    Rule("progression +1", "x, x+1, x+2", *_progression(1), "progression", "steps of one"),
    Rule("progression +2", "x, x+2, x+4", *_progression(2), "progression", "steps of two"),
    Rule("progression -1", "x, x-1, x-2", *_progression(-1), "progression", "steps of one"),
    Rule("progression -2", "x, x-2, x-4", *_progression(-2), "progression", "steps of two"),
    Rule("addition", "x, y, x+y", *_arithmetic(1), "arithmetic", "arithmetic"),
    Rule("subtraction", "x, y, x-y", *_arithmetic(-1), "arithmetic", "arithmetic"),
    Rule(
        "distribute three",
        "three distinct symbols, in an order of its own in each row",
        lambda K: comb(K, 3) * factorial(3) ** 3,
        _distributes_three,
        None,
        kind="symbols",
        family="symbols",
    ),
)
"""The paper's rules: rule ``r`` of a feature is ``RULES[r]``. `sraven.certificates.explanations` fits them
without a table, by their numbers here."""

EXTREMA = (
    Rule("minimum", "x, y, min(x, y)", *_extremum(np.less_equal, np.minimum), "extremum", "extremum"),
    Rule("maximum", "x, y, max(x, y)", *_extremum(np.greater_equal, np.maximum), "extremum", "extremum"),
)

PAPER = "paper"
"""The set of rules that a task has unless it names another one."""

RULE_SETS: dict[str, Rules] = {PAPER: RULES, "ten": (*RULES, *EXTREMA)}
"""The sets of rules by name. The paper's eight begin each of them, and no line ever changes."""


def families(rules: Rules) -> list[list[int]]:
    """Return the numbers of the rules of each family; a rule without one is a family of its own."""
    members: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        members.setdefault(rule.family or rule.name, []).append(number)
    return list(members.values())


def _rows(rule: Rule, K: int) -> NDArray[np.int64]:
    """Return the rows that a rule draws for all pairs of symbols: ``[3, K * K]``; zeros if it draws none.

    Raises:
        ConfigurationError: if a symbol is none, or the rows aren't the outcomes that the rule names.
    """
    if rule.draw is None:
        return np.zeros((3, K * K), np.int64)
    rows = np.stack(np.broadcast_arrays(*rule.draw(*np.divmod(np.arange(K * K), K), K)))
    if rows.min() < 0 or rows.max() >= K:
        raise ConfigurationError(f"rule {rule.name!r} draws a symbol beyond 0 to {K - 1} at K={K}")
    often = np.unique(np.array([K * K, K, 1]) @ rows, return_counts=True)[1]
    if often.min() < often.max() or len(often) ** 3 != rule.outcomes(K):
        raise ConfigurationError(
            f"rule {rule.name!r} names {rule.outcomes(K):,} equally probable outcomes at K={K}, but draws "
            f"{len(often):,} rows, {often.min()} to {often.max()} times each"
        )
    return rows


def fits_alone(rule: Rule, rows: Symbols, K: int) -> NDArray[np.bool_]:
    """Return which rows follow a rule, by features of three equal ones: bool ``[...]``.

    Args:
        rule: a rule.
        rows: symbols ``[3, ...]``: x, y and z of each row.
        K: symbols.
    """
    x, y, z = np.stack([rows] * 3, axis=1)
    return rule.fits(x, y, z, K)


def _check_fits(rule: Rule, K: int) -> None:
    """Compare the rows that fit a rule, of all there are, with those that it draws.

    Raises:
        ConfigurationError: if they are others, or one row has a say in whether another fits.
    """
    x, y, z = rows = np.indices((K, K, K)).reshape(3, -1)
    fitting = fits_alone(rule, rows, K)
    drawn = np.zeros_like(fitting)
    drawn[np.array([K * K, K, 1]) @ _rows(rule, K)] = True
    one, other = (index.ravel() for index in np.indices((K**3, K**3)))
    mix = np.stack([one, other, one])
    mixed = rule.fits(x[mix], y[mix], z[mix], K)
    if (fitting != drawn).any() or (mixed != (fitting[one] & fitting[other])).any():
        raise ConfigurationError(f"rule {rule.name!r}: the rows that fit it aren't those that it draws")
    if fitting.reshape(K, K, K).sum(axis=2).max() > 1:
        raise ConfigurationError(f"rule {rule.name!r}: with some x and y, several symbols z fit it")


@cache
def check_rules(rules: Rules) -> Rules:
    """Return the rules of a set if they are complete, and agree with themselves.

    Raises:
        ConfigurationError: naming the rule and what is missing or wrong.
    """
    if rules[: len(RULES)] != RULES:
        raise ConfigurationError("the first eight rules aren't the paper's; add others behind them")
    if len(rules) > RULES_LIMIT or len({rule.name for rule in rules}) < len(rules):
        raise ConfigurationError(
            f"{len(rules)} rules: expected {RULES_LIMIT} at most, each with its own name"
        )
    for number, rule in enumerate(rules):
        if rule.draw is not None:
            _check_fits(rule, _PROBE)
        elif number != DISTRIBUTE_THREE:
            raise ConfigurationError(f"rule {rule.name!r} lacks draw, and no kernel draws its rows")
    return rules


def rules_of(rule_set: str) -> Rules:
    """Return the rules of a set, one of `RULE_SETS`.

    Raises:
        ConfigurationError: for another name, or if a rule is incomplete; nothing is generated by it.
    """
    return check_rules(RULE_SETS[check_choice("rule_set", rule_set, tuple(RULE_SETS))])


@cache
def row_table(K: int, rules: Rules = RULES) -> NDArray[np.uint32]:
    """Return every row of the rules: uint32 ``[R, K * K]``; zeros for distribute three, which has no table.

    Entry ``[r, x * K + y]`` holds the three symbols of the row, the first in the lowest byte.
    Constant and the progressions have no use for ``y``.

    Raises:
        ConfigurationError: if a rule isn't what it says for K symbols.
    """
    every = (_rows(rule, K) for rule in check_rules(rules))
    table = np.array([a | b << 8 | c << 16 for a, b, c in every], np.uint32)
    table.setflags(write=False)
    return table


@cache
def row_ends(K: int, rules: Rules = RULES) -> NDArray[np.int64]:
    """Return the symbol that ends a row of each rule: int64 ``[R, x, y]``, -1 where x and y begin none.

    It is none for distribute three, either, which has several.
    """
    ends = np.full((len(rules), K, K), -1)
    for rule, rows, of_rule in zip(rules, row_table(K, rules), ends, strict=True):
        if rule.draw is not None:
            of_rule[rows & 255, rows >> 8 & 255] = rows >> 16
    ends.setflags(write=False)
    return ends


@cache
def completions(K: int, rules: Rules = RULES) -> NDArray[np.int64]:
    """Return what the rules beyond the paper's eight ask of z: int64 ``[R - 8, K * K]``.

    Entry ``[r, x * K + y]`` is the one z with which (x, y, z) fits rule ``8 + r``; -1 if none does. It
    follows from ``fits`` alone.
    """
    x, y = np.divmod(np.arange(K * K), K)
    table = np.full((len(check_rules(rules)) - len(RULES), K * K), -1, np.int64)
    for row, rule in zip(table, rules[len(RULES) :], strict=True):
        for z in range(K):
            fitting = fits_alone(rule, np.stack([x, y, np.full_like(x, z)]), K)
            if (row[fitting] >= 0).any():
                raise ConfigurationError(f"rule {rule.name!r}: two symbols z fit the same x and y at K={K}")
            row[fitting] = z
    table.setflags(write=False)
    return table
