"""Dual attention against loops over pairs of tokens: outputs, weights and gradients; what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np

from baselines.model.attention import dropout_gate
from baselines.model.position import relative_buckets
from helpers.refusals import assert_refused
from helpers.small_models import B, T, attention_of, initialised, small

HEADS, RELATIONAL = 5, 2
BUCKETS = relative_buckets(T, 13, bidirectional=False)


def five_heads(**changes):
    """Three ordinary heads and two relational ones, of width 4."""
    return attention_of(small(attention="dual", heads=HEADS, qkv_width=4 * HEADS, dtype="float64", **changes))


def oracle(params, x_BTE, gate=None):
    """Return output and weights, in float64, the weights computed unless given."""

    def project(name):
        return np.tensordot(x_BTE, params[name]["kernel"], 1) + params[name]["bias"]

    query, key, value, of_query, of_key = map(
        project, ("query", "key", "value", "relation_query", "relation_key")
    )
    heads, width = query.shape[2:]
    ordinary, gate = value.shape[2], np.ones((T, T)) if gate is None else gate
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


def test_outputs_weights_and_gradients_equal_those_of_loops(equals_loops):
    module, params, x_BTE = five_heads()
    assert params["value"]["kernel"].shape == (17, HEADS - RELATIONAL, 4)
    assert params["relation_key"]["kernel"].shape == (17, RELATIONAL, 2)
    equals_loops(lambda params, x: module.apply({"params": params}, x, None), oracle, params, x_BTE)


def test_dropout_is_of_the_weights_of_all_heads(float64):
    """Weights are returned before dropout, which is the other attentions'."""
    module, params, x_BTE = five_heads(attention_dropout=0.4)
    key = jax.random.key(3)
    gate = np.asarray(dropout_gate(0.4, key, T, T, jnp.float64))
    found = jax.jit(module.apply)({"params": params}, jnp.asarray(x_BTE), key)
    for array, wanted in zip(found, oracle(params, x_BTE, gate), strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-10, atol=1e-12)


def test_one_head_is_refused():
    assert_refused("heads=1: dual attention has heads of two", initialised, small(attention="dual", heads=1))
