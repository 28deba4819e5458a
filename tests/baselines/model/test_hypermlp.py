"""HyperMLP against loops written from its equations: values, gradients, dropout.

Axes have different sizes: 2 instances, E=7 channels, H=3 heads, V=8, D=2, T=5 tokens.
"""

import numpy as np
import pytest

from baselines.model.config import TransformerConfig
from baselines.model.hypermlp import RANK
from baselines.model.position import relative_buckets

E, H, V, T = 7, 3, 8, 5
D = V // 4


def oracle(params, x_TE, gate_QK):
    """Return the output of one instance ``[T, E]``, and its mixed scores ``[H, T, T]``."""

    def project(name, h, t):
        return x_TE[t] @ params[name]["kernel"][:, h] + params[name]["bias"][h]

    def opened(name, h, t):
        return 1 / (1 + np.exp(-project(name, h, t)))

    def mix(scores_K, name, h, q):
        lags = [(q - k) % T for k in range(T)]
        read_R = sum(scores_K[k] * params[f"{name}_read"][h, lags[k]] for k in range(T))
        gated_R = read_R * opened(f"{name}_gate", h, q)
        return np.array(
            [
                scores_K[k] * (1 + params[f"{name}_scale"][h, lags[k]])
                + gated_R @ params[f"{name}_write"][h, lags[k]]
                for k in range(T)
            ]
        )

    buckets_QK = relative_buckets(T, T, bidirectional=False)
    codes_HQK, out_TE = np.zeros((H, T, T)), np.tile(params["out"]["bias"], (T, 1))
    for h, q in np.ndindex(H, T):
        query_D = project("query", h, q) * opened("query_gate", h, q)
        scores_K = np.array([query_D @ project("key", h, k) for k in range(T)])
        scores_K = mix(scores_K + params["position"][h, buckets_QK[q]], "before", h, q)
        hidden_K = np.maximum(scores_K / np.sqrt((scores_K**2).sum() + 1e-6), 0)
        codes_HQK[h, q] = mix(hidden_K, "after", h, q)
        values_V = sum(codes_HQK[h, q, k] * gate_QK[q, k] * project("value", h, k) for k in range(T))
        out_TE[q] += (values_V * opened("value_gate", h, q)) @ params["out"]["kernel"][h]
    return out_TE, codes_HQK


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_values_and_gradients_equal_those_of_loops(dropout, equals_oracle):
    sizes = {"inputs": 5, "outputs": 3, "length": T, "width": E, "heads": H, "qkv_width": H * V}
    config = TransformerConfig(**sizes, attention="hypermlp", dtype="float64", attention_dropout=dropout)
    params, *_ = equals_oracle(config, T, oracle)
    assert params["query"]["kernel"].shape == (E, H, D) and params["after_read"].shape == (H, T, RANK)
