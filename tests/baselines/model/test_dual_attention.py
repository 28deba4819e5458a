"""Dual attention against loops over pairs of tokens: outputs, weights and gradients; what it refuses."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import dropout_gate
from baselines.model.position import relative_buckets
from helpers.refusals import assert_refused
from helpers.small_models import B, T, attention_of, initialised, small

HEADS, RELATIONAL = 5, 2
BUCKETS = relative_buckets(T, 13, bidirectional=False)


def oracle(params, x_BTE, gate):
    """Return output and weights, in float64."""

    def project(name):
        return np.tensordot(x_BTE, params[name]["kernel"], 1) + params[name]["bias"]

    query, key, value, of_query, of_key = map(
        project, ("query", "key", "value", "relation_query", "relation_key")
    )
    heads, width = query.shape[2:]
    ordinary, codes = value.shape[2], np.zeros((B, heads, T, T))
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


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_outputs_weights_and_gradients_equal_those_of_loops(dropout, equals_loops):
    """Three ordinary heads and two relational ones, of width 4. Dropout is of the weights of all heads."""
    sizes = {"heads": HEADS, "qkv_width": 4 * HEADS, "attention_dropout": dropout}
    module, params, x_BTE = attention_of(small(attention="dual", dtype="float64", **sizes))
    assert params["value"]["kernel"].shape == (17, HEADS - RELATIONAL, 4)
    assert params["relation_key"]["kernel"].shape == (17, RELATIONAL, 2)
    key = jax.random.key(3)
    gate = np.asarray(dropout_gate(dropout, key, T, T, jnp.float64))
    run = partial(module.apply, dropout_key=key)
    equals_loops(lambda params, x: run({"params": params}, x), partial(oracle, gate=gate), params, x_BTE)


def test_one_head_is_refused():
    assert_refused("heads=1: dual attention has heads of two", initialised, small(attention="dual", heads=1))
