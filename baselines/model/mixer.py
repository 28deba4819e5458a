"""MLP-Mixer (Tolstikhin et al. 2021; in context, beside transformers, Tong and Pehlevan, ICLR 2025).

Each of its blocks is two MLPs with a LayerNorm before each: one sees a channel of all tokens, the other all
channels of a token,

    x = x + W_down · gelu(W_up · LN(x) + b_up) + b_down        W_up: [S, T], W_down: [T, S]
    x = x + gelu(LN(x) · W_up + b_up) · W_down + b_down        as in the transformer.

S is chosen such that the first has as many parameters as the transformer's attention, of the configuration's
heads and widths, within one of its columns. Nothing is dropped in training.
"""

from flax import linen as nn

from baselines.model.config import TransformerConfig
from baselines.model.fast.layers import LayerNorm
from baselines.model.feedforward import MLP
from baselines.model.sequence import Array, CallOptions, SequenceModel
from sraven.core.errors import ConfigurationError


def token_width(config: TransformerConfig) -> int:
    """Return S, the hidden width of the MLP over tokens."""
    E, P, T = config.width, config.qkv_width, config.length
    attention = 3 * (E * P + P) + (P * E + E) + config.heads * T
    return max(1, round((attention - T) / (2 * T + 1)))


class MixerBlock(nn.Module):
    """An MLP over tokens, then one over channels.

    Attributes:
        config: the network's.
        num_outputs: A, how many of the last tokens the second is for; None for all.
    """

    config: TransformerConfig
    num_outputs: int | None = None

    @nn.compact
    def __call__(self, x_BTE: Array) -> Array:
        """Return ``[B, A, E]``."""
        config = self.config
        x_BET = LayerNorm(name="norm_tokens")(x_BTE).swapaxes(1, 2)
        x_BTE = x_BTE + MLP(token_width(config), config.dense, name="tokens")(x_BET).swapaxes(1, 2)
        x_BAE = x_BTE[:, -(self.num_outputs or config.length) :]
        normed_BAE = LayerNorm(name="norm_channels")(x_BAE)
        return x_BAE + MLP(config.mlp_width, config.dense, name="channels")(normed_BAE)


class Mixer(SequenceModel):
    """MLP-Mixer: sequences of exactly ``config.length`` tokens."""

    has_codes = False

    def __post_init__(self) -> None:
        if self.config.causal or self.config.feedforward != "mlp":
            raise ConfigurationError(
                f"causal={self.config.causal}, feedforward={self.config.feedforward!r}: a block of a mixer "
                "is two MLPs, one of which sees all tokens"
            )
        super().__post_init__()

    def layers(self, x_BTE: Array, options: CallOptions) -> tuple[Array, tuple[None, ...]]:
        """Apply one block after the other.

        Raises:
            ConfigurationError: for fewer tokens, or latent codes, which only attention has.
        """
        if options.return_codes:
            raise ConfigurationError("a mixer has no attention, and so no latent codes")
        if x_BTE.shape[1] != self.config.length:
            raise ConfigurationError(
                f"{x_BTE.shape[1]} tokens: a mixer of {self.config.length} takes no fewer"
            )
        for layer in range(self.config.layers):
            outputs = options.num_outputs if layer == self.config.layers - 1 else None
            x_BTE = MixerBlock(self.config, outputs, name=f"block_{layer}")(x_BTE)
        return x_BTE, ()
