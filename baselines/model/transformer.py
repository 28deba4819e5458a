"""The paper's transformer (appendix C): pre-LayerNorm blocks of attention and a feed-forward layer.

Parameters are float32; ``config.dtype`` is what they and the activations are computed in. With vectors
as tokens and an MLP there are

    L · (3 · (E·P + P) + (P·E + E) + H·T + (E·F + F) + (F·E + E) + 4·E) + 2·E + (I·E + E) + (E·O + O)

of them, for L layers and P = H · D: queries, keys, values, the output projection, the table of
positions, the MLP and two LayerNorms of each block; the final LayerNorm; the embedding; the output.
That is 402,824 for SRAVEN (I = O = 8, T = 36) and 151,265 for fuzzy logic (I = 5, O = 1, T = 32), as in
the paper's published code.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import find_attention
from baselines.model.config import TransformerConfig
from baselines.model.dense import by_rows
from baselines.model.feedforward import FEEDFORWARD
from baselines.model.hyla_tiled import hyla_tiled
from baselines.model.mixing import multiply
from baselines.model.position import relative_bias, relative_buckets, rotary_angles, rotate
from sraven.core.errors import ConfigurationError

Array = jax.Array


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with its projections and positions.

    Attributes:
        config: the transformer's.
    """

    config: TransformerConfig

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, T, E]``, and the latent codes ``[B, H, T, T]`` unless tiled."""
        config = self.config
        dense = partial(nn.DenseGeneral, dtype=jnp.dtype(config.dtype))
        heads = config.heads, config.head_width
        query, key, value = (by_rows(dense(heads, name=name), x_BTE) for name in ("query", "key", "value"))
        query, key, bias = self._positions(query, key)
        options: dict[str, Any] = {"activation": config.activation}
        if dropout_key is not None:
            options |= {"dropout_rate": config.attention_dropout, "dropout_key": dropout_key}
        if config.attention == "hyla_deep":
            # Fan-in H · V: it is the sum over heads that this layer's inputs enter.
            init = nn.initializers.lecun_normal(in_axis=(0, 1), out_axis=2)
            options["deep_weights"] = self.param("deep", init, (*heads, config.head_width))
        out_BTHV, codes_BHTT = _attend(config, query, key, value, bias, mask, options)
        project = dense(x_BTE.shape[-1], axis=(-2, -1), name="out")
        return by_rows(project, out_BTHV, width_axes=2), codes_BHTT

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


def _attend(
    config: TransformerConfig,
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    mask: Array | None,
    options: dict[str, Any],
) -> tuple[Array, Array | None]:
    """Return the configuration's attention, and its latent codes unless tiled."""
    if config.tile:
        options |= {"query_tile": config.tile, "key_tile": config.tile, "causal": config.causal}
        return hyla_tiled(query, key, value, bias, mask, variant=config.attention, **options), None
    if config.causal:
        earlier_TT = jnp.tri(query.shape[1], dtype=jnp.bool_)
        mask = earlier_TT if mask is None else mask & earlier_TT
    attention = find_attention(config.attention)
    out, codes = attention(query, key, value, bias, mask, return_scores=True, **options)
    return out, codes


class Block(nn.Module):
    """z = x + attention(LayerNorm(x)), then z + feedforward(LayerNorm(z)).

    Attributes:
        config: the transformer's.
    """

    config: TransformerConfig

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, T, E]``, and the latent codes ``[B, H, T, T]`` unless tiled."""
        config = self.config
        dtype = jnp.dtype(config.dtype)
        attention = SelfAttention(config, name="attention")
        feedforward = FEEDFORWARD[config.feedforward](config.mlp_width, dtype, name="feedforward")
        added_BTE, codes = attention(_normalise(x_BTE, "norm_attention"), mask, dropout_key)
        x_BTE = x_BTE + added_BTE
        return x_BTE + feedforward(_normalise(x_BTE, "norm_feedforward")), codes


def _normalise(x_BTE: Array, name: str) -> Array:
    """Apply a LayerNorm that is a part of the module at hand; it computes in float32."""
    normal_BTE: Array = nn.LayerNorm(name=name)(x_BTE.astype(jnp.float32))
    return normal_BTE.astype(x_BTE.dtype)


class Transformer(nn.Module):
    """The whole: tokens in, numbers out.

    Attributes:
        config: its shape.

    Example:
        >>> model = Transformer(TransformerConfig(inputs=8, outputs=8, length=36))
        >>> params = model.init(jax.random.key(0), jnp.zeros((1, 36, 8)))
        >>> model.apply(params, jnp.zeros((2, 36, 8))).shape
        (2, 36, 8)
    """

    config: TransformerConfig

    @nn.compact
    def __call__(
        self,
        tokens: Array,
        dropout_key: Array | None = None,
        *,
        mask: Array | None = None,
        return_scores: bool = False,
    ) -> Any:
        """Apply the transformer.

        Args:
            tokens: floating ``[B, T, I]``; with a vocabulary, integers ``[B, T]``.
            dropout_key: a JAX random key in training; None, for evaluation, drops nothing.
            mask: bool, broadcasts to ``[B, H, T, T]``, or None: which tokens see which, besides
                causality.
            return_scores: whether to return the latent codes as well.

        Returns:
            float32 ``[B, T, O]``; with ``return_scores`` a pair of it and a tuple of the latent codes
            of each layer, ``[B, H, T, T]``, or None for each if tiled.

        Raises:
            ConfigurationError: (a ValueError) for tokens of another shape, or too many.
        """
        config = self.config
        _check_tokens(config, tokens)
        dtype = jnp.dtype(config.dtype)
        if config.vocabulary:
            init = nn.initializers.normal(config.width**-0.5)
            table_NE = self.param("embedding", init, (config.vocabulary, config.width)).astype(dtype)
            x_BTE = table_NE[tokens]
        else:
            x_BTE = by_rows(nn.Dense(config.width, dtype=dtype, name="embedding"), tokens)
        all_codes = []
        for layer in range(config.layers):
            key = None if dropout_key is None else jax.random.fold_in(dropout_key, layer)
            x_BTE, codes = Block(config, name=f"block_{layer}")(x_BTE, mask, key)
            all_codes.append(codes)
        x_BTE = _normalise(x_BTE, "norm")
        if config.vocabulary:
            out = multiply(jnp.matmul, x_BTE, table_NE.T, dtype)
        else:
            out = by_rows(nn.Dense(config.outputs, dtype=dtype, name="out"), x_BTE).astype(jnp.float32)
        return (out, tuple(all_codes)) if return_scores else out


def _check_tokens(config: TransformerConfig, tokens: Array) -> None:
    kind, last = (jnp.integer, ()) if config.vocabulary else (jnp.floating, (config.inputs,))
    fits = tokens.ndim == 2 + len(last) and tokens.shape[2:] == last and tokens.shape[1] <= config.length
    if not fits or not jnp.issubdtype(tokens.dtype, kind):
        wanted = ", ".join(["B", f"T up to {config.length}", *map(str, last)])
        raise ConfigurationError(
            f"tokens have shape {list(tokens.shape)} and dtype {tokens.dtype}; expected [{wanted}] of type "
            f"{kind.__name__}"
        )
