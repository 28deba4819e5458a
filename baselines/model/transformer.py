"""The paper's transformer (appendix C): pre-LayerNorm blocks of attention and a feed-forward layer.

Parameters are float32; ``config.dtype`` is what they and the activations are computed in. With vectors
as tokens and an MLP there are

    L · (3 · (E·P + P) + (P·E + E) + H·T + (E·F + F) + (F·E + E) + 4·E) + 2·E + (I·E + E) + (E·O + O)

of them, for L layers and P = H · D: queries, keys, values, the output projection, the table of
positions, the MLP and two LayerNorms of each block; the final LayerNorm; the embedding; the output.
That is 402,824 for SRAVEN (I = O = 8, T = 36) and 151,265 for fuzzy logic (I = 5, O = 1, T = 32), as in
the paper's published code.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import Edit, Network, dropout_gate, find_attention, find_network
from baselines.model.cache import check_cached, extend_cache, start_cache
from baselines.model.checks import check_mask
from baselines.model.config import TransformerConfig
from baselines.model.fast.layers import Dense, LayerNorm
from baselines.model.feedforward import FEEDFORWARD
from baselines.model.implementations import AttentionCall, find_implementation
from baselines.model.position import relative_bias, relative_buckets, rotary_angles, rotate
from baselines.model.products import accumulator, multiply
from sraven.core.base.arguments import check_integer
from sraven.core.base.errors import ConfigurationError

Array = jax.Array

EditCodes = Callable[[int, Array], Array]
"""Returns other latent codes of a layer, given which it is, from 0, and its own: ``[B, H, T, T]`` both, and
``[B, H, A, T]`` in the last layer, of the A tokens that have outputs."""


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence to itself, with its projections and positions.

    Where the collection ``cache`` is mutable, tokens are those that follow the ones in it, see
    `baselines.model.cache`.

    Attributes:
        config: the transformer's.
        return_codes: whether to return latent codes.
        num_outputs: A, how many of the last tokens have an output, None for all: the others give keys and
            values alone.
        edit_codes: of latent codes, or None, see `baselines.model.attention.attend`.
    """

    config: TransformerConfig
    return_codes: bool = False
    num_outputs: int | None = None
    edit_codes: Edit | None = None

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the latent codes ``[B, H, A, T]``: None unless returned, or if tiled."""
        config, A = self.config, self.num_outputs or x_BTE.shape[1]
        dense = partial(Dense, dtype=jnp.dtype(config.dtype))
        heads = config.heads, config.head_width
        cached = self.is_mutable_collection("cache") and not self.is_initializing()
        # A cache counts its tokens by their queries, so there all have one.
        query = dense(heads, name="query")(x_BTE if cached else x_BTE[:, -A:])
        key, value = (dense(heads, name=name)(x_BTE) for name in ("key", "value"))
        if cached:
            out_BAHV, codes_BHAT = self._go_on(query, key, value, mask, dropout_key)[:, -A:], None
        else:
            out_BAHV, codes_BHAT = self._attend(query, key, value, mask, dropout_key)
        return dense(x_BTE.shape[-1], axis=(-2, -1), name="out")(out_BAHV), codes_BHAT

    def _attend(
        self, query: Array, key: Array, value: Array, mask: Array | None, dropout_key: Array | None
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
            fused=config.fused,
            return_codes=self.return_codes,
            edit_codes=self.edit_codes,
        )
        return find_implementation(call)(call)

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

    def _network(self) -> Network:
        """Return what the value network needs besides latent codes and values."""
        config = self.config
        sizes = config.heads, config.head_width, config.head_width
        own = find_attention(config.attention).weights.items()
        weights = {name: self.param(name, kind.initialise, kind.shape(*sizes)) for name, kind in own}
        return find_network(config.activation, weights)

    def _go_on(
        self, query: Array, key: Array, value: Array, mask: Array | None, dropout_key: Array | None
    ) -> Array:
        """Attend from tokens that follow those of the cache, and put them there."""
        check_cached(
            self.config,
            mask=mask is not None,
            dropout_key=dropout_key is not None,
            return_codes=self.return_codes,
            edit_codes=self.edit_codes is not None,
        )
        start = start_cache(self.config, query.shape[0])
        kept = {name: self.variable("cache", name, start.__getitem__, name) for name in start}
        before = {name: variable.value for name, variable in kept.items()}
        out_BTHV, after = extend_cache(self.config, before, query, key, value, self._network())
        for name, variable in kept.items():
            variable.value = after[name]
        return out_BTHV


def _last_rows(mask: Array | None, full: tuple[int, ...], rows: int) -> Array | None:
    """Return the last rows of a mask that broadcasts to ``full``; one that all queries share stays."""
    if mask is None:
        return None
    four = check_mask(mask, full)
    return four if four.shape[2] == 1 else four[:, :, -rows:]


class Block(nn.Module):
    """z = x + attention(LayerNorm(x)), then z + feedforward(LayerNorm(z)), or z alone.

    Attributes:
        config: the transformer's.
        return_codes: whether to return latent codes.
        num_outputs: how many of the last tokens have an output; None for all.
        edit_codes: of latent codes, or None.
    """

    config: TransformerConfig
    return_codes: bool = False
    num_outputs: int | None = None
    edit_codes: Edit | None = None

    @nn.compact
    def __call__(
        self, x_BTE: Array, mask: Array | None, dropout_key: Array | None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the latent codes ``[B, H, A, T]``, None unless returned, or if tiled."""
        config = self.config
        attention = SelfAttention(
            config, self.return_codes, self.num_outputs, self.edit_codes, name="attention"
        )
        added_BAE, codes = attention(LayerNorm(name="norm_attention")(x_BTE), mask, dropout_key)
        x_BAE = x_BTE[:, -added_BAE.shape[1] :] + added_BAE
        make_feedforward = FEEDFORWARD[config.feedforward]
        if make_feedforward is None:
            return x_BAE, codes
        feedforward = make_feedforward(config.mlp_width, jnp.dtype(config.dtype), name="feedforward")
        return x_BAE + feedforward(LayerNorm(name="norm_feedforward")(x_BAE)), codes


