"""Distances between tasks: how far apart functions, rules and combinations of them are, exactly.

Sums are integers, or rounded, so that equal distances are equal to the last bit: ranks depend on it.
"""

from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from baselines.analysis.intervals import stream
from sraven.rules import RULES, Rules, fits_alone

Array = NDArray[Any]
Floats = NDArray[np.float64]

CASES = 4_096
"""Cases of `functional` at most: all there are up to L = 5, beyond it as many random ones."""

_DIGITS = 12


def functional(terms: Array, L: int) -> Floats:
    """Return E[(f - g)²] between functions of fuzzy logic, x being uniform on [0, 1]^L: float64 ``[G, G]``.

    A function is ½ plus or minus one of the distances d_l = |x_l - ½|. Which one depends on the side of ½
    that each variable is on and on the order of these distances alone: on one of 2**L · L! equally probable
    cases. There a term is ½ + the least d if all variables are on its side, else ½ - the greatest d of those
    that aren't, and a function is the greatest of its terms. Moments of ordered d are known in closed form.

    Args:
        terms: integers ``[G, K]``: ids of the terms of each function.
        L: variables.
    """
    ranks, signs = _cases(L)
    reached = np.max([_code(terms[:, k], ranks, signs) for k in range(terms.shape[1])], axis=0)
    # A code of 1 is + the least distance, -r is - the r-th least: places of what it is, in `squares`.
    what = np.where(reached > 0, 0, -reached)
    squares = _squares(L)
    sums = np.stack([squares[each, what].sum(axis=-1) for each in what])
    return np.asarray(sums / (len(ranks) * 4 * (L + 1) * (L + 2)))


def _cases(L: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ranks of the distances from 1, ``[cases, L]``, and the sides as bits ``[cases]``."""
    if factorial(L) << L <= CASES:
        orders = np.array(list(permutations(range(1, L + 1))))
        return np.repeat(orders, 1 << L, axis=0), np.tile(np.arange(1 << L), len(orders))
    random = stream(stream="cases", L=L)
    orders = random.permuted(np.tile(np.arange(1, L + 1), (CASES, 1)), axis=1)
    return orders, random.integers(1 << L, size=CASES)


def _code(terms: Array, ranks: Array, signs: Array) -> Array:
    """Return what each of some terms is in each case, as `functional` codes it: ``[G, cases]``."""
    differing = (terms.astype(np.int64)[:, None] ^ signs)[..., None] >> np.arange(ranks.shape[1]) & 1
    greatest = (differing * ranks).max(axis=-1)
    return np.where(greatest > 0, -greatest, 1)


def _squares(L: int) -> NDArray[np.int64]:
    """Return 4 (L + 1)(L + 2) E[(u - v)²] of what a function may be: int64 ``[L + 1, L + 1]``.

    The mean product of the i-th and the j-th least of L uniform numbers, i <= j, is
    i (j + 1) / ((L + 1)(L + 2)).
    """
    place = np.array([1, *range(1, L + 1)])
    sign = np.array([1] + [-1] * L)
    low, high = np.minimum.outer(place, place), np.maximum.outer(place, place)
    products = np.multiply.outer(sign, sign) * low * (high + 1)
    own = np.diagonal(products)
    return np.asarray(own[:, None] + own[None, :] - 2 * products)


def term_sets(terms: Array) -> Floats:
    """Return how many terms are in one of two functions and not in the other: float64 ``[G, G]``.

    Args:
        terms: integers ``[G, K]``, distinct in each row.
    """
    shared = (terms[:, None, :, None] == terms[None, :, None, :]).sum(axis=(2, 3))
    return np.asarray(2.0 * (terms.shape[1] - shared))


def rule_disagreement(K: int, rules: Rules = RULES) -> Floats:
    """Return how probably two rules disagree on the third symbol of a row: float64 ``[R, R]``.

    One of the two rules, at random, draws the first two symbols x and y as the generator does. Both draw the
    third one, given them; a rule that never shows x and y disagrees. So progressions always disagree, and
    addition and subtraction where x + y isn't x - y. For distribute three, the third symbol is any other one:
    which three there are is drawn again. A rule doesn't disagree with itself.

    Args:
        K: symbols.
        rules: of the benchmark's version.
    """
    rows = np.stack([row_law(K, number, rules) for number in range(len(rules))])
    shown = rows.sum(axis=3, keepdims=True)
    given = np.divide(rows, shown, out=np.zeros_like(rows), where=shown > 0)
    agree = np.einsum("rxyz,sxyz->rs", rows, given)  # r draws x, y and z, s draws z
    distances = np.round(1 - (agree + agree.T) / 2, _DIGITS)
    np.fill_diagonal(distances, 0)
    return np.asarray(distances)


def row_law(K: int, rule: int, rules: Rules = RULES) -> Floats:
    """Return the probability of each row (x, y, z), all that fit a rule alike: float64 ``[K, K, K]``."""
    fitting = fits_alone(rules[rule], np.indices((K, K, K)), K)
    return np.asarray(fitting / fitting.sum())


def zero_one(count: int) -> Floats:
    """Return the distance that is 1 between all that differ: float64 ``[count, count]``."""
    return 1 - np.eye(count)


def multisets(combinations: Array, between: Floats) -> Floats:
    """Return how far multisets of rules are apart, their rules paired off as cheaply as can be.

    Args:
        combinations: integers ``[G, M]``: the rules of each.
        between: float64 ``[R, R]``, between rules.

    Returns:
        float64 ``[G, G]``: sums over the M pairs.
    """
    distances = np.zeros((len(combinations), len(combinations)))
    for one, mine in enumerate(combinations):
        for other in range(one):
            costs = between[np.ix_(mine, combinations[other])]
            distances[one, other] = costs[linear_sum_assignment(costs)].sum()
    return np.round(distances + distances.T, _DIGITS)
