"""The whole model: causality by gradient, latent codes, dropout, precision."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import MODULES, find_module
from baselines.model.products import multiply
from baselines.model.transformer import Transformer
from helpers.small_models import TEXT, B, T, initialised, parameters, small, tokens_of


@pytest.mark.parametrize(
    "changes",
    [
        {"causal": False, "attention": "linear"},
        {"attention": "softmax"},
        {"activation": "silu"},
        {"attention": "linear", "position": "rotary", "feedforward": "moe"},
        {"activation": "silu", "position": "rotary", "tile": 4},
    ],
)
def test_causality_by_gradient(changes):
    config = small(**{"causal": True, **changes})
    model, params = initialised(config)
    at = 6

    @jax.jit
    def gradient(tokens):
        return jax.grad(lambda tokens: model.apply(params, tokens)[:, at].sum())(tokens)

    grad = np.asarray(gradient(tokens_of(config)))
    assert grad[:, : at + 1].any(axis=(0, 2)).all()
    assert grad[:, at + 1 :].any() != config.causal


@pytest.mark.parametrize(
    "changes",
    [
        {"attention": "softmax", "attention_dropout": 0.3},
        {"causal": True, "position": "rotary"},
        {"tile": 4, "attention_dropout": 0.3},
        {"attention": "linear", "causal": True, "tile": 4, **TEXT, "position": "rotary"},
        {"attention": "softmax", "feedforward": "moe", "rematerialise": True},
        *({"attention": name, "length": T, "attention_dropout": 0.3} for name in MODULES),
    ],
)
def test_outputs_of_the_last_tokens_are_what_they_give_among_all(changes):
    """Outputs and gradients, with dropout where there is some."""
    config = small(**changes)
    model, params = initialised(config)
    tokens, key = tokens_of(config), jax.random.key(5)
    weights = jnp.asarray(np.random.default_rng(4).normal(size=(B, 3, config.vocabulary or 5)), jnp.float32)

    def loss(params, num_outputs):
        out = model.apply(params, tokens, key, num_outputs=num_outputs)[:, -3:]
        return (jnp.sin(out) * weights).sum(), out

    look = jax.value_and_grad(loss, has_aux=True)
    last, among_all = jax.jit(lambda params: (look(params, 3), look(params, None)))(params)
    (found, out), grads = last
    (wanted, whole), wanted_grads = among_all
    np.testing.assert_allclose(out, whole, rtol=1e-4, atol=1e-4 * np.abs(whole).max())
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    for grad, wanted_grad in zip(jax.tree.leaves(grads), jax.tree.leaves(wanted_grads), strict=True):
        np.testing.assert_allclose(grad, wanted_grad, rtol=0, atol=1e-4 * np.abs(wanted_grad).max() + 1e-6)


@pytest.mark.parametrize("name", [name for name in MODULES if find_module(name).has_codes])
def test_codes_of_the_last_tokens_are_what_they_are_among_all(name):
    """With rotary positions and in half precision, from which codes and outputs are in float32."""
    config = small(attention=name, length=T, layers=2, position="rotary", dtype="bfloat16")
    model, params = initialised(config)
    apply = jax.jit(model.apply, static_argnames=("num_outputs", "return_codes"))
    (last, (_, codes)), (whole, (_, all_codes)) = (
        apply(params, tokens_of(config), num_outputs=number, return_codes=True) for number in (3, None)
    )
    assert (codes.dtype, last.dtype) == (jnp.float32, jnp.float32)
    np.testing.assert_allclose(codes, all_codes[:, :, -3:], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(last, whole[:, -3:], rtol=1e-5, atol=1e-5)


def test_dropout_needs_a_key_and_follows_it():
    config = small(attention="linear", attention_dropout=0.5)
    model, params = initialised(config)
    apply = jax.jit(model.apply)
    tokens, keys = tokens_of(config), jax.random.split(jax.random.key(0))
    plain, *dropped = (apply(params, tokens, key) for key in (None, *keys, keys[0]))
    assert not np.allclose(dropped[0], plain)
    assert not np.allclose(dropped[0], dropped[1])
    assert (dropped[0] == dropped[2]).all()
    without = Transformer(small(attention="linear"))
    assert (jax.jit(without.apply)(params, tokens, keys[0]) == plain).all()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {**TEXT, "attention": "linear", "feedforward": "moe"},
        *({"attention": name, "length": T} for name in MODULES),
    ],
)
def test_half_precision(changes):
    """Parameters and outputs stay float32, and outputs near those of full precision."""
    full, half = small(**changes), small(dtype="bfloat16", **changes)
    model, params = initialised(full)
    tokens = tokens_of(full)
    wanted, found = (jax.jit(m.apply)(params, tokens) for m in (model, Transformer(half)))
    assert wanted.dtype == found.dtype == jnp.float32
    assert {leaf.dtype for leaf in jax.tree.leaves(parameters(half))} == {jnp.dtype(jnp.float32)}
    assert np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


def test_half_precision_adds_up_the_gradient_of_a_frequent_token_in_full():
    """In bfloat16 a sum of equal numbers stops growing at 256 of them."""
    tokens = jnp.full((512, 5), 3, jnp.int32)

    def gradient(dtype):
        config = small(dtype=dtype, attention="linear", causal=True, position="rotary", **TEXT)
        model = Transformer(config)
        _, params = initialised(config)

        def loss(params):
            hidden = model.apply(params, tokens, return_hidden=True)
            return hidden[..., 0].sum(dtype=jnp.float32)

        return jax.jit(jax.grad(loss))(params)["params"]["embedding"][3]

    full, half = gradient("float32"), gradient("bfloat16")
    assert np.abs(half - full).max() < 0.05 * np.abs(full).max()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_hidden_states_are_what_the_outputs_are_made_of(dtype):
    """Of the configuration's type, after the last LayerNorm: times the table, they are the outputs."""
    config = small(attention="linear", causal=True, dtype=dtype, **TEXT)
    model, params = initialised(config)
    tokens = tokens_of(config)
    hidden = jax.jit(partial(model.apply, return_hidden=True))(params, tokens)
    assert (hidden.shape, hidden.dtype) == ((B, T, 17), dtype)
    assert "out" not in params["params"]
    found = multiply(jnp.matmul, hidden, params["params"]["embedding"].T, dtype)
    wanted = jax.jit(model.apply)(params, tokens)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=0.05 if dtype == "bfloat16" else 1e-4)


def test_recomputing_blocks_changes_nothing():
    """Neither parameters, as they are drawn, nor outputs nor gradients."""
    changes = {"attention_dropout": 0.2, "causal": True, **TEXT}
    plain, anew = (small(rematerialise=rematerialise, **changes) for rematerialise in (False, True))
    model, other = Transformer(plain), Transformer(anew)
    tokens, key = tokens_of(plain), jax.random.key(5)
    params, same = (jax.jit(each.init)(key, tokens) for each in (model, other))
    jax.tree.map(np.testing.assert_array_equal, params, same)

    def loss(params, model):
        out, (codes,) = model.apply(params, tokens, key, return_codes=True)
        return jnp.sin(out).sum() + jnp.sin(codes).sum()

    (wanted, grads), (found, grads_anew) = (
        jax.jit(jax.value_and_grad(partial(loss, model=each)))(params) for each in (model, other)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-4), grads_anew, grads)
