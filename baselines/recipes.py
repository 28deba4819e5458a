"""Configurations of runs: the paper's hyperparameters, and where its published code has others."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, TypeVar

from baselines.config import LanguageConfig, RunConfig
from baselines.lm.corpus import Corpus
from baselines.model.names import look_up
from baselines.table_a3 import TABLE_A3
from sraven.core.boards.board import Board
from sraven.core.ground.errors import ConfigurationError
from sraven.core.tasks.families import find_family, trained_families

C = TypeVar("C", bound=RunConfig)


def _recipe_of(family: str) -> dict[str, Any]:
    """Return the fields of a single run: the shallowest model, of width factor 1."""
    paper = TABLE_A3[family]
    return {"layers": paper.layers[0], **paper.shape, **paper.start}


SRAVEN, FUZZYLOGIC = _recipe_of("sraven"), _recipe_of("fuzzylogic")
"""What a run has unless told otherwise: what its family names (`sraven.core.tasks.family.Family.recipe`)."""

RECIPES: Mapping[str, Mapping[str, Any]] = {
    "paper": {"attention_dropout": 0.0},
    "paper-code": {"attention_dropout": 0.1},
}
"""What recipes set; `baselines.optim` and the model have further differences."""

SIZES: Mapping[str, Mapping[str, Any]] = {
    "paper": {**_recipe_of("c4"), "length": 512, "dtype": "bfloat16"},
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
"""Language models by name: the paper's, and one that trains on a CPU in a minute."""


def _that_warms_up(config: C) -> C:
    """Return a configuration whose rate reaches its peak.

    Raises:
        ConfigurationError: if the run ends before.
    """
    if config.warmup > config.steps:
        raise ConfigurationError(
            f"steps={config.steps:,} with warmup={config.warmup:,}: the learning rate would never reach "
            f"{config.learning_rate:g}; choose a warm-up of as many steps at most"
        )
    return config


def make_config(
    board: Board, attention: str, *, recipe: str = "paper", seed: int = 0, **changes: Any
) -> RunConfig:
    """Return the configuration of a run: the recipe's, with changes.

    Args:
        board: the board to train on.
        attention: a name of `baselines.model.attention.ATTENTION`.
        recipe: ``paper`` or ``paper-code``.
        seed: draws the initial parameters and dropout.
        changes: fields of `RunConfig` and their values; None leaves the recipe's.

    Raises:
        ConfigurationError: for an unknown name or a value out of range.
    """
    family = find_family(board.family)
    if not family.recipe:
        allowed = ", ".join(trained_families())
        raise ConfigurationError(f"board {board.id!r} has task {family.name!r}; expected {allowed}")
    given = {name: value for name, value in changes.items() if value is not None}
    shape: Mapping[str, Any] = resolve_name(family.recipe)
    batch_size = given.get("batch_size", shape["batch_size"])
    values = {
        "board": board.id,
        "board_digest": board.digest,
        "attention": attention,
        "recipe": recipe,
        "steps": max(1, board.train_budget // max(1, batch_size)),
        "seed": seed,
        "activation": "relu",
        "feedforward": "mlp",
        **shape,
        **look_up("recipe", recipe, RECIPES),
        **given,
    }
    return _that_warms_up(RunConfig(**values))


def make_language_config(
    board: Board,
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
        board: with a training budget in tokens, such as ``c4-v1``.
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
    shape = look_up("size", size, SIZES)
    given = {name: value for name, value in changes.items() if value is not None}
    tokens = given.get("batch_size", shape["batch_size"]) * given.get("length", shape["length"])
    values = {
        "board": board.id,
        "board_digest": board.digest,
        "corpus": corpus.digest,
        "vocabulary": corpus.tokenizer["pieces"],
        "attention": attention,
        "recipe": recipe,
        "steps": max(1, board.train_budget // max(1, tokens)),
        "seed": seed,
        "activation": "relu",
        "feedforward": "mlp",
        "attention_dropout": 0.0,
        **shape,
        **given,
    }
    return _that_warms_up(LanguageConfig(**values))
