"""Floating-point operations of a training step of the language model."""

from math import prod

from baselines.config import LanguageConfig
from baselines.model.attention import find_attention

_TRAINING = 3
"""Forward and backward take three times what forward takes: two products for each one's gradients."""


def flops_per_token(config: LanguageConfig, parameters: int) -> float:
    """Return what a model needs to train on a token: without what is computed twice, padding or masked pairs.

    Six for each parameter, all of which multiply something in the blocks or at the output, where the table
    of the embedding does; and attention: 2 · P for the scores of a pair of positions and 2 · P for each mix,
    of which HYLA has two, with P = H · D, and 2 for each weight of an attention's own, as the latent code
    mixes them; a token sees (T + 1) / 2 positions on average. Linear attention needs no pairs: its state of
    H · D · D numbers is written and read once.

    Args:
        config: of the run.
        parameters: of the model.
    """
    pairs = (config.length + 1) / 2
    head_width = config.qkv_width // config.heads
    attention = find_attention(config.attention)
    if "chunked" in attention.forms:
        operations = 4.0 * config.qkv_width * head_width
    else:
        own = (kind.shape(config.heads, head_width, head_width) for kind in attention.weights.values())
        operations = pairs * 2.0 * (config.qkv_width * (1 + attention.mixes) + sum(map(prod, own)))
    return _TRAINING * (2.0 * parameters + config.layers * operations)
