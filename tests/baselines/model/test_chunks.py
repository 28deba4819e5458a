"""Linear attention in chunks equals loops, in value and every gradient.

Axes have different primes: B=2, H=3, D=5, V=7 and T=23, in chunks that divide, exceed and don't divide it.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.fast.chunks import linear_chunked
from helpers.derivatives import assert_runs_side_by_side, draw, memory_of_gradient

B, H, D, V, T = 2, 3, 5, 7, 23
CHUNKS = (1, 5, T, 64)


def arrays():
    """Query, key and value."""
    return draw(B, T, H, D), draw(B, T, H, D, seed=1), draw(B, T, H, V)


def loops(query, key, value):
    """One pair of positions after the other, in float64."""
    out = np.zeros(value.shape)
    for b, q, h in np.ndindex(*query.shape[:3]):
        for k in range(q + 1):
            out[b, q, h] += query[b, q, h] @ key[b, k, h] / np.sqrt(query.shape[3]) * value[b, k, h]
    return out


@pytest.mark.parametrize("chunk", CHUNKS)
def test_values_and_gradients_equal_those_of_loops(chunk, equals_loops):
    equals_loops(partial(linear_chunked, chunk=chunk), loops, *arrays(), rtol=1e-12)


def test_vmap_over_runs(float64):
    gradients = jax.grad(lambda *inputs: jnp.sin(linear_chunked(*inputs, chunk=5)).sum(), range(3))
    runs = [[jnp.asarray(factor * array) for array in arrays()] for factor in (1, 2)]
    assert_runs_side_by_side(gradients, runs, 1e-10)


def test_half_precision_is_added_up_in_single():
    """In bfloat16 itself, 256 + 1 is 256."""
    ones = jnp.ones((1, 1000, 1, 1), jnp.bfloat16)
    for chunk in (1, 64, 1000):
        out = jax.jit(partial(linear_chunked, chunk=chunk))(ones, ones, ones)
        # Two roundings: that of the state as a factor, and that of the output.
        np.testing.assert_allclose(out.astype(jnp.float32).ravel(), np.arange(1, 1001), rtol=2**-7)


def test_memory_grows_with_tokens_not_with_pairs():
    """By the compiler's own account: no array of all pairs, and no state of each token."""

    def attention(*inputs):
        return linear_chunked(*inputs, chunk=32)

    short, long, longest = (memory_of_gradient(attention, 1, T, 2, 16) for T in (512, 1024, 2048))
    pairs, states = 4 * 2 * 2048**2, 4 * 2 * 2048 * 16**2
    assert longest < min(pairs, states)
    np.testing.assert_allclose((longest - long) / (long - short), 2, rtol=0.1)