RematerialisedBlock = nn.remat(Block)
"""A block that the backward pass computes anew; its parameters have the same names."""


class Transformer(nn.Module):
    """The whole: tokens in, numbers out.

    A causal model with rotary encoding goes on with a sequence where Flax's collection ``cache`` is
    mutable, and looks at it nowhere else: tokens follow those that it holds, and come to be held::

        logits, cache = model.apply(params, tokens, mutable=["cache"])
        logits, cache = model.apply({**params, **cache}, next_tokens, mutable=["cache"])

    No more than ``config.length`` tokens may come in all: more can't be told, and give wrong outputs.

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
        num_outputs: int | None = None,
        return_codes: bool = False,
        return_hidden: bool = False,
        edit_codes: EditCodes | None = None,
    ) -> Any:
        """Apply the transformer.

        Args:
            tokens: floating ``[B, T, I]``; with a vocabulary, integers ``[B, T]``.
            dropout_key: a JAX random key in training; None, for evaluation, drops nothing.
            mask: bool, broadcasts to ``[B, H, T, T]``, or None: which tokens see which, besides
                causality.
            num_outputs: how many of the last tokens have outputs, A; None for all T. The last block then
                takes keys and values of all tokens, and does all else for these alone.
            return_codes: whether to return the latent codes as well: ``[B, H, A, T]`` in the last layer.
            return_hidden: whether to return what the outputs are made of, in their place: with a
                vocabulary, outputs are the product of it and the embedding table, which a loss may
                want to make a few tokens at a time.
            edit_codes: puts other latent codes in the place of a layer's, after the normalisation; None
                leaves them, at no cost.

        Returns:
            float32 or better ``[B, A, O]``, O the vocabulary if there is one; with ``return_codes`` a pair
            of it and a tuple of the latent codes of each layer, ``[B, H, T, T]``, or None for each if tiled;
            with ``return_hidden`` ``[B, A, E]`` of the configuration's type, after the last LayerNorm.

        Raises:
            ConfigurationError: (a ValueError) for tokens of another shape, or too many; for another
                number of outputs than 1 to T; for ``return_hidden`` without a vocabulary, or with
                ``return_codes``; for ``edit_codes`` with tiles; for what a model with a cache can't do.
        """
        config = self.config
        _check_tokens(config, tokens)
        T = tokens.shape[1]
        A = check_integer("num_outputs", T if num_outputs is None else num_outputs, 1, T)
        if return_hidden and (return_codes or not config.vocabulary):
            raise ConfigurationError(
                f"return_hidden=True with vocabulary={config.vocabulary} and return_codes={return_codes}; "
                "expected a vocabulary and no scores"
            )
        dtype = jnp.dtype(config.dtype)
        if config.vocabulary:
            init = nn.initializers.normal(config.width**-0.5)
            table_NE = self.param("embedding", init, (config.vocabulary, config.width))
            # Gathered first and cast then: the gradient of rows that occur often is added up in float32.
            x_BTE = table_NE[tokens].astype(dtype)
        else:
            x_BTE = Dense(config.width, dtype=dtype, name="embedding")(tokens)
        block = RematerialisedBlock if config.rematerialise else Block
        all_codes = []
        for layer in range(config.layers):
            key = None if dropout_key is None else jax.random.fold_in(dropout_key, layer)
            outputs = A if layer == config.layers - 1 else None
            edit = None if edit_codes is None else partial(edit_codes, layer)
            x_BTE, codes = block(config, return_codes, outputs, edit, name=f"block_{layer}")(x_BTE, mask, key)
            all_codes.append(codes)
        x_BTE = LayerNorm(name="norm")(x_BTE)
        if return_hidden:
            return x_BTE
        if config.vocabulary:
            out = multiply(jnp.matmul, x_BTE, table_NE.T, dtype)
        else:
            out = Dense(config.outputs, dtype=dtype, name="out")(x_BTE).astype(accumulator(dtype))
        return (out, tuple(all_codes)) if return_codes else out


def _check_tokens(config: TransformerConfig, tokens: Array) -> None:
    kind, last = (jnp.integer, ()) if config.vocabulary else (jnp.floating, (config.inputs,))
    fits = tokens.ndim == 2 + len(last) and tokens.shape[2:] == last and tokens.shape[1] <= config.length
    if not fits or not jnp.issubdtype(tokens.dtype, kind):
        wanted = ", ".join(["B", f"T up to {config.length}", *map(str, last)])
        raise ConfigurationError(
            f"tokens have shape {list(tokens.shape)} and dtype {tokens.dtype}; expected [{wanted}] of type "
            f"{kind.__name__}"
        )
