"""Configurations of runs: the paper's hyperparameters, and where its published code has others."""

from collections.abc import Mapping
from typing import Any

from baselines.config import RunConfig, check_warmup
from baselines.model.names import look_up
from baselines.table_a3 import TABLE_A3, Experiments
from sraven.board.board import Board
from sraven.core.errors import ConfigurationError


def recipe_of(paper: Experiments) -> dict[str, Any]:
    """Return the fields of a single run: the shallowest model, of width factor 1."""
    return {"layers": paper.layers[0], **paper.shape, **paper.start}


EXPERIMENTS: dict[str, Experiments] = {
    "sraven": TABLE_A3["sraven"],
    "sraven-twins": TABLE_A3["sraven"],
    "fuzzylogic": TABLE_A3["fuzzylogic"],
}
"""What a run has its defaults from, by family of the task: columns of Table A3, or the user's own."""


def warmup_of(family: str, steps: int) -> int:
    """Return the steps of warm-up: the share of all steps that `EXPERIMENTS` has at its middle budget."""
    paper = EXPERIMENTS[family]
    whole = paper.budgets[len(paper.budgets) // 2] // paper.shape["batch_size"]
    return max(1, round(paper.start["warmup"] * steps / whole))


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
    """Return what a run on a board has by default, but for what depends on the budget: steps and warm-up.

    Raises:
        ConfigurationError: if no baseline is trained on such tasks.
    """
    if board.family not in EXPERIMENTS:
        raise ConfigurationError(
            f"board {board.id!r} has task {board.family!r}; expected {', '.join(EXPERIMENTS)}, "
            "or an entry of EXPERIMENTS for it"
        )
    usual = {**USUAL, **recipe_of(EXPERIMENTS[board.family])}
    del usual["warmup"]
    return usual


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
    values.setdefault("warmup", warmup_of(board.family, values["steps"]))
    return check_warmup(RunConfig(**values))
