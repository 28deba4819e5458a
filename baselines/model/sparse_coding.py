"""Sparse-coding attention (Chen, Yu, Miao and Qiu, NeurIPS 2025, arXiv 2511.20194).

Attention read as sparse coding: a token has coefficients in an encoding dictionary, whose atoms are made of
the keys' tokens, and they are put on the atoms of a decoding dictionary,

    s[q,k] = x[q] · φ[k] / √E + relative bias        φ[k] = ReLU(W_query W_keyᵀ x[k])        [E] of each head
    a[q,k] = sign(s) · max(|s| − ξ, 0)
    out[q] = Σ_h Σ_k a[q,k] ψ[k] + b                 ψ[k] = ReLU(x[k] W_value W_out)          [E] of each head

with biases of keys and values, added to W_keyᵀ x[k] and x[k] W_value.

The target panel's symbols aren't given, so its coefficients get those of the context panels besides, token by
token: a[target] + Σ_i λ[i] a[panel i], λ learnt, one for each context panel of a layer.
Dropout comes after that.

What the sources that we could read leave open, and we chose: 1/√E; the relative bias, which tells positions;
ξ; λ = 1 / (panels − 1) at first, the mean; the transformer's LayerNorms.
"""

from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import Edit, dropout_gate
from baselines.model.fast.layers import Dense
from baselines.model.products import accumulator
from baselines.model.self_attention import SelfAttention
from sraven.core.base.errors import ConfigurationError

Array = jax.Array

THRESHOLD = 0.03
"""ξ: what is taken off coefficients, and what is less is 0."""


def soft_threshold(scores: Array, threshold: float = THRESHOLD) -> Array:
    """Return sign(s) · max(|s| − ξ, 0) of each score, an array like ``scores``."""
    return jnp.sign(scores) * jnp.maximum(jnp.abs(scores) - threshold, 0)


def add_context(codes_BHTT: Array, weight_P: Array, panel_tokens: int) -> Array:
    """Add the coefficients of the context panels to those of the target panel, the last one.

    Args:
        codes_BHTT: of all pairs of tokens.
        weight_P: λ of each context panel.
        panel_tokens: tokens of a panel; the last of a panel takes the last ones of the others, and so on.
    """
    B, H, T, _ = codes_BHTT.shape
    panels = codes_BHTT.reshape(B, H, T // panel_tokens, panel_tokens, T)
    transferred = jnp.einsum("p,bhpmk->bhmk", weight_P.astype(codes_BHTT.dtype), panels[:, :, :-1])
    return codes_BHTT.at[:, :, -panel_tokens:].add(transferred)


class SparseCodingAttention(SelfAttention):
    """Sparse-coding attention, with the parameters of `SelfAttention` but for λ."""

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None, edit_codes: Edit | None = None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the coefficients ``[B, H, A, T]``: None unless returned."""
        config, (_, T, E) = self.config, x_BTE.shape
        panels, rest = divmod(T, config.panel_tokens)
        if config.length != T or rest:
            raise ConfigurationError(
                f"{T} tokens: sparse-coding attention is for all {config.length}, "
                f"in panels of {config.panel_tokens}"
            )
        if mask is not None or config.causal or config.position == "rotary":
            raise ConfigurationError(
                "sparse-coding attention has a relative bias, and panels that see each other: no mask, "
                "not causal, not rotary"
            )
        dtype, wide = jnp.dtype(config.dtype), accumulator(jnp.dtype(config.dtype))
        dense = partial(Dense, (config.heads, config.head_width), dtype=dtype)
        key_BTHD, value_BTHD = dense(name="key")(x_BTE), dense(name="value")(x_BTE)
        kernel = nn.initializers.lecun_normal(in_axis=0, out_axis=(1, 2))
        query_EHD = self.param("query", kernel, (E, config.heads, config.head_width)).astype(dtype)
        kernel = nn.initializers.lecun_normal(in_axis=(0, 1))
        out_HDE = self.param("out", kernel, (config.heads, config.head_width, E)).astype(dtype)
        atoms_BTHE = nn.relu(jnp.einsum("bthd,ehd->bthe", key_BTHD, query_EHD))
        decoded_BTHE = nn.relu(jnp.einsum("bthd,hde->bthe", value_BTHD, out_HDE))
        bias_HTT = self._positions(key_BTHD, key_BTHD)[2]
        scores_BHTT = jnp.einsum("bqe,bkhe->bhqk", x_BTE * E**-0.5, atoms_BTHE).astype(wide)
        codes_BHTT = soft_threshold(scores_BHTT if bias_HTT is None else scores_BHTT + bias_HTT)
        # Called as LayerNorm's, so that it doesn't decay.
        weight_P = self.param("scale", nn.initializers.constant(1 / max(1, panels - 1)), (panels - 1,))
        codes_BHTT = add_context(codes_BHTT, weight_P, config.panel_tokens)
        codes_BHAT = codes_BHTT[:, :, -(self.num_outputs or T) :]
        if edit_codes is not None:
            codes_BHAT = edit_codes(codes_BHAT)
        rate = config.attention_dropout if dropout_key is not None else 0.0
        gate_AT = dropout_gate(rate, dropout_key, codes_BHAT.shape[2], T, wide)
        kept_BHAT = codes_BHAT if gate_AT is None else codes_BHAT * gate_AT
        out_BAE = jnp.einsum("bhqk,bkhe->bqe", kept_BHAT.astype(dtype), decoded_BTHE)
        bias_E = self.param("bias", nn.initializers.zeros_init(), (E,)).astype(dtype)
        return out_BAE + bias_E, codes_BHAT if self.return_codes else None
