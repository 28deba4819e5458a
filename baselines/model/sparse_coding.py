"""Sparse-coding attention (Chen, Yu, Miao and Qiu, NeurIPS 2025, arXiv 2511.20194).

Attention read as sparse coding: a token has coefficients in an encoding dictionary, whose atoms are made of
the keys' tokens, and they are put on the atoms of a decoding dictionary. In each head,

    s[q,k] = query[q] · ReLU(key[k]) / √D + relative bias
    a[q,k] = sign(s) · max(abs(s) − ξ, 0)
    out[q] = Σ_k a[q,k] ReLU(value[k])

The target panel's symbols aren't given, so its coefficients get those of the context panels besides, token by
token: a[target] + Σ_i λ[i] a[panel i], λ learnt, one for each context panel of a layer.
Dropout comes after that.

The paper writes W_query into the encoding atoms and W_out into the decoding ones, ReLU(W_query W_keyᵀ x) and
ReLU(x W_value W_out), as wide as the embedding. Here ReLU is on their narrow factors, as a head computes
them: the other takes more than twice the operations, and has a fifth of the speed on a processor. With
linear atoms both are the same. What the sources that we could read leave open, and we chose: 1/√D; the
relative bias, which encodes positions; ξ; λ = 1 / (panels − 1) at first, the mean; the LayerNorms.
"""

from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import Attention, Codes, identity, weighted_sum
from baselines.model.self_attention import SelfAttention
from sraven.core.errors import ConfigurationError

Array = jax.Array

THRESHOLD = 0.3
"""ξ: what is taken off coefficients; what is less is 0, about half of them before training."""


def soft_threshold(scores: Array, threshold: float = THRESHOLD) -> Array:
    """Return sign(s) · max(abs(s) − ξ, 0) of each score, an array like ``scores``."""
    return jnp.sign(scores) * jnp.maximum(jnp.abs(scores) - threshold, 0)


def add_context(codes_BHTT: Array, weight_P: Array, panel_tokens: int) -> Array:
    """Add the coefficients of the context panels to those of the target panel, the last one.

    Args:
        codes_BHTT: of all pairs of tokens.
        weight_P: λ of each context panel.
        panel_tokens: tokens of a panel; the first of the target panel gets the first ones' coefficients.
    """
    B, H, T, _ = codes_BHTT.shape
    panels = codes_BHTT.reshape(B, H, T // panel_tokens, panel_tokens, T)
    transferred = jnp.einsum("p,bhpmk->bhmk", weight_P.astype(codes_BHTT.dtype), panels[:, :, :-1])
    return codes_BHTT.at[:, :, -panel_tokens:].add(transferred)


class SparseCodingAttention(SelfAttention):
    """Sparse-coding attention: `SelfAttention` with λ besides."""

    has_all_queries: ClassVar[bool] = True

    def _attend(
        self, query: Array, key: Array, value: Array, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Mix values of all tokens for the last ones, the target panel's with what the context's add."""
        config, T = self.config, key.shape[1]
        panels, rest = divmod(T, config.panel_tokens)
        if config.length != T or rest:
            raise ConfigurationError(
                f"{T} tokens: sparse-coding attention is for all {config.length}, in panels of "
                f"{config.panel_tokens}"
            )
        query, key, bias_HTT = self._positions(query, key)
        # Called as LayerNorm's, so that it doesn't decay.
        weight_P = self.param("scale", nn.initializers.constant(1 / max(1, panels - 1)), (panels - 1,))
        A = self.num_outputs or T

        def coefficients(scores_BHTT: Array, mask: Array | None) -> Codes:
            codes_BHTT = add_context(soft_threshold(scores_BHTT), weight_P, config.panel_tokens)
            return identity(codes_BHTT[:, :, -A:], mask)

        attend, gate_AT = Attention(coefficients, weighted_sum), self._gate(dropout_key, A, T)
        out, codes = attend(query, nn.relu(key), nn.relu(value), bias_HTT, gate_QK=gate_AT)
        return out.astype(value.dtype), codes if self.return_codes else None
