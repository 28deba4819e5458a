"""The SRAVEN generator: `generate_plainly` to be read, and compiled loops that give the same instances.

An instance is a pure function of its draws (see `sraven.core.rng`):

=================  ==========================================================
draw               numbers cut from it, in order
=================  ==========================================================
0                  combination; permutation of column 1
1                  permutation of column 2; of column 3 where M <= 10
2 (M > 10 only)    permutation of column 3
one per feature    rule 7: three distinct symbols, then the orders of the rows;
                   any other rule: the three rows, each below K * K
=================  ==========================================================

A permutation is cut as its rank among those of its first six entries, then one swap per further
entry. It is held as nibbles of a uint64: nibble ``f`` is the position that shows feature ``f``.
"""

from itertools import count, permutations
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.jit import kernel
from sraven.core.rng import CHAIN_LIMIT, bounded, chain, fill_draws, redraw, rejection_threshold
from sraven.rules import DISTRIBUTE_THREE, ORDERS_OF_THREE, RULES, Rules, row_table

_BLOCK = 64
_JOINT_PERMUTATIONS = 10
_RANKED = 6
_ONE, _TWO, _SIX = np.uint64(1), np.uint64(2), np.uint64(6)
_4, _8, _16 = np.uint64(4), np.uint64(8), np.uint64(16)
_NIBBLE, _BYTE = np.uint64(0xF), np.uint64(0xFF)
# Bit offsets of the symbols that a row shows first, second and third, a byte each.
_SHIFTS_OF_THREE = np.array([8 * (a | b << 8 | c << 16) for a, b, c in ORDERS_OF_THREE], dtype=np.uint64)


