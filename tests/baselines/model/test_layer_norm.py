"""LayerNorm by its formula in NumPy, its gradient by finite differences, its parameters beside Flax's."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from baselines.model.layer_norm import LayerNorm, normalise

B, T, E = 2, 3, 7


def arrays():
    rng = np.random.default_rng(0)
    return {"x": rng.normal(1, 2, (B, T, E)), "scale": rng.normal(size=E), "bias": rng.normal(size=E)}


def by_formula(x, scale, bias):
    deviation = x - x.mean(axis=-1, keepdims=True)
    return deviation / np.sqrt((deviation**2).mean(axis=-1, keepdims=True) + 1e-6) * scale + bias


def test_values_and_gradients(float64):
    given = arrays()

    def total(given):
        out = normalise(given["x"], given["scale"], given["bias"])
        return jnp.sin(out).sum(), out

    (_, out), grads = jax.jit(jax.value_and_grad(total, has_aux=True))(jax.tree.map(jnp.asarray, given))
    np.testing.assert_allclose(out, by_formula(**given), rtol=1e-12, atol=1e-12)
    for name, grad in grads.items():
        step = 1e-6 * np.random.default_rng(1).normal(size=grad.shape)
        ends = [np.sin(by_formula(**{**given, name: given[name] + sign * step})).sum() for sign in (1, -1)]
        np.testing.assert_allclose((grad * step).sum(), (ends[0] - ends[1]) / 2, rtol=1e-6)


def test_a_token_without_variance():
    """All entries alike: the output is the bias, and the gradient is finite."""
    x = jnp.full((1, E), 0.1)
    out, pull = jax.vjp(normalise, x, jnp.ones(E), jnp.arange(float(E)))
    np.testing.assert_allclose(out[0], np.arange(E), atol=1e-3)
    assert all(np.isfinite(grad).all() for grad in pull(jnp.ones_like(out)))


def test_parameters_are_named_as_flax_names_them():
    """So a checkpoint of a model with Flax's layer is one of this."""
    x = jnp.asarray(arrays()["x"], jnp.float32)
    own, flax = (
        layer.init_with_output(jax.random.key(0), x) for layer in (LayerNorm(), nn.LayerNorm(epsilon=1e-6))
    )
    jax.tree.map(lambda found, wanted: np.testing.assert_allclose(found, wanted, atol=1e-6), own, flax)
