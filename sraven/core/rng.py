"""Counter-based randomness: Philox4x32-10 and unbiased bounded draws, for use inside kernels.

A *draw* is 64 bits that depend on nothing but (key, index, attempt, draw number), so instance
``i`` of a split costs the same wherever it lies. The key is a hash of what names the stream; the
128-bit counter holds the rest:

====  =====================================================
word  content
====  =====================================================
0, 1  index of the instance, low and high 32 bits
2     block number (bits 0-15) and redraw number (bits 16-31)
3     attempt: number of whole instances rejected before
====  =====================================================

One Philox block yields the draws ``2 * block`` and ``2 * block + 1``.

A chain of bounded numbers is cut from the low 48 bits of one draw by repeated multiplication. If
the ranges multiply to ``product``, a chain is accepted when what is left is at least
``2**48 mod product``: then every outcome has equally many of the 2**48 inputs.

Philox: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
Bounded numbers: Lemire, "Fast random integer generation in an interval", TOMACS 2019, chained as
in Brackett-Rozinsky and Lemire, "Batched ranged random integer generation", SPE 2024.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.jit import inlined, kernel
from sraven.core.spec import digest

CHAIN_LIMIT = 1 << 48
"""The ranges of the numbers cut from one draw may multiply to this at most."""

RANGE_LIMIT = 1 << 16
"""The largest range of a single bounded number: ``range * 2**48`` must fit into 64 bits."""

_LOW32 = np.uint64(0xFFFFFFFF)
_LOW48 = np.uint64(CHAIN_LIMIT - 1)
_LOW24 = np.uint64((1 << 24) - 1)
_ONE, _8, _16, _32, _40, _48 = (np.uint64(bits) for bits in (1, 8, 16, 32, 40, 48))
_ULP = np.float32(2.0**-24)
_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)


def derive_key(**name: str | int) -> NDArray[np.uint64]:
    """Return the Philox key of the stream that ``name`` describes.

    Args:
        name: what distinguishes this stream from all others, such as version, configuration digest,
            seed, split and stream. Equal names give equal keys on every platform.

    Returns:
        uint64 ``[2]``: two 32-bit key words, from SHA-256 of the canonical JSON of ``name``.
    """
    words = np.frombuffer(bytes.fromhex(digest(name))[:8], dtype="<u4")
    return words.astype(np.uint64)


def rejection_threshold(*ranges: int) -> int:
    """Return the least remainder with which a chain of bounded numbers is accepted."""
    product = 1
    for limit in ranges:
        product *= limit
    assert product <= CHAIN_LIMIT and max(ranges) <= RANGE_LIMIT
    return CHAIN_LIMIT % product


@inlined
def _round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    even, odd = _MULTIPLIER_0 * c0, _MULTIPLIER_1 * c2
    c0, c1, c2, c3 = (odd >> _32) ^ c1 ^ k0, odd & _LOW32, (even >> _32) ^ c3 ^ k1, even & _LOW32
    return c0, c1, c2, c3, (k0 + _WEYL_0) & _LOW32, (k1 + _WEYL_1) & _LOW32


@inlined
def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Return the four 32-bit words of Philox4x32-10 (arguments and results held in uint64)."""
    # Written out: a loop over the rounds keeps the compiler from vectorising over instances.
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    return c0, c1, c2, c3


@kernel
def _fill_rows(even: Any, odd: Any, k0: Any, k1: Any, indices: Any, block: Any, attempt: Any) -> None:
    for n in range(indices.shape[0]):
        index = indices[n]
        # The masks tell the compiler that 32-bit multiplications will do.
        w0, w1, w2, w3 = philox4x32(index & _LOW32, index >> _32, block, attempt, k0 & _LOW32, k1 & _LOW32)
        even[n] = w0 | (w1 << _32)
        odd[n] = w2 | (w3 << _32)


