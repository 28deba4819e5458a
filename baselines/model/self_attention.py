"""Attention of a sequence to itself, with its parameters; `baselines.model.forms` has the sums."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.cache import check_cached, extend_cache, start_cache
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
    """

    config: TransformerConfig
    return_scores: bool = False

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, T, E]``, and the latent codes ``[B, H, T, T]``, None unless asked for or if tiled."""
        config = self.config
        dense = partial(nn.DenseGeneral, dtype=jnp.dtype(config.dtype))
        heads = config.heads, config.head_width
        query, key, value = (by_rows(dense(heads, name=name), x_BTE) for name in ("query", "key", "value"))
        if self.is_mutable_collection("cache") and not self.is_initializing():
            check_cached(config, mask, dropout_key, self.return_scores)
            out_BTHV, codes_BHTT = self._go_on(query, key, value), None
        else:
            query, key, bias = self._positions(query, key)
            arrays = query, key, value, bias, mask
            call = Call(config, *arrays, dropout_key, self._network(), self.return_scores)
            out_BTHV, codes_BHTT = find_form(call).attend(call)
        project = dense(x_BTE.shape[-1], axis=(-2, -1), name="out")
        return by_rows(project, out_BTHV, width_axes=2), codes_BHTT

    def _go_on(self, query: Array, key: Array, value: Array) -> Array:
        """Attend from tokens that follow those of the cache, and put them there."""
        start = start_cache(self.config, query.shape[0])
        kept = {name: self.variable("cache", name, start.__getitem__, name) for name in start}
        before = {name: variable.value for name, variable in kept.items()}
        out_BTHV, after = extend_cache(self.config, before, query, key, value, **self._network())
        for name, variable in kept.items():
            variable.value = after[name]
        return out_BTHV

    def _network(self) -> dict[str, Any]:
        """Return what the value network needs besides latent codes and values."""
        config = self.config
        if config.attention != "hyla_deep":
            return {"activation": config.activation}
        # Fan-in H · V: it is the sum over heads that this layer's inputs enter.
        init = nn.initializers.lecun_normal(in_axis=(0, 1), out_axis=2)
        shape = config.heads, config.head_width, config.head_width
        return {"activation": config.activation, "deep_weights": self.param("deep", init, shape)}

    def _positions(self, query: Array, key: Array) -> tuple[Array, Array, Array | None]:
        """Tell positions, by turning queries and keys or by a bias ``[H, T, T]``."""
        config, T = self.config, query.shape[1]
        if config.position == "rotary":
            angles = rotary_angles(jnp.arange(T), config.head_width)
            return rotate(query, angles), rotate(key, angles), None
        init = nn.initializers.normal(config.length**-0.5)
        table_HN = self.param("position", init, (config.heads, config.length))
        both_ways = config.bidirectional_buckets
        bucket_TT = relative_buckets(T, T, config.length, config.length, bidirectional=both_ways)
        return query, key, relative_bias(table_HN, bucket_TT)
