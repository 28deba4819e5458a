"""Keyed permutations of 0 to n - 1 that need no list, for partitions of very many combinations.

A Feistel network of eight rounds permutes the numbers of an even number of bits; numbers that
come out at n or above go through it again until they don't (cycle walking: Black and Rogaway,
"Ciphers with arbitrary finite domains", CT-RSA 2002). The round function is the 32-bit finaliser
of MurmurHash3, keyed with words of Philox.
"""

from typing import Any

import numpy as np

from sraven.core.jit import kernel
from sraven.core.rng import redraw

ROUNDS = 8

_LOW32 = np.uint64(0xFFFFFFFF)
_ONE, _13, _16, _32 = np.uint64(1), np.uint64(13), np.uint64(16), np.uint64(32)
_MIX_1, _MIX_2 = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35)


def half_bits(n: int) -> int:
    """Return half the number of bits, rounded up, that number n - 1 takes; at least 1."""
    return max(1, ((n - 1).bit_length() + 1) // 2)


@kernel
def fill_round_keys(round_keys: Any, key: Any, attempt: Any) -> None:
    """Fill uint64 ``[8]`` with the 32-bit keys of permutation number ``attempt``."""
    for pair in range(ROUNDS // 2):
        draw = redraw(key, np.uint64(pair), attempt, np.uint64(0), np.uint64(0))
        round_keys[2 * pair], round_keys[2 * pair + 1] = draw & _LOW32, draw >> _32


@kernel
def _mix(value: Any) -> Any:
    value ^= value >> _16
    value = (value * _MIX_1) & _LOW32
    value ^= value >> _13
    value = (value * _MIX_2) & _LOW32
    return value ^ (value >> _16)


@kernel
def permute(number: Any, n: Any, half: Any, round_keys: Any) -> Any:
    """Return the image of a number below ``n``; all are uint64, ``half`` is from `half_bits`."""
    mask = (_ONE << half) - _ONE
    while True:
        left, right = number >> half, number & mask
        for r in range(ROUNDS):
            left, right = right, left ^ (_mix(right ^ round_keys[r]) & mask)
        number = (left << half) | right
        if number < n:
            return number


@kernel
def permute_all(numbers: Any, n: Any, half: Any, round_keys: Any) -> None:
    """Replace each of a vector of numbers by its image."""
    for place in range(numbers.shape[0]):
        numbers[place] = permute(numbers[place], n, half, round_keys)
