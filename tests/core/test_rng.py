"""Philox, keys, bounded numbers and the shuffle: published vectors, the oracle, uniformity."""

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from helpers import oracle
from sraven.core import rng
from sraven.core.spec import canonical_json, digest

# Random123 (Salmon et al. 2011), file kat_vectors, philox4x32 with 10 rounds: counter, key, block.
PUBLISHED = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]

WORDS = st.integers(0, 2**32 - 1)
KEYS = st.tuples(WORDS, WORDS)
INDICES = st.integers(0, 2**62)


def words(text):
    return tuple(int(word, 16) for word in text.split())


def as_key(key):
    return np.array(key, dtype=np.uint64)


@pytest.mark.parametrize(("counter", "key", "block"), PUBLISHED)
def test_published_vectors_in_kernel_and_oracle(counter, key, block):
    arguments = [np.uint64(word) for word in words(counter) + words(key)]
    assert rng.philox4x32(*arguments) == words(block)
    assert oracle.philox4x32_10(words(counter), words(key)) == words(block)


@given(key=KEYS, indices=st.lists(INDICES, min_size=1, max_size=7), attempt=WORDS, blocks=st.integers(1, 8))
@example(key=(1, 2), indices=[0, 2**32 - 1, 2**32, 2**62], attempt=3, blocks=5)
def test_draws_equal_the_oracles(key, indices, attempt, blocks):
    draws = np.empty((2 * blocks, len(indices)), np.uint64)
    rng.fill_draws(draws, as_key(key), np.array(indices, np.uint64), np.uint64(attempt))
    expected = [[oracle.draw(key, index, attempt, d) for index in indices] for d in range(2 * blocks)]
    assert draws.tolist() == expected


@given(key=KEYS, index=INDICES, attempt=WORDS, number=st.integers(0, 15), redraws=st.integers(0, 2**16 - 1))
def test_redraws_equal_the_oracles(key, index, attempt, number, redraws):
    arguments = map(np.uint64, (index, attempt, number, redraws))
    assert rng.redraw(as_key(key), *arguments) == oracle.draw(key, index, attempt, number, redraws)


@given(name=st.dictionaries(st.text(min_size=1, max_size=9), st.integers() | st.text(max_size=9), max_size=5))
def test_keys_equal_the_oracles(name):
    assert tuple(rng.derive_key(**name).tolist()) == oracle.derive_key(**name)


def test_a_key_is_the_start_of_a_sha_256():
    # printf '{"split":"ood"}' | sha256sum  ->  fb4df5dd c5f792c7 ..., two little-endian words
    assert canonical_json({"split": "ood"}) == '{"split":"ood"}'
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"x": float("nan")})
    assert digest({"split": "ood"}).startswith("fb4df5ddc5f792c7")
    assert [hex(word) for word in rng.derive_key(split="ood").tolist()] == ["0xddf54dfb", "0xc792f7c5"]


@pytest.mark.parametrize(
    ("width", "ranges"), [(8, [3]), (8, [3, 5]), (9, [7, 2, 3]), (10, [6, 6, 6]), (12, [5, 4, 3, 6])]
)
def test_bounded_numbers_are_exactly_uniform(width, ranges):
    # The proof by counting: every input of a small generator is tried.
    outcomes = [oracle.cut(bits, ranges, width) for bits in range(2**width)]
    kept = Counter(tuple(numbers) for numbers, acceptable in outcomes if acceptable)
    assert set(kept) == set(product(*map(range, ranges)))
    assert set(kept.values()) == {2**width // prod(ranges)}


CHAINS = [
    *([2], [3, 5, 7], [330, 24], [24, 24], [50_388, 720, 7, 8, 9, 10, 11, 12]),
    *([255 * 255] * 3, [256 * 256] * 3, [200, 199, 198, 6, 6, 6], [65_536, 65_536, 65_535]),
]


@pytest.mark.parametrize("ranges", CHAINS)
@given(draw=st.integers(0, 2**64 - 1))
@example(draw=0)
@example(draw=2**48 - 1)
@example(draw=2**64 - 1)
def test_kernel_cuts_the_oracles_numbers(ranges, draw):
    # A kernel called from Python returns plain integers, and would take them back as signed ones.
    bits, numbers = rng.chain(np.uint64(draw)), []
    for limit in ranges:
        number, bits = rng.bounded(np.uint64(bits), np.uint64(limit))
        numbers.append(number)
    assert (numbers, bits >= rng.rejection_threshold(*ranges)) == oracle.cut(draw % 2**48, ranges)


@pytest.mark.parametrize("ranges", CHAINS)
def test_threshold_leaves_every_outcome_the_same_number_of_inputs(ranges):
    threshold = rng.rejection_threshold(*ranges)
    # The remainders from the threshold on hold equally many multiples of the product for every outcome.
    assert 0 <= threshold < prod(ranges)
    assert (2**48 - threshold) % prod(ranges) == 0


@pytest.mark.parametrize("ranges", [[65_537], [65_536] * 3 + [2]])
def test_a_chain_too_long_for_its_bits_is_a_programming_error(ranges):
    with pytest.raises(AssertionError):
        rng.rejection_threshold(*ranges)


@given(key=KEYS, attempt=st.integers(0, 2**20), length=st.sampled_from([0, 1, 2, 3, 5, 36, 330]))
def test_shuffle_is_the_oracles_permutation(key, attempt, length):
    values = np.arange(length, dtype=np.int32)
    rng.shuffle(values, as_key(key), np.uint64(attempt))
    assert sorted(values.tolist()) == list(range(length))
    assert values.tolist() == oracle.shuffled(length, key, attempt)


def test_shuffle_of_its_greatest_length_is_a_permutation():
    values = np.arange(2**16, dtype=np.int32)
    rng.shuffle(values, as_key((3, 5)), np.uint64(0))
    assert np.array_equal(np.sort(values), np.arange(2**16))
