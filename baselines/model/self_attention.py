"""Self-attention: its projections and positions around the functions of `baselines.model.attention`."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import ACTIVATIONS, ValueNetwork, dropout_gate, find_attention
from baselines.model.config import TransformerConfig
from baselines.model.implementations import AttentionCall, find_implementation
from baselines.model.position import relative_buckets, rotary_angles, rotate
from baselines.model.products import accumulator

Array = jax.Array


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with its projections and positions.

    Attributes:
        config: the transformer's.
        return_codes: whether to return latent codes.
        num_outputs: A, how many of the last tokens have an output, None for all: the others give keys and
            values alone.
        crosses: whether these have queries alone, so that they attend to the others as to another sequence.
    """

    config: TransformerConfig
    return_codes: bool = False
    num_outputs: int | None = None
    crosses: bool = False

    has_codes: ClassVar[bool] = True
    """Whether there are latent codes to return."""

    has_all_queries: ClassVar[bool] = False
    """Whether what the last tokens get depends on the queries of others."""

    @nn.compact
    def __call__(self, x_BTE: Array, dropout_key: Array | None) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the latent codes ``[B, H, A, T]``: None unless returned, or if tiled."""
        config, A = self.config, self.num_outputs or x_BTE.shape[1]
        heads, dense = (config.heads, config.head_width), config.dense
        query = dense(heads, name="query")(x_BTE if self.has_all_queries else x_BTE[:, -A:])
        seen_BTE = x_BTE[:, :-A] if self.crosses else x_BTE
        key, value = (dense(heads, name=name)(seen_BTE) for name in ("key", "value"))
        out_BAHV, codes_BHAT = self._attend(query, key, value, dropout_key)
        return dense(x_BTE.shape[-1], axis=(-2, -1), name="out")(out_BAHV), codes_BHAT

    def _attend(
        self, query: Array, key: Array, value: Array, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Mix values of all tokens for the last ones, from their positions on."""
        config, A, T = self.config, query.shape[1], key.shape[1]
        query, key, bias_HAT = self._positions(query, key)
        attention, D = find_attention(config.attention), config.head_width
        weights = {
            name: self.param(name, own.initialise, own.shape(config.heads, D, D))
            for name, own in attention.weights.items()
        }
        network = ValueNetwork(ACTIVATIONS[config.activation], weights)
        gate_AT = self._gate(dropout_key, A, T)
        options = config.causal, config.tile, self.return_codes
        call = AttentionCall(attention, query, key, value, bias_HAT, network, gate_AT, *options)
        faster = find_implementation(call)
        if faster is not None:
            return faster.compute(call), None
        mask = jnp.tri(A, T, T - A, dtype=jnp.bool_)[None, None] if config.causal else None
        out, codes = attention(query, key, value, bias_HAT, mask, network, gate_AT)
        return out.astype(value.dtype), codes if self.return_codes else None

    def _gate(self, dropout_key: Array | None, A: int, T: int) -> Array | None:
        """Return what dropout multiplies the latent codes by, ``[A, T]``; None without a key, or dropout."""
        rate = self.config.attention_dropout
        if dropout_key is None or not rate:
            return None
        return dropout_gate(rate, dropout_key, A, T, accumulator(self.config.dtype))

    def _positions(self, query: Array, key: Array) -> tuple[Array, Array, Array | None]:
        """Encode positions, by turning queries and keys or by a bias ``[H, A, T]``."""
        config, A, K = self.config, query.shape[1], key.shape[1]
        T = K + A if self.crosses else K
        if config.position == "rotary":
            angles = rotary_angles(jnp.arange(T), config.head_width)
            return rotate(query, angles[-A:]), rotate(key, angles[:K]), None
        return query, key, self._relative_bias(A, T)[..., :K]

    def _relative_bias(self, A: int, T: int) -> Array:
        """Return what the positions of the last tokens and all add to their scores: ``[H, A, T]``."""
        config = self.config
        init = nn.initializers.normal(config.length**-0.5)
        table_HN = self.param("position", init, (config.heads, config.length))
        both_ways = config.position == "relative_both_ways"
        bucket_AT = relative_buckets(T, config.length, bidirectional=both_ways)[-A:]
        return table_HN[:, bucket_AT]
