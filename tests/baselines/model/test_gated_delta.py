"""Gated DeltaNet against loops over tokens: the module, its chunks and gradients; what it refuses."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.gated_delta import draw_dt, gated_delta_rule
from helpers.derivatives import assert_runs_side_by_side, draw, values_and_gradients
from helpers.small_models import B, T, attention_of, small


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_token(query, key, value, decay, rate):
    """Compute the rule as it is written, one token after the other, in float64."""
    out = np.zeros(value.shape)
    for b, h in np.ndindex(B, value.shape[2]):
        state = np.zeros((value.shape[3], key.shape[3]))
        for t in range(T):
            q, k, v, beta = (x[b, t, h] for x in (query, key, value, rate))
            erase = np.eye(len(k)) - beta * np.outer(k, k)
            state = state @ (np.exp(decay[b, t, h]) * erase) + beta * np.outer(v, k)
            out[b, t, h] = state @ q
    return out


def oracle(params, x_BTE, from_left):
    """Read token by token; the heads from ``from_left`` on, from the last token to the first."""

    def project(name):
        return np.tensordot(x_BTE, params[name]["kernel"], 1) + params[name]["bias"]

    query, key, value = (project(name) * sigmoid(project(name)) for name in ("query", "key", "value"))
    query, key = (x / np.sqrt((x**2).sum(axis=-1, keepdims=True) + 1e-6) for x in (query, key))
    decay = -np.exp(params["scale"]) * np.log1p(np.exp(project("step")))
    arrays = query, key, value, decay, sigmoid(project("rate"))
    out = by_token(*arrays)
    out[:, :, from_left:] = by_token(*(each[:, ::-1] for each in arrays))[:, ::-1, from_left:]
    normal = out / np.sqrt((out**2).mean(axis=-1, keepdims=True) + 1e-5) * params["norm"]["scale"]
    return np.tensordot(normal, params["out"]["kernel"], 2) + params["out"]["bias"]


@pytest.mark.parametrize(("heads", "from_left"), [(1, 1), (3, 2)])
def test_outputs_and_gradients_equal_those_of_loops(heads, from_left, equals_loops):
    """Half of the heads from the left. There are no codes."""
    module, *inputs = attention_of(small(attention="gated_delta", heads=heads, dtype="float64"))
    equals_loops(
        lambda params, x_BTE: module.apply({"params": params}, x_BTE, None),
        lambda params, x_BTE: (oracle(params, x_BTE, from_left), None),
        *inputs,
    )


def drawn(seed=0):
    """Return what the rule is given, values wider than keys."""
    query, key = (draw(B, T, 3, 2, seed=2 * seed + each) for each in range(2))
    key /= np.linalg.norm(key, axis=-1, keepdims=True)
    decay, rate = -np.exp(draw(B, T, 3, seed=2 * seed)), sigmoid(draw(B, T, 3, seed=2 * seed + 1))
    return [query, key, draw(B, T, 3, 5, seed=seed), decay, rate]


@pytest.mark.parametrize("chunk", [1, 4, T, 64])
def test_chunks_of_any_length_are_the_rule(chunk, equals_loops):
    equals_loops(partial(gated_delta_rule, chunk=chunk), by_token, *drawn())


def test_vmap_over_runs():
    """A grid of runs trains under vmap, of which a triangular solver has to know."""
    runs = [[jnp.asarray(x, jnp.float32) for x in drawn(seed)] for seed in range(2)]
    gradients = jax.grad(lambda *arrays: jnp.sin(gated_delta_rule(*arrays)).sum(), range(5))
    assert_runs_side_by_side(gradients, runs, 1e-4)


def test_a_state_that_decays_at_once_holds_its_token_alone():
    query, key, value, _, rate = (jnp.asarray(x, jnp.float32) for x in drawn())
    decay = jnp.full_like(rate, -1e4)
    found, *grads = values_and_gradients(gated_delta_rule, [query, key, value, decay, rate])
    own = (rate * (query * key).sum(axis=-1))[..., None] * value
    np.testing.assert_allclose(found, own, rtol=1e-5, atol=1e-6)
    assert all(np.isfinite(grad).all() for grad in grads)


def test_dt_is_drawn_from_two_powers_of_ten():
    step = np.log10(jax.nn.softplus(draw_dt(jax.random.key(0), (1000,))))
    np.testing.assert_allclose([step.min(), step.mean(), step.max()], [-3, -2, -1], atol=0.1)
