"""Floating-point operations of a training step of the language model."""

from baselines.config import LanguageConfig

_TRAINING = 3
"""Forward and backward take three times what forward takes: two products for each one's gradients."""


def flops_per_token(config: LanguageConfig, parameters: int) -> float:
    """Return what a model needs to train on a token: without what is computed twice, padding or masked pairs.

    Six for each parameter, all of which multiply something in the blocks or at the output, where the table
    of the embedding does; and attention: 2 · P for the scores of a pair of positions and 2 · P for each mix,
    of which HYLA has two and a deep network three, with P = H · D; a token sees (T + 1) / 2 positions on
    average. Linear attention needs no pairs: its state of H · D · D numbers is written and read once.

    Args:
        config: of the run.
        parameters: of the model.
    """
    pairs = (config.length + 1) / 2
    head_width = config.qkv_width // config.heads
    if config.attention == "linear":
        attention = 4.0 * config.qkv_width * head_width
    else:
        mixes = 1 + config.attention.startswith("hyla")
        attention = pairs * 2.0 * config.qkv_width * (1 + mixes)
        if config.attention == "hyla_deep":
            attention += pairs * 2.0 * config.qkv_width * head_width
    return _TRAINING * (2.0 * parameters + config.layers * attention)