@kernel
def fill_draws(draws: Any, key: Any, indices: Any, attempt: Any) -> None:
    """Fill ``draws[d, n]`` (uint64, an even number of rows) for the instances ``indices[n]``.

    Instances lie along the last axis, and each row is an array of its own, so that the compiler
    turns the inner loop into vector code.
    """
    for block in range(draws.shape[0] // 2):
        even, odd = draws[2 * block], draws[2 * block + 1]
        _fill_rows(even, odd, key[0], key[1], indices, np.uint64(block), attempt)


@kernel
def _fill_words(even: Any, odd: Any, k0: Any, k1: Any, c0: Any, c1: Any, first: Any, attempt: Any) -> None:
    for n in range(even.shape[0]):
        block = first + np.uint64(n)
        w0, w1, w2, w3 = philox4x32(
            c0 & _LOW32, c1 & _LOW32, block & _LOW32, attempt & _LOW32, k0 & _LOW32, k1 & _LOW32
        )
        even[n] = w0 | (w1 << _32)
        odd[n] = w2 | (w3 << _32)


@kernel
def _to_uniform(draws: Any, shift: Any, out: Any) -> None:
    for n in range(draws.shape[0]):
        # Through a 32-bit integer: vector units convert those.
        out[n] = np.float32(np.int32((draws[n] >> shift) & _LOW24)) * _ULP


@kernel
def fill_uniform(out: Any, draws: Any, key: Any, index: Any, attempt: Any, first_block: Any) -> None:
    """Fill ``out`` (float32 ``[4 * blocks]``) with multiples of 2**-24 in [0, 1) for one instance.

    ``draws`` (uint64 ``[2, blocks]``) is scratch memory. Word w of block b gives number
    ``w * blocks + b``, so that stores are contiguous; its high 24 bits are used.
    """
    blocks = draws.shape[1]
    _fill_words(draws[0], draws[1], key[0], key[1], index & _LOW32, index >> _32, first_block, attempt)
    for word in range(4):
        _to_uniform(draws[word // 2], _8 if word % 2 == 0 else _40, out[word * blocks : (word + 1) * blocks])


@kernel
def redraw(key: Any, index: Any, attempt: Any, draw: Any, redraws: Any) -> Any:
    """Return what replaces draw number ``draw`` when it is rejected for the ``redraws``-th time."""
    block = (draw >> _ONE) | (redraws << _16)
    w0, w1, w2, w3 = philox4x32(index & _LOW32, index >> _32, block, attempt, key[0], key[1])
    if draw & _ONE:
        return w2 | (w3 << _32)
    return w0 | (w1 << _32)


@kernel
def chain(draw: Any) -> Any:
    """Return the bits of a draw from which bounded numbers are cut."""
    return draw & _LOW48


@kernel
def bounded(bits: Any, limit: Any) -> Any:
    """Cut a number below ``limit`` from ``bits``; return it and the bits that are left."""
    product = bits * limit
    return product >> _48, product & _LOW48


@kernel
def draw_below(limit: Any, threshold: Any, key: Any, index: Any, attempt: Any) -> Any:
    """Return a number below ``limit`` (at most 2**32) from word 0 of the draws number 0.

    ``threshold`` is ``2**32 mod limit``: a product whose low half is less is drawn again.
    """
    redraws = np.uint64(0)
    while True:
        word = redraw(key, index, attempt, np.uint64(0), redraws) & _LOW32
        product = word * limit
        if product & _LOW32 >= threshold:
            return product >> _32
        redraws += _ONE


@kernel
def shuffle(values: Any, key: Any, attempt: Any) -> None:
    """Shuffle a vector in place (Fisher-Yates); its length may be 65,536 at most.

    Each swap has a draw of its own, with the position as its index.
    """
    for last in range(values.shape[0] - 1, 0, -1):
        index, limit = np.uint64(last), np.uint64(last + 1)
        redraws = np.uint64(0)
        other, rest = bounded(chain(redraw(key, index, attempt, np.uint64(0), redraws)), limit)
        while rest < (_LOW48 + _ONE) % limit:
            redraws += _ONE
            other, rest = bounded(chain(redraw(key, index, attempt, np.uint64(0), redraws)), limit)
        values[last], values[other] = values[other], values[last]
