"""Dual attention against loops over pairs of tokens: outputs, weights and gradients; what it refuses."""

import numpy as np

from baselines.model.position import relative_buckets
from helpers.refusals import assert_refused
from helpers.small_models import initialised, small

HEADS, RELATIONAL, T = 5, 2, 6
BUCKETS = relative_buckets(T, 13, bidirectional=False)


def oracle(params, x_TE, gate_QK):
    """Return the output of one instance ``[T, E]``, and its weights ``[H, T, T]``."""

    def project(name):
        return np.tensordot(x_TE, params[name]["kernel"], 1) + params[name]["bias"]

    query, key, value, of_query, of_key = map(
        project, ("query", "key", "value", "relation_query", "relation_key")
    )
    heads, width = query.shape[1:]
    ordinary, codes = value.shape[1], np.zeros((heads, T, T))
    for h, q in np.ndindex(heads, T):
        biases = params["position"][h, BUCKETS[q]]
        scores = [query[q, h] @ key[k, h] / np.sqrt(width) + biases[k] for k in range(T)]
        codes[h, q] = np.exp(scores) / np.exp(scores).sum()
    out = np.zeros(query.shape)
    for h, q, k in np.ndindex(heads, T, T):
        if h < ordinary:
            sent = value[k, h]
        else:
            relation = (of_query[q] * of_key[k]).sum(axis=1) / np.sqrt(of_key.shape[2])
            sent = relation @ params["projection"][:, h - ordinary] + params["symbols"][k, h - ordinary]
        out[q, h] += codes[h, q, k] * gate_QK[q, k] * sent
    return np.tensordot(out, params["out"]["kernel"], 2) + params["out"]["bias"], codes


def test_outputs_weights_and_gradients_equal_those_of_loops(equals_oracle):
    """Three ordinary heads and two relational ones, of width 4. Dropout is of the weights of all heads."""
    sizes = {"heads": HEADS, "qkv_width": 4 * HEADS, "attention_dropout": 0.4}
    params, *_ = equals_oracle(small(attention="dual", dtype="float64", **sizes), T, oracle)
    assert params["value"]["kernel"].shape == (17, HEADS - RELATIONAL, 4)
    assert params["relation_key"]["kernel"].shape == (17, RELATIONAL, 2)


def test_one_head_is_refused():
    assert_refused("heads=1: dual attention has heads of two", initialised, small(attention="dual", heads=1))
