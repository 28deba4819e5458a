"""Dual attention against loops over pairs of tokens: outputs, weights and gradients; what it refuses."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import dropout_gate
from baselines.model.position import relative_buckets
from helpers.derivatives import assert_is_gradient, draw
from helpers.small_models import (
    FUZZY_LOGIC,
    SRAVEN,
    B,
    T,
    attention_of,
    count,
    initialised,
    parameters,
    small,
    tokens_of,
)
from sraven import ConfigurationError

HEADS, RELATIONAL = 5, 2
BUCKETS = relative_buckets(T, T, 13, 13, bidirectional=False)


def five_heads(**changes):
    """Three ordinary heads and two relational ones, of width 4."""
    return attention_of(small(attention="dual", heads=HEADS, qkv_width=4 * HEADS, dtype="float64", **changes))


def oracle(params, x_BTE, gate=None, codes=None):
    """Return output and weights, in float64, the weights computed unless given."""

    def project(name):
        return np.tensordot(x_BTE, params[name]["kernel"], 1) + params[name]["bias"]

    query, key, value, of_query, of_key = map(
        project, ("query", "key", "value", "relation_query", "relation_key")
    )
    heads, width = query.shape[2:]
    ordinary, gate = value.shape[2], np.ones((T, T)) if gate is None else gate
    if codes is None:
        codes = np.zeros((B, heads, T, T))
        for b, h, q in np.ndindex(B, heads, T):
            scores = [
                query[b, q, h] @ key[b, k, h] / np.sqrt(width) + params["position"][h, BUCKETS[q, k]]
                for k in range(T)
            ]
            codes[b, h, q] = np.exp(scores) / np.exp(scores).sum()
    out = np.zeros(query.shape)
    for b, h, q, k in np.ndindex(B, heads, T, T):
        if h < ordinary:
            sent = value[b, k, h]
        else:
            relation = (of_query[b, q] * of_key[b, k]).sum(axis=1) / np.sqrt(of_key.shape[3])
            sent = relation @ params["projection"][:, h - ordinary] + params["symbols"][k, h - ordinary]
        out[b, q, h] += codes[b, h, q, k] * gate[q, k] * sent
    return np.tensordot(out, params["out"]["kernel"], 2) + params["out"]["bias"], codes


def test_outputs_weights_and_gradients_equal_those_of_loops(float64):
    """Gradients as finite differences of the loops."""
    module, *inputs = five_heads()
    assert inputs[0]["value"]["kernel"].shape == (17, HEADS - RELATIONAL, 4)
    assert inputs[0]["relation_key"]["kernel"].shape == (17, RELATIONAL, 2)
    weights = draw(B, T, 17, seed=3), draw(B, HEADS, T, T, seed=3)

    def weighted(found):
        return sum((x * y).sum() for x, y in zip(found, weights, strict=True))

    def look(params, x_BTE):
        found = module.clone(return_codes=True).apply({"params": params}, x_BTE, None, None)
        return weighted(found), found

    (_, found), grads = jax.jit(jax.value_and_grad(look, (0, 1), has_aux=True))(
        *jax.tree.map(jnp.asarray, inputs)
    )
    for array, wanted in zip(found, oracle(*inputs), strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-10, atol=1e-12)
    assert_is_gradient(grads, lambda inputs: weighted(oracle(*inputs)), inputs)


def test_dropout_and_edits_are_of_the_weights_of_all_heads(float64):
    """Weights are returned as edited, before dropout, which is the other attentions'."""
    module, params, x_BTE = five_heads(attention_dropout=0.4)
    key, other = jax.random.key(3), jnp.asarray(draw(B, HEADS, T, T))
    gate = np.asarray(dropout_gate(0.4, key, T, T, jnp.float64))
    for edit, codes in ((None, None), (lambda codes: other, np.asarray(other))):
        apply = jax.jit(partial(module.clone(return_codes=True).apply, edit_codes=edit))
        found = apply({"params": params}, jnp.asarray(x_BTE), None, key)
        for array, wanted in zip(found, oracle(params, x_BTE, gate, codes), strict=True):
            np.testing.assert_allclose(array, wanted, rtol=1e-10, atol=1e-12)
    assert jax.eval_shape(lambda x: module.apply({"params": params}, x, None, None)[1], x_BTE) is None


@pytest.mark.parametrize(
    "changes", [{"attention_dropout": 0.3}, {"position": "rotary"}, {"dtype": "bfloat16"}]
)
def test_outputs_of_the_last_tokens_are_what_they_give_among_all(changes):
    model, params = initialised(small(attention="dual", layers=2, **changes))
    tokens, key = tokens_of(model.config), jax.random.key(5)
    (last, codes), (among_all, all_codes) = jax.jit(
        lambda tokens: [
            model.apply(params, tokens, key, num_outputs=each, return_codes=True) for each in (3, None)
        ]
    )(tokens)
    assert last.dtype == codes[1].dtype == jnp.float32
    np.testing.assert_allclose(last, among_all[:, -3:], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(codes[1], all_codes[1][:, :, -3:], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "given", "message"),
    [
        ({}, {"mask": np.ones((T, T), bool)}, "tokens that all see each other: no mask"),
        ({"causal": True}, {}, "not causal"),
        ({}, {"mutable": ["cache"]}, "no cache"),
        ({"heads": 1}, {}, "heads=1: dual attention has heads of two kinds"),
    ],
)
def test_what_it_lacks_is_refused(changes, given, message):
    model, params = initialised(small(attention="dual"))
    model = type(model)(replace(model.config, **changes))
    with pytest.raises(ConfigurationError, match=message):
        model.apply(params, tokens_of(model.config), **given)


@pytest.mark.parametrize(("config", "total"), [(SRAVEN, 408_456), (FUZZY_LOGIC, 151_841)])
def test_parameters_are_nearly_as_many_as_the_transformers(config, total):
    assert count(parameters(replace(config, attention="dual"))) == total
    assert total == pytest.approx(count(parameters(config)), rel=0.05)
