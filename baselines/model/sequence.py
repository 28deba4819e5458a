"""The frame of all networks: the embedding of tokens, and outputs read off the last layer."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import NO_ATTENTION
from baselines.model.config import TransformerConfig
from baselines.model.fast.layers import LayerNorm
from baselines.model.products import accumulator, matmul
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError

Array = jax.Array


class CallOptions(NamedTuple):
    """How a network is applied, besides its tokens.

    Attributes:
        dropout_key: a random key in training, or None.
        num_outputs: how many of the last tokens have outputs, A.
        return_codes: whether latent codes are returned.
    """

    dropout_key: Array | None
    num_outputs: int
    return_codes: bool


class SequenceModel(nn.Module):
    """A network but for its layers, which are a method: tokens in, numbers out.

    Attributes:
        config: its shape.
    """

    config: TransformerConfig

    has_codes: ClassVar[bool] = True
    """Whether it has an attention, and so latent codes."""

    codes_by_token: ClassVar[bool] = True
    """Whether they are of pairs of the sequence's tokens, as `sraven analyse` needs them."""

    def __post_init__(self) -> None:
        attention, name = self.config.attention, type(self).__name__
        if self.has_codes == (attention == NO_ATTENTION):
            wanted = "needs one, such as 'hyla'" if self.has_codes else "has none; leave it out"
            raise ConfigurationError(f"attention={attention!r}: {name} {wanted}")
        super().__post_init__()

    def layers(self, x_BTE: Array, options: CallOptions) -> tuple[Array, tuple[Array | None, ...]]:
        """Apply the layers to the embedded tokens.

        Returns:
            ``[B, T, E]``, or ``[B, A, E]`` of the tokens with outputs alone; and the latent codes of each
            layer, or None for each.
        """
        raise NotImplementedError

    @nn.compact
    def __call__(
        self,
        tokens: Array,
        dropout_key: Array | None = None,
        *,
        num_outputs: int | None = None,
        return_codes: bool = False,
        return_hidden: bool = False,
    ) -> Any:
        """Apply the network.

        Args:
            tokens: floating ``[B, T, I]``; with a vocabulary, integers ``[B, T]``.
            dropout_key: a JAX random key in training; None, for evaluation, drops nothing.
            num_outputs: how many of the last tokens have outputs, A; None for all T. The last block then
                takes keys and values of all tokens, and does all else for these alone.
            return_codes: whether to return the latent codes as well: ``[B, H, A, T]`` in the last layer.
            return_hidden: whether to return what the outputs are made of, in their place: with a
                vocabulary, outputs are the product of it and the embedding table, which a loss may
                want to make a few tokens at a time.

        Returns:
            float32 or better ``[B, A, O]``, O the vocabulary if there is one; with ``return_codes`` a pair
            of it and a tuple of the latent codes of each layer, ``[B, H, T, T]`` if `codes_by_token`, or
            None for each if tiled;
            with ``return_hidden`` ``[B, A, E]`` of the configuration's type, after the last LayerNorm.

        Raises:
            ConfigurationError: (a ValueError) for tokens of another shape, or too many; for another
                number of outputs than 1 to T; for ``return_hidden`` without a vocabulary, or with
                ``return_codes``.
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
            x_BTE = config.dense(config.width, name="embedding")(tokens)
        options = CallOptions(dropout_key, A, return_codes)
        x_BTE, codes = self.layers(x_BTE, options)
        x_BAE = LayerNorm(name="norm")(x_BTE[:, -A:])
        if return_hidden:
            return x_BAE
        if config.vocabulary:
            out = matmul(x_BAE, table_NE.T, dtype)
        else:
            out = config.dense(config.outputs, name="out")(x_BAE).astype(accumulator(dtype))
        return (out, codes) if return_codes else out


def _check_tokens(config: TransformerConfig, tokens: Array) -> None:
    kind, last = (jnp.integer, ()) if config.vocabulary else (jnp.floating, (config.inputs,))
    fits = tokens.ndim == 2 + len(last) and tokens.shape[2:] == last and tokens.shape[1] <= config.length
    if not fits or not jnp.issubdtype(tokens.dtype, kind):
        wanted = ", ".join(["B", f"T up to {config.length}", *map(str, last)])
        raise ConfigurationError(
            f"tokens have shape {list(tokens.shape)} and dtype {tokens.dtype}; expected [{wanted}] of type "
            f"{kind.__name__}"
        )
