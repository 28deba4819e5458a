"""Self-attention: its projections and positions around the functions of `baselines.model.attention`."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import ValueNetwork, dropout_gate, find_attention, find_value_network
from baselines.model.config import TransformerConfig
from baselines.model.implementations import AttentionCall, find_implementation
from baselines.model.position import relative_bias, relative_buckets, rotary_angles, rotate
from baselines.model.products import accumulator
from sraven.core.errors import ConfigurationError

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
        call = AttentionCall(
            attention=find_attention(config.attention),
            query=query,
            key=key,
            value=value,
            bias=bias_HAT,
            network=self._network(),
            gate=self._gate(dropout_key, A, T, accumulator(query.dtype)),
            causal=config.causal,
            tile=config.tile,
            return_codes=self.return_codes,
        )
        return find_implementation(call)(call)

    def _gate(self, dropout_key: Array | None, A: int, T: int, dtype: jnp.dtype) -> Array | None:
        """Return what dropout multiplies the latent codes by, ``[A, T]``; None without a key."""
        rate = 0.0 if dropout_key is None else self.config.attention_dropout
        return dropout_gate(rate, dropout_key, A, T, dtype)

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
        bucket_TT = relative_buckets(T, T, config.length, config.length, bidirectional=both_ways)
        return relative_bias(table_HN, bucket_TT[-A:])

    def _network(self) -> ValueNetwork:
        """Return what the value network needs besides latent codes and values."""
        config = self.config
        sizes = config.heads, config.head_width, config.head_width
        own = find_attention(config.attention).weights.items()
        weights = {name: self.param(name, kind.initialise, kind.shape(*sizes)) for name, kind in own}
        return find_value_network(config.activation, weights)

    def _check_sees_all(self) -> None:
        """Check that all tokens see each other, for modules in place of this one that need it.

        Raises:
            ConfigurationError: for a causal configuration.
        """
        if self.config.causal:
            raise ConfigurationError(
                f"attention={self.config.attention!r} with causal=True: its tokens all see each other"
            )
