"""Every attention against loops written from the paper's equations, and what all of them keep.

Axes have different primes: B=2 instances, H=5 heads, D=7, Q=11 and K=13 positions, V=3 (narrow) or 17.
"""

import json
import math
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import (
    ACTIVATIONS,
    ATTENTION,
    Attention,
    ValueNetwork,
    add_attention,
    dropout_gate,
    figure_a1,
    find_attention,
    weighted_sum,
)
from helpers.derivatives import assert_runs_side_by_side, assert_same_values, draw, gelu, values_and_gradients
from helpers.refusals import assert_refused

B, H, D, Q, K, NARROW, WIDE = 2, 5, 7, 11, 13, 3, 17
NAMES = list(ATTENTION)
PHI = {
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": gelu,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


# The oracle: plain loops, one instance, query and key at a time -------------------------------------


def normalised(kind, a_HK, visible_HK):
    """RMSHead of each pair's scores over heads, softmax of each head's over the keys that are seen."""
    a_HK = np.where(visible_HK, a_HK, 0.0)
    if "rmshead" in kind:
        a_HK = a_HK / np.sqrt((a_HK**2).mean(axis=0) + 1e-6)
    if "softmax" in kind:
        shares_HK = np.where(visible_HK, np.exp(a_HK), 0.0)
        a_HK = shares_HK / shares_HK.sum(axis=1, keepdims=True)
    return a_HK


def value_network(kind, code_H, v_HV, phi, weights):
    """What one pair of positions adds to the output [H, V]."""
    if kind == "sum":
        return code_H[:, None] * v_HV
    if kind == "nonlinear value":
        return code_H[:, None] * phi(v_HV)
    hidden_V = code_H @ v_HV if kind == "mixed linearly" else phi(code_H @ v_HV)
    if kind == "deep":
        hidden_V = phi(hidden_V @ np.tensordot(code_H, weights["deep"], 1))
    return np.outer(code_H, hidden_V)


TABLE = {
    "softmax": ("softmax", "sum"),
    "linear": ("", "sum"),
    "hyla": ("rmshead", "mixed"),
    "linear_rmshead": ("rmshead", "sum"),
    "linear_rmshead_nonlinear": ("rmshead", "nonlinear value"),
    "hyla_no_rmshead": ("", "mixed"),
    "hyla_linear": ("rmshead", "mixed linearly"),
    "hyla_linear_no_rmshead": ("", "mixed linearly"),
    "hyla_softmax": ("softmax", "mixed"),
    "hyla_rmshead_softmax": ("rmshead softmax", "mixed"),
    "hyla_deep": ("rmshead", "deep"),
}


def oracle(name, arrays, weights, bias=None, mask=None, phi="relu", gate=None):
    """Return output and latent codes, in float64."""
    (query, key, value), (kind, network) = arrays, TABLE[name]
    heads, queries, keys = query.shape[2], query.shape[1], key.shape[1]
    mask = np.broadcast_to(True if mask is None else mask, (len(query), heads, queries, keys))
    gate = np.ones((queries, keys)) if gate is None else gate
    out, codes = np.zeros((*query.shape[:3], value.shape[3])), np.zeros(mask.shape)
    for b in range(len(query)):
        for q in range(queries):
            scores = [[query[b, q, h] @ key[b, k, h] for k in range(keys)] for h in range(heads)]
            a_HK = np.array(scores) / math.sqrt(query.shape[3]) + (0 if bias is None else bias[:, q])
            codes[b, :, q] = normalised(kind, a_HK, mask[b, :, q])
            for k in range(keys):
                kept = codes[b, :, q, k] * gate[q, k]
                out[b, q] += value_network(network, kept, value[b, k], PHI[phi], weights)
    return out, codes


# Cases -----------------------------------------------------------------------------------------------


def arrays(name, queries=Q, keys=K, width=NARROW, seed=0):
    """Query, key and value, and the weights of the attention's own."""
    drawn = [draw(*shape, seed=seed) for shape in ((B, queries, H, D), (B, keys, H, D), (B, keys, H, width))]
    own = ATTENTION[name].weights.items()
    return drawn, {each: draw(*kind.shape(H, D, width), seed=seed) for each, kind in own}


def some_mask(queries=Q, keys=K):
    """A mask that differs by instance and head, and shows each query a key."""
    mask = np.random.default_rng(7).random((B, H, queries, keys)) < 0.7
    mask[..., 0] = True
    return mask


def as_jax(tree, dtype):
    return jax.tree.map(lambda array: jnp.asarray(array, dtype), tree)


def attend(name, arrays, weights, bias=None, mask=None, phi="relu", gate=None):
    """Apply an attention: its output and latent codes."""
    return ATTENTION[name](*arrays, bias, mask, ValueNetwork(ACTIVATIONS[phi], weights), gate)


def out_of(name):
    """Return what applies an attention, of its output alone."""
    return lambda *arrays: ATTENTION[name](*arrays)[0]


CASES = [
    *((name, NARROW, "relu", 0.0) for name in NAMES),
    *(("hyla", WIDE, "silu", 0.0), ("hyla_softmax", WIDE, "gelu", 0.0)),
    *(("softmax", NARROW, "relu", 0.4), ("hyla", NARROW, "relu", 0.4)),
]


@pytest.mark.parametrize(("name", "width", "phi", "dropout"), CASES)
def test_values_and_gradients_equal_those_of_loops(name, width, phi, dropout, equals_loops):
    """Across sequences, with mask and bias. Dropout, of both mixes of HYLA, is one for heads and instances.

    Latent codes are those before it.
    """
    gate = np.asarray(dropout_gate(dropout, jax.random.key(3), Q, K, jnp.float64)) if dropout else None
    inputs = *arrays(name, width=width), draw(H, Q, K)
    options = {"mask": some_mask(), "phi": phi, "gate": gate}
    equals_loops(partial(attend, name, **options), partial(oracle, name, **options), *inputs, rtol=1e-12)


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_hyla_is_the_papers_figure(width, float64):
    """The lines of Figure A1, and what is computed in their place: values and gradients."""
    drawn = as_jax(arrays("hyla", width=width)[0], jnp.float64)
    found, wanted = (values_and_gradients(each, drawn) for each in (out_of("hyla"), figure_a1))
    assert_same_values(found, wanted, 1e-10)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, float64):
    x = draw(100)
    np.testing.assert_allclose(ACTIVATIONS[name](jnp.asarray(x)), PHI[name](x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_query_depends_on_the_keys_that_it_sees_alone(name):
    """Causality by gradient. Query 0 sees nothing: its output is 0, and no gradient is NaN."""
    earlier, at = np.tri(Q, k=-1, dtype=bool), 6

    @jax.jit
    def look(arrays, weights):
        out, pull = jax.vjp(lambda *arrays: attend(name, arrays, weights, mask=earlier)[0], *arrays)
        one = jnp.zeros_like(out).at[:, at].set(1.0)
        return out, pull(one), pull(jnp.ones_like(out))

    out, grads_of_one, grads = look(*as_jax(arrays(name, Q, Q), jnp.float32))
    assert not out[:, 0].any()
    assert all(np.isfinite(grad).all() for grad in grads)
    assert not grads[0][:, 0].any()
    grad_query, *grads_seen = grads_of_one
    assert grad_query[:, at].any()
    assert not np.delete(grad_query, at, axis=1).any()
    for grad in grads_seen:
        assert grad[:, :at].any(axis=(0, 2, 3)).all()
        assert not grad[:, at:].any()


def test_vmap_over_runs():
    """A grid of runs trains under vmap, so that adds an axis to everything."""
    runs = [as_jax(arrays("hyla", seed=seed)[0], jnp.float32) for seed in range(2)]
    gradients = jax.grad(lambda *arrays: jnp.sin(out_of("hyla")(*arrays)).sum(), (0, 1, 2))
    assert_runs_side_by_side(gradients, runs, 1e-4)


@pytest.mark.parametrize(
    ("name", "width"), [("hyla", WIDE), ("hyla", NARROW), ("softmax", NARROW), ("hyla_deep", NARROW)]
)
def test_bfloat16(name, width):
    """Half precision in; output and latent codes in float32, near those of full precision."""
    drawn = *arrays(name, width=width), draw(H, Q, K)
    out, codes = jax.jit(partial(attend, name))(*as_jax(drawn, jnp.bfloat16))
    assert (out.dtype, codes.dtype) == (jnp.float32, jnp.float32)
    wanted_out, wanted_codes = oracle(name, *drawn)
    assert np.abs(codes - wanted_codes).max() < 0.03 * np.abs(wanted_codes).max()
    assert np.abs(np.asarray(out, np.float64) - wanted_out).max() < 0.04 * np.abs(wanted_out).max()


# Dropout ---------------------------------------------------------------------------------------------


def test_dropout_keeps_the_mean():
    gate = np.asarray(dropout_gate(0.3, jax.random.key(0), 101, 103, jnp.float32))
    kept = gate != 0
    np.testing.assert_allclose(gate[kept], 1 / 0.7, rtol=1e-6)
    assert abs(kept.mean() - 0.7) < 4 * math.sqrt(0.3 * 0.7 / gate.size)


# Variance at initialisation --------------------------------------------------------------------------

KEPT = Path(__file__).parents[3] / "docs" / "results" / "initial-variance.json"


@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_outputs_of_hyla_have_the_variance_of_its_sums_whatever_the_scale_of_scores(factor):
    """Σ_h a² = H: a hidden layer has H times the variance of values, ReLU leaves half, and T keys add up."""
    tokens, heads = 24, 6
    query, key, value = as_jax([draw(8, tokens, heads, 5, seed=seed) for seed in range(3)], jnp.float32)
    variances = [
        float(out_of(name)(factor * query, key, value).var()) for name in ("hyla", "hyla_no_rmshead")
    ]
    assert variances[0] == pytest.approx(tokens * heads / 2, rel=0.1)
    assert not np.isclose(variances[1], tokens * heads / 2, rtol=0.5)


def test_kept_variances_are_those_of_the_sums():
    result, heads = json.loads(KEPT.read_text())["result"], 16
    for tokens, by_factor in result["hyla"].items():
        for found in by_factor.values():
            assert found["weights"]["value"] == pytest.approx(1, abs=1e-3)
            assert found["outputs"]["value"] == pytest.approx(int(tokens) * heads / 2, rel=0.12)


# Attentions of one's own -----------------------------------------------------------------------------


def test_an_attention_of_ones_own_is_found_by_a_name_that_is_free(monkeypatch):
    own = ATTENTION["hyla"]
    monkeypatch.setitem(ATTENTION, "mine", own)
    del ATTENTION["mine"]  # so that it is gone after the test
    add_attention("mine", own)
    assert find_attention("mine") is own
    for taken in ("mine", "sparse_coding", "none"):
        assert_refused(f"attention '{taken}' is there already", add_attention, taken, own)


def test_a_normalisation_that_returns_no_codes_is_told_in_one_line():
    def plain_softmax(scores_BHQK, mask):
        return jax.nn.softmax(scores_BHQK)

    message = r"^plain_softmax returned .*; expected Codes\(scores, scale\)$"
    assert_refused(message, Attention(plain_softmax, weighted_sum), *[jnp.zeros((2, 5, 3, 4))] * 3)
