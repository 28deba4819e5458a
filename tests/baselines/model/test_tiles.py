"""Attention in tiles equals the reference, in value and every gradient.

Axes have different primes: B=2, H=3, D=5, V=7, Q=11 and K=13, in tiles of 3 and 5 that divide neither.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ACTIVATIONS, ATTENTION, ValueNetwork, dropout_gate, with_implementation
from baselines.model.fast.tiles import tiled_attention
from helpers.derivatives import assert_same_values, draw, memory_of_gradient, values_and_gradients

B, H, D, V, Q, K = 2, 3, 5, 7, 11, 13
TILES = {"query_tile": 3, "key_tile": 5}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("hyla", {"dtype": jnp.float32, "phi": "silu", "tolerance": 1e-5}),
        ("hyla", {"dtype": jnp.bfloat16, "phi": "silu", "tolerance": 0.03}),
        ("hyla", {"keys": Q, "causal": True}),
        ("linear_rmshead_nonlinear", {"keys": Q, "causal": True, "query_tile": 5, "key_tile": 3}),
        ("hyla", {"width": 2, "with_bias": False, "dropout": True}),
        ("hyla", {"causal": True, "query_tile": Q, "key_tile": 1000}),
    ],
)
def test_values_and_gradients_of_the_reference(name, changes, float64):
    case = {"dtype": jnp.float64, "phi": "relu", "keys": K, "width": V, "with_bias": True}
    case |= {"causal": False, "dropout": False, "tolerance": 1e-12, **TILES, **changes}
    keys, network = case["keys"], ValueNetwork(ACTIVATIONS[case["phi"]])
    drawn = draw(B, Q, H, D), draw(B, keys, H, D), draw(B, keys, H, case["width"]), draw(H, Q, keys)
    arrays = [jnp.asarray(array, case["dtype"]) for array in drawn]
    arrays[3] = arrays[3] if case["with_bias"] else None
    gate = dropout_gate(0.4, jax.random.key(1), Q, keys, jnp.float64) if case["dropout"] else None
    options = {each: case[each] for each in ("causal", "query_tile", "key_tile")}
    seen = jnp.tri(Q, keys, dtype=bool)[None, None] if case["causal"] else None

    def tiled(*arrays):
        return tiled_attention(ATTENTION[name], *arrays, network, gate, **options)

    def reference(*arrays):
        out, _ = ATTENTION[name](*arrays, seen, network, gate)
        return out.astype(case["dtype"])

    found, wanted = values_and_gradients(tiled, arrays), values_and_gradients(reference, arrays)
    assert_same_values(found, wanted, case["tolerance"])


def test_memory_grows_with_a_tile_not_with_all_pairs():
    """By the compiler's own account: no array of all pairs of positions and values exists."""
    attention = partial(tiled_attention, ATTENTION["hyla"], causal=True)

    short, long = (memory_of_gradient(attention, 1, T, 2, 16) for T in (512, 1024))
    one_array_of_pairs, one_input = 4 * 1024**2 * 16, 4 * 1024 * 2 * 16
    assert long < one_array_of_pairs / 8
    assert long - short < 12 * one_input


@pytest.mark.parametrize("name", with_implementation("tiled"))
def test_attentions_that_can_be_tiled_normalise_pairs(name):
    """A softmax looks at all keys."""
    scores_BHQK = jnp.asarray(draw(B, H, Q, K), jnp.float32)
    some = scores_BHQK[..., 5:]
    alone, among = (ATTENTION[name].normalise(each, None).product() for each in (some, scores_BHQK))
    np.testing.assert_allclose(alone, among[..., 5:], rtol=1e-6)
