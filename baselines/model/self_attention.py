"""Attention of a sequence to itself, with its parameters; `baselines.model.forms` has the sums."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import Edit, Network, find_attention, find_network
from baselines.model.cache import check_cached, extend_cache, start_cache
from baselines.model.checks import check_arrays, check_mask
from baselines.model.config import TransformerConfig
from baselines.model.dense import by_rows
from baselines.model.forms import Call, find_form
from baselines.model.position import relative_bias, relative_buckets, rotary_angles, rotate

Array = jax.Array


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with its projections and positions.

    Where the collection ``cache`` is mutable, tokens are those that follow the ones in it, see
    `baselines.model.cache`.

    Attributes:
        config: the transformer's.
        return_scores: whether to return latent codes.
        asked: how many of the last tokens the output is asked for, None for all: the others give keys
            and values alone.
        edit_codes: of latent codes, or None, see `baselines.model.attention.attend`.
    """

    config: TransformerConfig
    return_scores: bool = False
    asked: int | None = None
    edit_codes: Edit | None = None

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the latent codes ``[B, H, A, T]``, None unless asked for or if tiled."""
        config, asked = self.config, self.asked or x_BTE.shape[1]
        dense = partial(nn.DenseGeneral, dtype=jnp.dtype(config.dtype))
        heads = config.heads, config.head_width
        cached = self.is_mutable_collection("cache") and not self.is_initializing()
        # A cache counts its tokens by their queries, so there all have one.
        asking_BAE = x_BTE if cached else x_BTE[:, -asked:]
        query = by_rows(dense(heads, name="query"), asking_BAE)
        key, value = (by_rows(dense(heads, name=name), x_BTE) for name in ("key", "value"))
        if cached:
            check_cached(config, mask, dropout_key, self.return_scores, edited=self.edit_codes is not None)
            out_BAHV, codes_BHAT = self._go_on(query, key, value)[:, -asked:], None
        else:
            query, key, bias = self._positions(query, key)
            B, T = x_BTE.shape[:2]
            mask = check_arrays(query, key, value, bias, _rows_of(mask, (B, config.heads, T, T), asked))
            dropout = (config.attention_dropout, dropout_key) if dropout_key is not None else (0.0, None)
            call = Call(
                find_attention(config.attention),
                *(query, key, value, bias, mask, self._network()),
                *(config.causal, config.tile, *dropout, self.return_scores, config.fused, self.edit_codes),
            )
            out_BAHV, codes_BHAT = find_form(call)(call)
        project = dense(x_BTE.shape[-1], axis=(-2, -1), name="out")
        return by_rows(project, out_BAHV, width_axes=2), codes_BHAT

    def _go_on(self, query: Array, key: Array, value: Array) -> Array:
        """Attend from tokens that follow those of the cache, and put them there."""
        start = start_cache(self.config, query.shape[0])
        kept = {name: self.variable("cache", name, start.__getitem__, name) for name in start}
        before = {name: variable.value for name, variable in kept.items()}
        out_BTHV, after = extend_cache(self.config, before, query, key, value, self._network())
        for name, variable in kept.items():
            variable.value = after[name]
        return out_BTHV

    def _network(self) -> Network:
        """Return what the value network needs besides latent codes and values."""
        config = self.config
        sizes = config.heads, config.head_width, config.head_width
        own = find_attention(config.attention).weights.items()
        weights = {name: self.param(name, kind.initialise, kind.shape(*sizes)) for name, kind in own}
        return find_network(config.activation, weights)

    def _positions(self, query: Array, key: Array) -> tuple[Array, Array, Array | None]:
        """Tell positions, by turning queries and keys or by a bias ``[H, A, T]``."""
        config, A, T = self.config, query.shape[1], key.shape[1]
        if config.position == "rotary":
            angles = rotary_angles(jnp.arange(T), config.head_width)
            return rotate(query, angles[-A:]), rotate(key, angles), None
        init = nn.initializers.normal(config.length**-0.5)
        table_HN = self.param("position", init, (config.heads, config.length))
        both_ways = config.position == "relative_both_ways"
        bucket_TT = relative_buckets(T, T, config.length, config.length, bidirectional=both_ways)
        return query, key, relative_bias(table_HN, bucket_TT[-A:])


def _rows_of(mask: Array | None, full: tuple[int, ...], asked: int) -> Array | None:
    """Return the rows of the last queries of a mask that broadcasts to ``full``; one that all share stays."""
    if mask is None:
        return None
    four = check_mask(mask, full)
    return four if four.shape[2] == 1 else four[:, :, -asked:]
