"""Configurations of runs: the paper's hyperparameters, and where its published code has others."""

from collections.abc import Mapping
from typing import Any

from baselines.config import RunConfig, check_warmup
from baselines.model.names import look_up
from baselines.table_a3 import TABLE_A3
from sraven.board.board import Board
from sraven.core.errors import ConfigurationError


def recipe_of(family: str) -> dict[str, Any]:
    """Return the fields of a single run: the shallowest model, of width factor 1."""
    paper = TABLE_A3[family]
    return {"layers": paper.layers[0], **paper.shape, **paper.start}


FAMILIES: dict[str, Mapping[str, Any]] = {
    "sraven": recipe_of("sraven"),
    "sraven-twins": recipe_of("sraven"),
    "fuzzylogic": recipe_of("fuzzylogic"),
}
"""The fields of `RunConfig` that a run has by default, by family of its task; no other is trained on."""

RECIPES: Mapping[str, Mapping[str, Any]] = {
    "paper": {
        "attention_dropout": 0.0,
        "position": "relative_one_way",
        "lr_schedule": "warmup_cosine",
        "weight_decay_mask": "no_biases",
    },
    "paper-code": {
        "attention_dropout": 0.1,
        "position": "relative_one_way",
        "lr_schedule": "warmup_cosine_paper_code",
        "weight_decay_mask": "no_vectors",
    },
}
"""Fields in which the paper's published code parts from it, or on which it is silent, by recipe."""

USUAL: Mapping[str, Any] = {"recipe": "paper", "activation": "relu", "feedforward": "mlp", **RECIPES["paper"]}
"""What a run of any task has by default."""


def defaults_of(board: Board) -> dict[str, Any]:
    """Return what a run on a board has by default, but for what depends on the budget: its steps.

    Raises:
        ConfigurationError: if no baseline is trained on such tasks.
    """
    if board.family not in FAMILIES:
        raise ConfigurationError(
            f"board {board.id!r} has task {board.family!r}; expected {', '.join(FAMILIES)}"
        )
    return {**USUAL, **FAMILIES[board.family]}


def make_config(
    board: Board, attention: str, *, recipe: str = "paper", seed: int = 0, **changes: Any
) -> RunConfig:
    """Return the configuration of a run: the recipe's, with changes.

    Args:
        board: the board to train on.
        attention: its name, see `baselines.model.attention.check_attention`.
        recipe: ``paper`` or ``paper-code``.
        seed: draws the initial parameters and dropout.
        changes: fields of `RunConfig` and their values; None leaves the recipe's.

    Raises:
        ConfigurationError: for an unknown name or a value out of range.
    """
    usual = defaults_of(board)
    given = {name: value for name, value in changes.items() if value is not None}
    batch_size = given.get("batch_size", usual["batch_size"])
    values = {
        "board": board.id,
        "board_digest": board.digest,
        "attention": attention,
        "steps": max(1, board.train_budget // max(1, batch_size)),
        "seed": seed,
        **usual,
        "recipe": recipe,
        **look_up("recipe", recipe, RECIPES),
        **given,
    }
    if "warmup" not in given:  # of a short run, a tenth
        values["warmup"] = min(values["warmup"], values["steps"] // 10)
    return check_warmup(RunConfig(**values))
