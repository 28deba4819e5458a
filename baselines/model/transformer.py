"""The paper's transformer (appendix C): pre-LayerNorm blocks of attention and a feed-forward layer.

Parameters are float32; ``config.dtype`` is what they and the activations are computed in. With vectors
as tokens and an MLP there are

    L · (3 · (E·P + P) + (P·E + E) + H·T + (E·F + F) + (F·E + E) + 4·E) + 2·E + (I·E + E) + (E·O + O)

of them, for L layers and P = H · D: queries, keys, values, the output projection, the table of
positions, the MLP and two LayerNorms of each block; the final LayerNorm; the embedding; the output.
That is 402,824 for SRAVEN (I = O = 8, T = 36) and 151,265 for fuzzy logic (I = 5, O = 1, T = 32), as in
the paper's published code.
"""

import jax
from flax import linen as nn

from baselines.model.attention import find_module
from baselines.model.config import TransformerConfig
from baselines.model.fast.layers import LayerNorm
from baselines.model.feedforward import FEEDFORWARD
from baselines.model.self_attention import SelfAttention
from baselines.model.sequence import CallOptions, SequenceModel

Array = jax.Array


class Block(nn.Module):
    """z = x + attention(LayerNorm(x)), then z + feedforward(LayerNorm(z)), or z alone.

    Attributes:
        config: the transformer's.
        return_codes: whether to return latent codes.
        crosses: whether tokens with outputs see those before them alone, and not each other.
    """

    config: TransformerConfig
    return_codes: bool = False
    crosses: bool = False

    @nn.compact
    def __call__(
        self, x_BTE: Array, dropout_key: Array | None, num_outputs: int | None = None
    ) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the latent codes ``[B, H, A, T]``, None unless returned, or if tiled.

        ``num_outputs`` is A, how many of the last tokens have an output; None for all.
        """
        config = self.config
        make_attention = find_module(config.attention) or SelfAttention
        attention = make_attention(config, self.return_codes, num_outputs, self.crosses, name="attention")
        normed_BTE = LayerNorm(name="norm_attention")(x_BTE)
        added_BAE, codes = attention(normed_BTE, dropout_key)
        x_BAE = x_BTE[:, -added_BAE.shape[1] :] + added_BAE
        make_feedforward = FEEDFORWARD[config.feedforward]
        if make_feedforward is None:
            return x_BAE, codes
        feedforward = make_feedforward(config, name="feedforward")
        return x_BAE + feedforward(LayerNorm(name="norm_feedforward")(x_BAE)), codes


RematerialisedBlock = nn.remat(Block, static_argnums=(3,))
"""A block that the backward pass recomputes; its parameters have the same names."""


class Transformer(SequenceModel):
    """The whole: tokens in, numbers out.

    Attributes:
        config: its shape.

    Example:
        >>> model = Transformer(TransformerConfig(inputs=8, outputs=8, length=36))
        >>> params = model.init(jax.random.key(0), jnp.zeros((1, 36, 8)))
        >>> model.apply(params, jnp.zeros((2, 36, 8))).shape
        (2, 36, 8)
    """

    def layers(self, x_BTE: Array, options: CallOptions) -> tuple[Array, tuple[Array | None, ...]]:
        """Apply one block after the other."""
        return apply_blocks(self.config, range(self.config.layers), x_BTE, options)


def apply_blocks(
    config: TransformerConfig, layers: range, x_BTE: Array, options: CallOptions
) -> tuple[Array, tuple[Array | None, ...]]:
    """Apply the blocks of some layers, the network's last one to the tokens with outputs alone.

    Returns:
        what they make of the tokens, and the latent codes of each, or None.
    """
    all_codes = []
    for layer in layers:
        block = make_block(config)(config, options.return_codes, name=f"block_{layer}")
        x_BTE, codes = block(x_BTE, *block_arguments(config, options, layer))
        all_codes.append(codes)
    return x_BTE, tuple(all_codes)


def make_block(config: TransformerConfig) -> type[Block]:
    """Return which kind of block a configuration has."""
    return RematerialisedBlock if config.rematerialise else Block


def block_arguments(
    config: TransformerConfig, options: CallOptions, layer: int
) -> tuple[Array | None, int | None]:
    """Return a block's other arguments: random key, number of outputs."""
    key = None if options.dropout_key is None else jax.random.fold_in(options.dropout_key, layer)
    return key, options.num_outputs if layer == config.layers - 1 else None
