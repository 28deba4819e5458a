"""Configurations of language models: the paper's, and one that trains on a CPU in a minute."""

from collections.abc import Mapping
from typing import Any

from baselines.config import C4, LanguageConfig, check_warmup
from baselines.lm.corpus import Corpus
from baselines.model.names import look_up
from baselines.recipes import USUAL, recipe_of
from baselines.table_a3 import TABLE_A3
from sraven.core.errors import ConfigurationError

SIZES: Mapping[str, Mapping[str, Any]] = {
    "paper": {**recipe_of(TABLE_A3["c4"]), "length": 512, "dtype": "bfloat16"},
    "tiny": {
        "layers": 2,
        "width": 64,
        "heads": 4,
        "qkv_width": 64,
        "mlp_width": 256,
        "length": 128,
        "batch_size": 8,
        "learning_rate": 1e-2,
        "weight_decay": 0.1,
        "warmup": 20,
        "steps": 200,
        "dtype": "float32",
    },
}
"""Fields by the name of the size."""


def make_language_config(
    corpus: Corpus,
    attention: str,
    *,
    size: str = "paper",
    recipe: str = "paper",
    seed: int = 0,
    **changes: Any,
) -> LanguageConfig:
    """Return the configuration of a run of the language model: that of a size, with changes.

    Args:
        corpus: what is trained on.
        attention: a name of `baselines.model.attention.ATTENTION`.
        size: a name of `SIZES`.
        recipe: ``paper``; the published code has no recipe for C4.
        seed: draws the initial parameters and dropout.
        changes: fields of `LanguageConfig` and their values; None leaves the size's.

    Raises:
        ConfigurationError: for an unknown name or a value out of range.
    """
    if recipe != "paper":
        raise ConfigurationError(f"recipe={recipe!r}: the language model has 'paper' alone")
    text = {"corpus": corpus.digest, "vocabulary": corpus.tokenizer["pieces"]}
    given = {name: value for name, value in changes.items() if value is not None}
    fields = {**text, "attention": attention, "seed": seed, **given}
    return check_warmup(config_on_text(size=size, **fields))


def config_on_text(*, size: str = "paper", **fields: Any) -> LanguageConfig:
    """Return the configuration of a run of a size, with some fields, of which it needs those of the text."""
    shape = {**look_up("size", size, SIZES), **fields}
    values = {
        "board": C4.id,
        "board_digest": C4.digest,
        "steps": max(1, C4.train_budget // max(1, shape["batch_size"] * shape["length"])),
        **USUAL,
        "position": "rotary",
        **shape,
    }
    return LanguageConfig(**values)
