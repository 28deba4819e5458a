"""Sparse-coding attention against loops written from its equations: values, gradients, dropout.

Axes have different sizes: 2 instances, E=7 channels, H=3 heads, D=2, T=12 tokens.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.position import relative_buckets
from baselines.model.sparse_coding import THRESHOLD, SparseCodingAttention
from baselines.model.transformer import TransformerConfig
from helpers.refusals import assert_refused
from helpers.small_models import attention_of

E, H, D, T, PANEL = 7, 3, 2, 12, 3
ONE_WAY, BOTH_WAYS = "relative_one_way", "relative_both_ways"


def shape(panel_tokens=PANEL, **changes):
    sizes = {"inputs": 5, "outputs": 3, "length": T, "layers": 1, "width": E, "heads": H, "qkv_width": H * D}
    rest = {"mlp_width": 11, "attention": "sparse_coding", "panel_tokens": panel_tokens}
    return TransformerConfig(**{**sizes, **rest, **changes})


def oracle(config, params, x_TE, gate_QK):
    """Return the output of one instance ``[T, E]``, and its coefficients ``[H, T, T]``."""

    def project(name):
        return np.einsum("te,ehd->htd", x_TE, params[name]["kernel"]) + params[name]["bias"][:, None]

    query_HTD, key_HTD, value_HTD = map(project, ("query", "key", "value"))
    buckets = relative_buckets(T, T, bidirectional=config.position == BOTH_WAYS)
    panel = config.panel_tokens
    codes_HQK = np.zeros((H, T, T))
    for h, q, k in np.ndindex(H, T, T):
        score = query_HTD[h, q] @ np.maximum(key_HTD[h, k], 0) / D**0.5 + params["position"][h, buckets[q, k]]
        codes_HQK[h, q, k] = np.copysign(max(abs(score) - THRESHOLD, 0), score)
    for i, m in np.ndindex(T // panel - 1, panel):
        codes_HQK[:, T - panel + m] += params["scale"][i] * codes_HQK[:, i * panel + m]
    mixed_HTD = codes_HQK * gate_QK @ np.maximum(value_HTD, 0)
    return np.einsum("htd,hde->te", mixed_HTD, params["out"]["kernel"]) + params["out"]["bias"], codes_HQK


@pytest.mark.parametrize(
    ("panel_tokens", "position", "dropout"),
    [(1, ONE_WAY, 0.0), (PANEL, ONE_WAY, 0.0), (PANEL, BOTH_WAYS, 0.4), (T, ONE_WAY, 0.0)],
)
def test_values_and_gradients_equal_those_of_loops(panel_tokens, position, dropout, equals_oracle):
    """Of biases and λ too. Coefficients fall on both sides of ξ; dropout is the last step."""
    config = shape(panel_tokens, dtype="float64", position=position, attention_dropout=dropout)
    params, _, codes = equals_oracle(config, T, partial(oracle, config))
    assert params["scale"].shape == (T // panel_tokens - 1,)
    if panel_tokens < T:
        assert (np.asarray(codes)[:, :, :-panel_tokens] == 0).any()  # ξ takes whole coefficients away


def test_the_context_counts_by_its_mean_at_first():
    initialise = jax.jit(SparseCodingAttention(shape()).init)
    params = initialise(jax.random.key(0), jnp.zeros((1, T, E)), None)["params"]
    np.testing.assert_allclose(params["scale"], 1 / 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel_tokens": 5}, "12 tokens: sparse-coding attention is for all 12, in panels of 5"),
        ({"length": 15}, "12 tokens: sparse-coding attention is for all 15, in panels of 3"),
    ],
)
def test_sequences_of_other_panels_are_refused(changes, message):
    assert_refused(message, attention_of, shape(**changes), T)
