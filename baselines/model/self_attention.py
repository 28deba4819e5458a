"""Self-attention: its projections and positions around the functions of `baselines.model.attention`."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import Edit, ValueNetwork, dropout_gate, find_attention, find_value_network
from baselines.model.cache import check_cached, extend_cache, start_cache
from baselines.model.config import TransformerConfig
from baselines.model.implementations import AttentionCall, find_implementation
from baselines.model.position import relative_bias, relative_buckets, rotary_angles, rotate
from baselines.model.products import accumulator
from sraven.core.errors import ConfigurationError

Array = jax.Array


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with its projections and positions.

    Where the collection ``cache`` is mutable, tokens are those that follow the ones in it, see
    `baselines.model.cache`.

    Attributes:
        config: the transformer's.
        return_codes: whether to return latent codes.
        num_outputs: A, how many of the last tokens have an output, None for all: the others give keys and
            values alone.
    """

    config: TransformerConfig
    return_codes: bool = False
    num_outputs: int | None = None

    has_codes: ClassVar[bool] = True
    """Whether there are latent codes to return and edit."""

    has_all_queries: ClassVar[bool] = False
    """Whether what the last tokens get depends on the queries of others."""

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None, edit_codes: Edit | None = None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the latent codes ``[B, H, A, T]``: None unless returned, or if tiled.

        ``edit_codes`` puts others in their place, see `baselines.model.attention.Attention`.
        """
        config, A = self.config, self.num_outputs or x_BTE.shape[1]
        heads, dense = (config.heads, config.head_width), config.dense
        cached = self.is_mutable_collection("cache") and not self.is_initializing()
        # A cache counts its tokens by their queries, so there all have one.
        query = dense(heads, name="query")(x_BTE if cached or self.has_all_queries else x_BTE[:, -A:])
        key, value = (dense(heads, name=name)(x_BTE) for name in ("key", "value"))
        if cached:
            check_cached(
                config,
                mask=mask is not None,
                dropout_key=dropout_key is not None,
                return_codes=self.return_codes,
                edit_codes=edit_codes is not None,
            )
            out_BAHV, codes_BHAT = self._attend_cached(query, key, value)[:, -A:], None
        else:
            out_BAHV, codes_BHAT = self._attend(query, key, value, mask, dropout_key, edit_codes)
        return dense(x_BTE.shape[-1], axis=(-2, -1), name="out")(out_BAHV), codes_BHAT

    def _attend(
        self,
        query: Array,
        key: Array,
        value: Array,
        mask: Array | None,
        dropout_key: Array | None,
        edit_codes: Edit | None,
    ) -> tuple[Array, Array | None]:
        """Mix values of all tokens for the last ones, from their positions on."""
        config, (B, A, H, _), T = self.config, query.shape, key.shape[1]
        query, key, bias_HAT = self._positions(query, key)
        rate = config.attention_dropout if dropout_key is not None else 0.0
        call = AttentionCall(
            attention=find_attention(config.attention),
            query=query,
            key=key,
            value=value,
            bias=bias_HAT,
            mask=_last_rows(mask, (B, H, T, T), A),
            network=self._network(),
            gate=dropout_gate(rate, dropout_key, A, T, accumulator(query.dtype)),
            causal=config.causal,
            tile=config.tile,
            return_codes=self.return_codes,
            edit_codes=edit_codes,
        )
        return find_implementation(call)(call)

    def _positions(self, query: Array, key: Array) -> tuple[Array, Array, Array | None]:
        """Encode positions, by turning queries and keys or by a bias ``[H, A, T]``."""
        config, A, T = self.config, query.shape[1], key.shape[1]
        if config.position == "rotary":
            angles = rotary_angles(jnp.arange(T), config.head_width)
            return rotate(query, angles[-A:]), rotate(key, angles), None
        init = nn.initializers.normal(config.length**-0.5)
        table_HN = self.param("position", init, (config.heads, config.length))
        both_ways = config.position == "relative_both_ways"
        bucket_TT = relative_buckets(T, T, config.length, config.length, bidirectional=both_ways)
        return query, key, relative_bias(table_HN, bucket_TT[-A:])

    def _network(self) -> ValueNetwork:
        """Return what the value network needs besides latent codes and values."""
        config = self.config
        sizes = config.heads, config.head_width, config.head_width
        own = find_attention(config.attention).weights.items()
        weights = {name: self.param(name, kind.initialise, kind.shape(*sizes)) for name, kind in own}
        return find_value_network(config.activation, weights)

    def _check_sees_all(self, mask: Array | None) -> None:
        """Check that all tokens see each other, for modules in place of this one that need it.

        Raises:
            ConfigurationError: for a mask, a causal configuration or a cache.
        """
        cached = self.is_mutable_collection("cache") and not self.is_initializing()
        if mask is not None or self.config.causal or cached:
            raise ConfigurationError(
                f"attention={self.config.attention!r} is for tokens that all see each other: no mask, "
                "not causal, no cache"
            )

    def _attend_cached(self, query: Array, key: Array, value: Array) -> Array:
        """Attend from tokens that follow those of the cache, and put them there."""
        start = start_cache(self.config, query.shape[0])
        kept = {name: self.variable("cache", name, start.__getitem__, name) for name in start}
        before = {name: variable.value for name, variable in kept.items()}
        out_BTHV, after = extend_cache(self.config, before, query, key, value, self._network())
        for name, variable in kept.items():
            variable.value = after[name]
        return out_BTHV


def check_mask(mask: Any, full: tuple[int, ...]) -> Array:
    """Return a mask with four axes, if it is bool and broadcasts to ``full``, [B, H, Q, K].

    Raises:
        ConfigurationError: if it doesn't.
    """
    mask = jnp.asarray(mask)
    if mask.dtype != jnp.bool_:
        raise ConfigurationError(f"mask has dtype {mask.dtype}; expected bool")
    shape = (1,) * (4 - mask.ndim) + mask.shape
    fits = len(shape) == 4 and all(have in (1, want) for have, want in zip(shape, full, strict=True))
    if not fits:
        raise ConfigurationError(
            f"mask has shape {list(mask.shape)}; expected one that broadcasts to [B, H, Q, K]={list(full)}"
        )
    return mask.reshape(shape)


def _last_rows(mask: Array | None, full: tuple[int, ...], rows: int) -> Array | None:
    """Return the last rows of a mask that broadcasts to ``full``; one that all queries share stays."""
    if mask is None:
        return None
    four = check_mask(mask, full)
    return four if four.shape[2] == 1 else four[:, :, -rows:]