def generate_plainly(
    key: NDArray[np.uint64],
    index: int,
    combinations: NDArray[np.uint8],
    K: int,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    attempt: int = 0,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return an instance, a draw at a time: what `generate` gives, thousands of times slower.

    Args:
        key: of the split's stream, ``task.key(split, "instances")``.
        index: of the instance.
        combinations: uint8 ``[n, M]``, those of the split.
        K: number of symbols.
        permute: whether each column shows the features in an order of its own.
        rules: the rules that there are.
        attempt: instances rejected before, where each has to have one answer.

    Returns:
        uint8 ``[9, M]``, the panels in reading order, the answer last; and uint8 ``[M]``, the rules.
    """
    M = combinations.shape[1]
    # A permutation takes the rank of its first six entries, then a number for each further entry: its swap.
    ranges = [factorial(min(M, _RANKED)), *range(_RANKED + 1, M + 1)] if permute else []

    def draw(number: int, *limits: int) -> list[int]:
        """Return a number below each of the limits, all from one draw, which is repeated until unbiased."""
        for redraws in count():
            bits = int(
                redraw(key, np.uint64(index), np.uint64(attempt), np.uint64(number), np.uint64(redraws))
            )
            whole, rest = divmod(bits % CHAIN_LIMIT * prod(limits), CHAIN_LIMIT)
            if rest >= CHAIN_LIMIT % prod(limits):
                break
        return [whole // prod(limits[at + 1 :]) % limit for at, limit in enumerate(limits)]

    def order(numbers: list[int]) -> list[int]:
        """Return at which position each feature is shown."""
        places = list(range(M))
        if numbers:
            places[:_RANKED] = list(permutations(range(min(M, _RANKED))))[numbers[0]]
        for last, other in enumerate(numbers[1:], _RANKED):
            places[last], places[other] = places[other], places[last]
        return places

    choice, *first = draw(0, len(combinations), *ranges)
    if M <= _JOINT_PERMUTATIONS:
        both = draw(1, *ranges, *ranges)
        second, third = both[: len(ranges)], both[len(ranges) :]
    else:
        second, third = draw(1, *ranges), draw(2, *ranges)
    columns = [order(numbers) for numbers in (first, second, third)]
    panels = np.empty((3, 3, M), np.uint8)
    for feature, rule in enumerate(combinations[choice]):
        number = feature + (2 if M <= _JOINT_PERMUTATIONS else 3)
        if rule == DISTRIBUTE_THREE:
            *places, a, b, c = draw(number, K, K - 1, K - 2, 6, 6, 6)
            free = list(range(K))
            symbols = [free.pop(place) for place in places]
            rows = [[symbols[at] for at in ORDERS_OF_THREE[each]] for each in (a, b, c)]
        else:
            pairs = draw(number, K * K, K * K, K * K)
            rows = [list(rules[rule].draw(*divmod(pair, K), K)) for pair in pairs]
        for row in range(3):
            for column in range(3):
                panels[row, column, columns[column][feature]] = rows[row][column]
    return panels.reshape(9, M), combinations[choice]


class Tables(NamedTuple):
    """What the generator of one split reads."""

    rows: NDArray[np.uint32]
    """``[R, K * K]``: see `sraven.rules.row_table`."""
    combinations: NDArray[np.uint8]
    """``[n_combinations, M]``: the rules of every combination, sorted."""
    choices: NDArray[np.int32]
    """``[n_choices]``: the combinations of the split."""
    permutations: NDArray[np.uint64]
    """``[n]``: permutations of up to six entries, as nibbles; the identity alone if not permuted."""
    thresholds: NDArray[np.uint64]
    """``[4]``: for draw 0, the other permutations, rules with a table and rule 7."""
    K: np.uint64


def make_tables(
    K: int, combinations: NDArray[np.uint8], choices: NDArray[np.int32], permute: bool, rules: Rules = RULES
) -> Tables:
    """Return the tables of a split that draws from ``combinations[choices]``."""
    M = combinations.shape[1]
    ranked = list(permutations(range(min(M, _RANKED)))) if permute else [()]
    nibbles = [[*order, *range(len(order), 16)] for order in ranked]
    number = factorial(M) if permute else 1
    others = number**2 if M <= _JOINT_PERMUTATIONS else number
    return Tables(
        rows=row_table(K, rules),
        combinations=combinations,
        choices=choices,
        permutations=np.array(
            [sum(entry << (4 * f) for f, entry in enumerate(order)) for order in nibbles], dtype=np.uint64
        ),
        thresholds=np.array(
            [
                (1 << 48) % (len(choices) * number),
                (1 << 48) % others,
                rejection_threshold(K * K, K * K, K * K),
                rejection_threshold(K, K - 1, K - 2, 6, 6, 6),
            ],
            dtype=np.uint64,
        ),
        K=np.uint64(K),
    )


@kernel
def _permutation(bits: Any, table: Any, M: Any) -> Any:
    """Cut a permutation of M entries from ``bits``; return its nibbles and the bits left."""
    rank, bits = bounded(bits, np.uint64(table.shape[0]))
    nibbles = table[rank]
    for last in range(M if table.shape[0] == 1 else _RANKED, M):
        other, bits = bounded(bits, np.uint64(last + 1))
        here, there = np.uint64(last) * _4, other * _4
        differing = ((nibbles >> here) ^ (nibbles >> there)) & _NIBBLE
        nibbles ^= (differing << here) | (differing << there)
    return nibbles, bits


@kernel
def _linear_rows(bits: Any, rows: Any, rule: Any, K: Any) -> Any:
    """Cut the three rows of a feature with a rule that has a table, a byte per symbol."""
    first, bits = bounded(bits, K * K)
    second, bits = bounded(bits, K * K)
    third, bits = bounded(bits, K * K)
    first, second, third = rows[rule, first], rows[rule, second], rows[rule, third]
    return np.uint64(first), np.uint64(second), np.uint64(third), bits


@kernel
def _ordered(symbols: Any, bits: Any) -> Any:
    """Cut an order and return the three symbols in it."""
    order, bits = bounded(bits, _SIX)
    shifts = _SHIFTS_OF_THREE[order]
    row = (symbols >> (shifts & _BYTE)) & _BYTE
    row |= ((symbols >> ((shifts >> _8) & _BYTE)) & _BYTE) << _8
    row |= ((symbols >> (shifts >> _16)) & _BYTE) << _16
    return row, bits


@kernel
def _distribute_three_rows(bits: Any, K: Any) -> Any:
    """Cut the three rows of a feature with rule 7, a byte per symbol."""
    a, bits = bounded(bits, K)
    b, bits = bounded(bits, K - _ONE)
    c, bits = bounded(bits, K - _TWO)
    # b and c count the symbols that are still free: step over the ones taken.
    b += np.uint64(b >= a)
    c += np.uint64(c >= min(a, b))
    c += np.uint64(c >= max(a, b))
    symbols = a | (b << _8) | (c << _16)
    first, bits = _ordered(symbols, bits)
    second, bits = _ordered(symbols, bits)
    third, bits = _ordered(symbols, bits)
    return first, second, third, bits


@kernel
def _assemble(draws: Any, begin: Any, end: Any, tables: Any, arrays: Any, rejected: Any) -> None:
    """Turn the draws of instances ``begin`` to ``end`` into panels.

    ``rejected[n]`` gets a bit for each draw of instance n that must be drawn again; such an
    instance is not yet valid.
    """
    context, target, rules, permutations, combination = arrays
    rows, combinations, choices, permutation_table, thresholds, K = tables
    M = combinations.shape[1]
    n_choices = np.uint64(choices.shape[0])
    joint = M <= _JOINT_PERMUTATIONS
    first_feature = np.uint64(2 if joint else 3)
    for instance in range(begin, end):
        n = np.uint64(instance)
        choice, bits = bounded(chain(draws[0, n]), n_choices)
        row = np.uint64(choices[choice])
        combination[n] = row
        positions_1, bits = _permutation(bits, permutation_table, M)
        bad = np.uint64(bits < thresholds[0])
        positions_2, bits = _permutation(chain(draws[1, n]), permutation_table, M)
        if not joint:
            bad |= np.uint64(bits < thresholds[1]) << _ONE
            bits = chain(draws[2, n])
        positions_3, bits = _permutation(bits, permutation_table, M)
        bad |= np.uint64(bits < thresholds[1]) << (first_feature - _ONE)
        for feature in range(M):
            f = np.uint64(feature)
            rule = combinations[row, f]
            rules[n, f] = rule
            draw = f + first_feature
            if rule != DISTRIBUTE_THREE:
                a, b, c, bits = _linear_rows(chain(draws[draw, n]), rows, rule, K)
                bad |= np.uint64(bits < thresholds[2]) << draw
            else:
                a, b, c, bits = _distribute_three_rows(chain(draws[draw, n]), K)
                bad |= np.uint64(bits < thresholds[3]) << draw
            i, j, k = positions_1 & _NIBBLE, positions_2 & _NIBBLE, positions_3 & _NIBBLE
            positions_1 >>= _4
            positions_2 >>= _4
            positions_3 >>= _4
            permutations[n, 0, i] = f
            permutations[n, 1, j] = f
            permutations[n, 2, k] = f
            context[n, 0, i] = a & _BYTE
            context[n, 1, j] = (a >> _8) & _BYTE
            context[n, 2, k] = a >> _16
            context[n, 3, i] = b & _BYTE
            context[n, 4, j] = (b >> _8) & _BYTE
            context[n, 5, k] = b >> _16
            context[n, 6, i] = c & _BYTE
            context[n, 7, j] = (c >> _8) & _BYTE
            target[n, k] = c >> _16
        rejected[n] = bad


@kernel
def _generate_block(
    key: Any, indices: Any, attempt: Any, tables: Any, arrays: Any, draws: Any, rejected: Any
) -> None:
    fill_draws(draws, key, indices, attempt)
    count = indices.shape[0]
    _assemble(draws, 0, count, tables, arrays, rejected)
    for n in range(count):
        if not rejected[n]:
            continue
        # In this order, since the features' draws are judged by the rules that draw 0 chooses.
        for d in range(draws.shape[0]):
            draw, redraws = np.uint64(d), np.uint64(0)
            while (rejected[n] >> draw) & _ONE:
                redraws += _ONE
                draws[draw, n] = redraw(key, indices[n], attempt, draw, redraws)
                _assemble(draws, n, n + 1, tables, arrays, rejected)


@kernel
def generate(key: Any, indices: Any, attempt: Any, tables: Any, arrays: Any) -> None:
    """Fill ``arrays`` with the instances ``indices`` (uint64 ``[n]``) of the stream ``key``.

    They are a tuple of those of a `sraven.task.Batch`, in its order.
    """
    context, target, rules, permutations, combination = arrays
    M = target.shape[1]
    n_draws = M + (2 if M <= _JOINT_PERMUTATIONS else 3)
    draws = np.empty((n_draws + n_draws % 2, _BLOCK), np.uint64)
    rejected = np.empty(_BLOCK, np.uint64)
    for begin in range(0, indices.shape[0], _BLOCK):
        end = min(begin + _BLOCK, indices.shape[0])
        part = (
            context[begin:end],
            target[begin:end],
            rules[begin:end],
            permutations[begin:end],
            combination[begin:end],
        )
        _generate_block(key, indices[begin:end], attempt, tables, part, draws, rejected)
