"""Trained runs onto their board: predictions of its splits, as a submission."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.encode import Encoding, encoding_of
from baselines.experiment import board_of, transformer_of
from baselines.load import load_run
from baselines.optim import OPTIMISERS
from baselines.step import matmul_precision
from sraven.core.boards.board import Board, load_board
from sraven.core.ground.errors import ConfigurationError
from sraven.core.ground.spec import values_of
from sraven.core.submissions.submit import check_new, write_submission
from sraven.core.tasks.families import generator_of

_AT_ONCE = 512

_AT_ONCE_ON_CPU = 32
"""Instances whose arrays fit into the cache of a core."""


@lru_cache(maxsize=1)
def _predictor(config: RunConfig) -> tuple[tuple[str, ...], Any]:
    """Return the fields that a model needs, and what predicts a batch: once for all runs of a shape."""
    encoding: Encoding = encoding_of(board_of(config).task)
    model = transformer_of(config, encoding)

    @jax.jit
    def predict_batch(params: Any, batch: dict[str, jax.Array]) -> jax.Array:
        def predict_piece(piece: dict[str, jax.Array]) -> jax.Array:
            with matmul_precision(config.precision):
                out: Any = model.apply({"params": params}, encoding.tokens(piece), asked=encoding.asked)
            return encoding.predict(out)

        at_once = _AT_ONCE_ON_CPU if jax.default_backend() == "cpu" else _AT_ONCE
        pieces = jax.tree.map(lambda array: array.reshape(-1, at_once, *array.shape[1:]), batch)
        found = jax.lax.map(predict_piece, pieces)
        return jnp.asarray(found.reshape(-1, *found.shape[2:]))

    return encoding.fields, predict_batch


def predict(config: RunConfig, params: Any, board: Board, split: str) -> NDArray[Any]:
    """Return the predictions of a split, in the order of its indices.

    Args:
        config: of the run.
        params: its parameters.
        board: the board.
        split: a scored split.
    """
    fields, predict_batch = _predictor(replace(config, seed=0, learning_rate=0.0, weight_decay=0.0, warmup=0))
    size, found = board.splits[split], []
    for start in range(0, size, _AT_ONCE):
        # The last batch is filled up with what comes after the split, so that one program serves all.
        batch = generator_of(board.task).sample(split, start, _AT_ONCE)
        found.append(np.asarray(predict_batch(params, {name: getattr(batch, name) for name in fields})))
    return np.concatenate(found)[:size]


def write_entry(
    runs: Sequence[Path],
    out: str | os.PathLike[str],
    *,
    authors: Sequence[str],
    code_commit: str | None = None,
) -> None:
    """Predict a board's splits with runs that differ in their seed alone, and write the submission.

    Args:
        runs: their directories, finished.
        out: a directory that doesn't exist yet.
        authors: who submits.
        code_commit: of the code that trained the runs, if it is known.

    Raises:
        ConfigurationError: if the runs differ in more than their seed.
        OutputError: if one isn't finished, or ``out`` exists.
    """
    check_new(Path(out))
    loaded = [load_run(path) for path in runs]
    configs = [config for config, _ in loaded]
    check_alike(runs, configs)
    board = load_board(configs[0].board)
    predictions = {
        split: {config.seed: predict(config, params, board, split) for config, params in loaded}
        for split in board.splits
    }
    seen = configs[0].steps * configs[0].batch_size
    description = describe_runs(configs, loaded[0][1], seen, f"{seen:,} instances", authors, code_commit)
    description["training"]["selection_split"] = "test"
    write_submission(out, board.id, predictions, **description)


def check_alike(runs: Sequence[Path], configs: Sequence[RunConfig]) -> None:
    """Check that runs differ in their seeds, and in nothing else.

    Raises:
        ConfigurationError: if they don't.
    """
    for path, config in zip(runs, configs, strict=True):
        if replace(config, seed=configs[0].seed) != configs[0]:
            raise ConfigurationError(f"{path} differs from {runs[0]} in more than its seed")
    if len({config.seed for config in configs}) < len(configs):
        raise ConfigurationError("two of the runs have the same seed")


def describe_runs(
    configs: Sequence[RunConfig],
    params: Any,
    seen: int,
    trained_on: str,
    authors: Sequence[str],
    code_commit: str | None,
) -> dict[str, Any]:
    """Return what a submission says of runs, as arguments of `write_submission`.

    Args:
        configs: of the runs, which differ in their seed alone.
        params: of one of them.
        seen: instances, or tokens, that each was trained on.
        trained_on: that in words.
        authors: who submits.
        code_commit: of the code that trained the runs, if it is known.
    """
    first, command = configs[0], train_command(configs)
    name = [first.attention]
    if first.feedforward != "mlp":
        name.append(first.feedforward)
    if first.attention_dropout:
        name.append(f"attention dropout {first.attention_dropout:g}")
    return {
        "method": {
            "name": ", ".join([*name, trained_on]),
            "family": "transformer",
            "description": f"The baseline transformer with {first.attention} attention: {command}",
            "authors": list(authors),
            "code_commit": code_commit,
            "license": "Apache-2.0",
        },
        "model": {
            "parameters": sum(leaf.size for leaf in jax.tree.leaves(params)),
            "layers": first.layers,
            "heads": first.heads,
            "width": first.width,
        },
        "training": {
            "instances": seen,
            "selection_split": None,
            "optimiser": OPTIMISERS[first.optimiser].title,
            "hardware": jax.devices()[0].device_kind,
        },
        "readme": f"Trained by\n\n    {command} --out runs\n",
    }


def train_command(configs: Sequence[RunConfig]) -> str:
    """Return the command that trains runs again: every field but those that follow is an option."""
    values = values_of(configs[0])
    board = values.pop("board")
    data = ["--data TOKENS"] if "corpus" in values else []
    for name in ("board_digest", "seed", "corpus", "vocabulary"):
        values.pop(name, None)
    options = " ".join([*(f"--{name.replace('_', '-')} {value}" for name, value in values.items()), *data])
    return f"sraven train {board} {options} --seeds {','.join(str(config.seed) for config in configs)}"
