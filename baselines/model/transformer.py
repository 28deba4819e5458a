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

from baselines.model.attention import Edit
from baselines.model.config import TransformerConfig
from baselines.model.dense import by_rows
from baselines.model.feedforward import FEEDFORWARD
from baselines.model.layer_norm import LayerNorm
from baselines.model.mixing import accumulator, multiply
from baselines.model.self_attention import SelfAttention
from sraven.core.ground.arguments import check_integer
from sraven.core.ground.errors import ConfigurationError

Array = jax.Array

EditCodes = Callable[[int, Array], Array]
"""Returns other latent codes of a layer, given which it is, from 0, and its own: ``[B, H, T, T]`` both, and
``[B, H, A, T]`` in the last layer, of the A tokens that are asked."""


class Block(nn.Module):
    """z = x + attention(LayerNorm(x)), then z + feedforward(LayerNorm(z)), or z alone.

    Attributes:
        config: the transformer's.
        return_scores: whether to return latent codes.
        asked: how many of the last tokens the output is asked for; None for all.
        edit_codes: of latent codes, or None.
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
        config = self.config
        attention = SelfAttention(config, self.return_scores, self.asked, self.edit_codes, name="attention")
        added_BAE, codes = attention(_normalise(x_BTE, "norm_attention"), mask, dropout_key)
        x_BAE = x_BTE[:, -added_BAE.shape[1] :] + added_BAE
        make_feedforward = FEEDFORWARD[config.feedforward]
        if make_feedforward is None:
            return x_BAE, codes
        feedforward = make_feedforward(config.mlp_width, jnp.dtype(config.dtype), name="feedforward")
        return x_BAE + feedforward(_normalise(x_BAE, "norm_feedforward")), codes


def _normalise(x_BTE: Array, name: str) -> Array:
    """Apply a LayerNorm that is a part of the module at hand; it computes in float32 or better."""
    normal_BTE: Array = LayerNorm(name=name)(x_BTE.astype(accumulator(x_BTE.dtype)))
    return normal_BTE.astype(x_BTE.dtype)


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
        asked: int | None = None,
        return_scores: bool = False,
        return_hidden: bool = False,
        edit_codes: EditCodes | None = None,
    ) -> Any:
        """Apply the transformer.

        Args:
            tokens: floating ``[B, T, I]``; with a vocabulary, integers ``[B, T]``.
            dropout_key: a JAX random key in training; None, for evaluation, drops nothing.
            mask: bool, broadcasts to ``[B, H, T, T]``, or None: which tokens see which, besides
                causality.
            asked: how many of the last tokens outputs are asked for, A; None for all T. The last block
                then takes keys and values of all tokens, and does all else for these alone.
            return_scores: whether to return the latent codes as well: ``[B, H, A, T]`` in the last layer.
            return_hidden: whether to return what the outputs are made of, in their place: with a
                vocabulary, outputs are the product of it and the embedding table, which a loss may
                want to make a few tokens at a time.
            edit_codes: puts other latent codes in the place of a layer's, after the normalisation; None
                leaves them, at no cost.

        Returns:
            float32 or better ``[B, A, O]``, O the vocabulary if there is one; with ``return_scores`` a pair
            of it and a tuple of the latent codes of each layer, ``[B, H, T, T]``, or None for each if tiled;
            with ``return_hidden`` ``[B, A, E]`` of the configuration's type, after the last LayerNorm.

        Raises:
            ConfigurationError: (a ValueError) for tokens of another shape, or too many; for another
                number of asked ones than 1 to T; for ``return_hidden`` without a vocabulary, or with
                ``return_scores``; for ``edit_codes`` with tiles; for what a model with a cache can't do.
        """
        config = self.config
        _check_tokens(config, tokens)
        asked = check_integer("asked", tokens.shape[1] if asked is None else asked, 1, tokens.shape[1])
        if return_hidden and (return_scores or not config.vocabulary):
            raise ConfigurationError(
                f"return_hidden=True with vocabulary={config.vocabulary} and return_scores={return_scores}; "
                "expected a vocabulary and no scores"
            )
        dtype = jnp.dtype(config.dtype)
        if config.vocabulary:
            init = nn.initializers.normal(config.width**-0.5)
            table_NE = self.param("embedding", init, (config.vocabulary, config.width))
            # Gathered first and cast then: the gradient of rows that occur often is added up in float32.
            x_BTE = table_NE[tokens].astype(dtype)
        else:
            x_BTE = by_rows(nn.Dense(config.width, dtype=dtype, name="embedding"), tokens)
        block = RematerialisedBlock if config.rematerialise else Block
        all_codes = []
        for layer in range(config.layers):
            key = None if dropout_key is None else jax.random.fold_in(dropout_key, layer)
            kept = asked if layer == config.layers - 1 else None
            edit = None if edit_codes is None else partial(edit_codes, layer)
            x_BTE, codes = block(config, return_scores, kept, edit, name=f"block_{layer}")(x_BTE, mask, key)
            all_codes.append(codes)
        x_BTE = _normalise(x_BTE, "norm")
        if return_hidden:
            return x_BTE
        if config.vocabulary:
            out = multiply(jnp.matmul, x_BTE, table_NE.T, dtype)
        else:
            out = by_rows(nn.Dense(config.outputs, dtype=dtype, name="out"), x_BTE)
            out = out.astype(accumulator(dtype))
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
