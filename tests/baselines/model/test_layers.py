"""The layers by formulas in NumPy, their gradients by finite differences, their parameters beside Flax's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from baselines.model.fast.layers import Dense, LayerNorm, bfloat16_dot_general, gelu, layer_norm
from helpers import derivatives

B, T, E = 2, 3, 7
RNG = np.random.default_rng(0)
ARRAYS = {"x": RNG.normal(1, 2, (B, T, E)), "scale_E": RNG.normal(size=E), "bias_E": RNG.normal(size=E)}


def layer_norm_by_formula(x, scale_E, bias_E):
    deviation = x - x.mean(axis=-1, keepdims=True)
    return deviation / np.sqrt((deviation**2).mean(axis=-1, keepdims=True) + 1e-6) * scale_E + bias_E


@pytest.mark.parametrize(
    ("layer", "formula", "names"),
    [(layer_norm, layer_norm_by_formula, ARRAYS), (gelu, derivatives.gelu, "x")],
)
def test_values_and_gradients(layer, formula, names, equals_loops):
    equals_loops(layer, formula, *(ARRAYS[name] for name in names), rtol=1e-12)


def test_a_token_without_variance():
    """All entries alike: the output is the bias, and the gradient is finite."""
    x = jnp.full((1, E), 0.1)
    out, pull = jax.vjp(layer_norm, x, jnp.ones(E), jnp.arange(float(E)))
    np.testing.assert_allclose(out[0], np.arange(E), atol=1e-3)
    assert all(np.isfinite(grad).all() for grad in pull(jnp.ones_like(out)))


@pytest.mark.parametrize(
    ("own", "flax"),
    [
        (LayerNorm(), nn.LayerNorm(epsilon=1e-6)),
        (Dense(5), nn.Dense(5)),
        (Dense((2, 3)), nn.DenseGeneral((2, 3))),
    ],
)
def test_parameters_are_those_of_flax(own, flax):
    """By name and to the bit: a checkpoint of a model with Flax's layers is one of this."""
    x = jnp.asarray(ARRAYS["x"], jnp.float32)
    (found, params), (wanted, theirs) = (each.init_with_output(jax.random.key(0), x) for each in (own, flax))
    jax.tree.map(np.testing.assert_array_equal, params, theirs)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize(("axes", "outputs"), [((E,), (3,)), ((2, E), (3,)), ((E,), (3, 2))])
def test_bfloat16_rounds_inputs_and_adds_up_in_float32(axes, outputs):
    """And so do the two products of its gradients; a batch of runs is one run after the other."""
    tokens, kernel = (RNG.normal(size=shape).astype(np.float32) for shape in ((5, *axes), (*axes, *outputs)))

    def product(tokens, kernel):
        return bfloat16_dot_general(tokens, kernel, None)

    out, pull = jax.vjp(product, tokens, kernel)
    grad = RNG.normal(size=out.shape).astype(np.float32)
    left, right, back = (np.float64(each.astype(jnp.bfloat16)) for each in (tokens, kernel, grad))
    inner = tuple(range(1, back.ndim)), tuple(range(len(axes), right.ndim))
    expected = (
        np.tensordot(left, right, len(axes)),
        np.tensordot(back, right, inner),
        np.tensordot(left, back, (0, 0)),
    )
    for found, wanted in zip((out, *pull(jnp.asarray(grad))), expected, strict=True):
        assert found.dtype == jnp.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    twice = jax.vmap(product)(*(np.stack([each, 2 * each]) for each in (tokens, kernel)))
    np.testing.assert_allclose(twice, np.stack([out, 4 * out]), rtol=1e-5, atol=1e-5)
