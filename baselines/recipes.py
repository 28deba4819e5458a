"""The paper's hyperparameters (appendix C, Table A3), and where its published code has others."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pkgutil import resolve_name
from typing import Any, TypeVar

from baselines.config import LanguageConfig, RunConfig
from baselines.lm.corpus import Corpus
from baselines.model.names import look_up
from sraven.core.boards.board import Board
from sraven.core.ground.errors import ConfigurationError
from sraven.core.tasks.families import find_family, trained_families

C = TypeVar("C", bound=RunConfig)


@dataclass(frozen=True)
class Experiments:
    """A column of the paper's Table A3: what the runs on one task share, and what is searched.

    Attributes:
        source: where in the paper the values stand.
        shape: fields of a configuration that all runs share, at width factor 1. ``qkv_width`` counts all
            heads: as the published code does on the two tasks; of the language model, the table has a head's.
        layers: depths.
        width_factors: multiply the widths of the embedding, of queries, keys and values, and of the MLP.
        budgets: what is trained on: instances, or tokens of the language model.
        budget_source: where those stand.
        grid: the values that are searched, by the name of a field; the best by its in-distribution score.
        start: the point of the grid that a single run takes.
    """

    source: str
    shape: Mapping[str, int]
    layers: tuple[int, ...]
    width_factors: tuple[int, ...]
    budgets: tuple[int, ...]
    budget_source: str
    grid: Mapping[str, tuple[float, ...]]
    start: Mapping[str, float]

    @property
    def points(self) -> tuple[Mapping[str, float], ...]:
        """All points of the grid, the one that a single run takes first."""
        points = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        return tuple(sorted(points, key=lambda point: point != self.start))


TABLE_A3: Mapping[str, Experiments] = {
    "fuzzylogic": Experiments(
        source="Table A3, column Fuzzy logic",
        shape={"batch_size": 128, "width": 128, "heads": 8, "qkv_width": 16, "mlp_width": 256},
        layers=(2,),
        width_factors=(1,),
        budgets=(50_000 * 128,),
        budget_source="the paper doesn't say; 50,000 steps are the published code's",
        grid={"learning_rate": (0.001, 0.003), "weight_decay": (0.03, 0.1), "warmup": (100,)},
        start={"learning_rate": 0.001, "weight_decay": 0.1, "warmup": 100},
    ),
    "sraven": Experiments(
        source="Table A3, column SRAVEN",
        shape={"batch_size": 128, "width": 128, "heads": 16, "qkv_width": 64, "mlp_width": 256},
        layers=(4, 8, 16),
        width_factors=(1, 2, 4),
        budgets=(10_000_000, 20_000_000, 40_000_000),
        budget_source="Figures 4 and A6, Table A1",
        grid={"learning_rate": (0.0003, 0.001), "weight_decay": (0.1, 0.3), "warmup": (1000, 3000)},
        start={"learning_rate": 0.001, "weight_decay": 0.1, "warmup": 1000},
    ),
    "c4": Experiments(
        source="Table A3, column Language modeling",
        shape={"batch_size": 256, "width": 512, "heads": 8, "qkv_width": 8 * 64, "mlp_width": 2048},
        layers=(6,),
        width_factors=(1,),
        budgets=(130_000_000_000,),
        budget_source="section 5; the authors' reply to reviewers says 150 billion",
        grid={"learning_rate": (0.001, 0.003), "weight_decay": (0.1, 0.03), "warmup": (1000,)},
        start={"learning_rate": 0.001, "weight_decay": 0.1, "warmup": 1000},
    ),
}
"""The paper's hyperparameters (appendix C, Table A3), by family of tasks."""


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


def recipe_of(board: Board) -> Mapping[str, Any]:
    """Return the fields that a single run on a board has unless told otherwise; none for a board of text."""
    recipe = find_family(board.family).recipe
    fields: Mapping[str, Any] = resolve_name(recipe) if recipe else {}
    return fields


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
    shape = recipe_of(board)
    if not shape:
        allowed = ", ".join(trained_families())
        raise ConfigurationError(f"board {board.id!r} has task {board.family!r}; expected {allowed}")
    given = {name: value for name, value in changes.items() if value is not None}
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
