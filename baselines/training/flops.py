"""Floating-point operations of training: of a pair of positions in attention, of a token of text."""

from math import prod

from baselines.config import LanguageConfig, RunConfig
from baselines.model.attention import MODULES, NO_ATTENTION, find_attention
from sraven.core.base.errors import ConfigurationError

TRAINING = 3
"""Forward and backward take three times what forward takes: two products for each one's gradients."""

_OF_BLOCKS = ("transformer", "looped")
"""Networks that consist of the transformer's blocks."""


def pair_operations(config: RunConfig) -> float:
    """Return the operations of a pair of positions in a block's attention, forward.

    With P = H · D it is 2 · P for its scores, 2 · P for each mix, of which HYLA has two, and 2 for each
    weight of an attention's own, as the latent code mixes them.

    Raises:
        ConfigurationError: (a ValueError) for a network or an attention that does something else.
    """
    if config.network not in _OF_BLOCKS or config.attention in (*MODULES, NO_ATTENTION):
        raise ConfigurationError(f"{config.architecture}: nobody has counted its operations")
    attention, head_width = find_attention(config.attention), config.qkv_width // config.heads
    own = (kind.shape(config.heads, head_width, head_width) for kind in attention.weights.values())
    return 2.0 * (config.qkv_width * (1 + attention.mixes) + sum(map(prod, own)))


def flops_per_token(config: LanguageConfig, parameters: int) -> float:
    """Return what a model needs to train on a token: without what is computed twice, padding or masked pairs.

    Six for each parameter, all of which multiply something in the blocks or at the output, where the table
    of the embedding does; and attention: `pair_operations` for each of the (T + 1) / 2 positions that a token
    sees on average. Linear attention needs no pairs: its state of H · D · D numbers is written and read once.

    Args:
        config: of the run.
        parameters: of the model.
    """
    if "chunked" in find_attention(config.attention).implementations:
        operations = 4.0 * config.qkv_width * (config.qkv_width // config.heads)
    else:
        operations = (config.length + 1) / 2 * pair_operations(config)
    return TRAINING * (2.0 * parameters + config.layers * operations)
