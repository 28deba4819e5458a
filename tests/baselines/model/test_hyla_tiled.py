"""Attention in tiles equals the plain form, in value and every gradient.

Axes have different primes: B=2, H=3, D=5, V=7, Q=23 and K=29, in tiles of 5 and 11 that divide neither.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ATTENTION, with_form
from baselines.model.hyla_tiled import hyla_tiled
from sraven import ConfigurationError

B, H, D, V, Q, K = 2, 3, 5, 7, 23, 29
TILES = {"query_tile": 5, "key_tile": 11}


def draw(*shape):
    return np.random.default_rng(shape).normal(size=shape)


def arrays(queries=Q, keys=K, width=V):
    return [draw(B, queries, H, D), draw(B, keys, H, D), draw(B, keys, H, width), draw(H, queries, keys)]


def visible_keys(keys=K):
    """A mask that hides some keys of each instance from all queries."""
    return np.random.default_rng(5).random((B, 1, 1, keys)) < 0.6


def values_and_gradients(attention, inputs, dtype):
    def weighted(*inputs):
        out = attention(*inputs)
        return (out * draw(*out.shape).astype(dtype)).sum(), out

    argnums = tuple(at for at, array in enumerate(inputs) if array is not None)
    inputs = [None if array is None else jnp.asarray(array, dtype) for array in inputs]
    (_, out), grads = jax.jit(jax.value_and_grad(weighted, argnums, has_aux=True))(*inputs)
    return out, *grads


def compare(tiled, plain, inputs, dtype, tolerance):
    found, wanted = (values_and_gradients(attention, inputs, dtype) for attention in (tiled, plain))
    for array, expected in zip(found, wanted, strict=True):
        assert array.shape == expected.shape
        assert array.dtype == expected.dtype == dtype
        scale = np.abs(np.asarray(expected, np.float64)).max()
        assert np.abs(np.asarray(array - expected, np.float64)).max() <= tolerance * scale


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float32, 1e-5), (jnp.bfloat16, 0.03)])
def test_across_sequences_with_keys_hidden_and_bias(dtype, tolerance):
    mask = visible_keys()
    compare(
        lambda *inputs: hyla_tiled(*inputs, mask, activation="silu", **TILES),
        lambda *inputs: ATTENTION["hyla"](*inputs, mask, activation="silu"),
        arrays(),
        dtype,
        tolerance,
    )


@pytest.mark.parametrize(
    ("variant", "tiles"),
    [("hyla", TILES), ("linear_rmshead_nonlinear", {"query_tile": 11, "key_tile": 5})],
)
def test_causal(variant, tiles, float64):
    """Tiles that no query of a tile may see are skipped, and no others."""
    earlier = np.tri(Q, dtype=bool)
    compare(
        lambda *inputs: hyla_tiled(*inputs, variant=variant, causal=True, **tiles),
        lambda *inputs: ATTENTION[variant](*inputs, earlier),
        arrays(Q, Q),
        jnp.float64,
        1e-12,
    )


def test_any_mask_without_bias_and_narrow_values(float64):
    mask = np.random.default_rng(9).random((B, H, Q, K)) < 0.5
    compare(
        lambda *inputs: hyla_tiled(*inputs, mask, **TILES),
        lambda *inputs: ATTENTION["hyla"](*inputs, mask),
        [*arrays(width=2)[:3], None],
        jnp.float64,
        1e-12,
    )


def test_tiles_that_divide_or_exceed_the_lengths(float64):
    mask = visible_keys() & np.tri(Q, K, dtype=bool)
    compare(
        lambda *inputs: hyla_tiled(*inputs, visible_keys(), causal=True, query_tile=23, key_tile=1000),
        lambda *inputs: ATTENTION["hyla"](*inputs, mask),
        arrays(),
        jnp.float64,
        1e-12,
    )


def test_dropout_drops_what_the_plain_form_drops(float64):
    dropout = {"dropout_rate": 0.4, "dropout_key": jax.random.key(1)}
    compare(
        lambda *inputs: hyla_tiled(*inputs, **TILES, **dropout),
        lambda *inputs: ATTENTION["hyla"](*inputs, **dropout),
        arrays(),
        jnp.float64,
        1e-12,
    )


def test_memory_grows_with_a_tile_not_with_all_pairs():
    """By the compiler's own account: no array of all pairs of positions and values exists."""

    def bytes_of(length):
        shapes = [jax.ShapeDtypeStruct((1, length, 2, 16), jnp.float32)] * 3
        gradient = jax.grad(lambda *inputs: hyla_tiled(*inputs, causal=True).sum(), (0, 1, 2))
        return jax.jit(gradient).lower(*shapes).compile().memory_analysis().temp_size_in_bytes

    short, long = bytes_of(512), bytes_of(1024)
    one_array_of_pairs, one_input = 4 * 1024**2 * 16, 4 * 1024 * 2 * 16
    assert long < one_array_of_pairs / 8
    assert long - short < 12 * one_input


def test_errors():
    inputs = [jnp.asarray(array, jnp.float32) for array in arrays()]
    assert set(with_form("tiled")) == {
        "linear",
        "hyla",
        "linear_rmshead",
        "linear_rmshead_nonlinear",
        "hyla_no_rmshead",
        "hyla_linear",
        "hyla_linear_no_rmshead",
    }
    with pytest.raises(ConfigurationError, match=r"variant='softmax': .*expected one of linear, hyla"):
        hyla_tiled(*inputs, variant="softmax")
    with pytest.raises(ConfigurationError, match="key_tile=0: expected an integer from 1"):
        hyla_tiled(*inputs, key_tile=0)
    with pytest.raises(
        ConfigurationError, match=r"bias has shape \[3, 23, 29\]; expected \[H=3, Q=29, K=29\]"
    ):
        hyla_tiled(inputs[1], *inputs[1:])
