"""Trained runs onto their board: predictions of its splits, as a submission."""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.encode import Encoding, encoding_of
from baselines.train import board_of, load_run, transformer_of
from sraven.core.boards import Board, load_board
from sraven.core.errors import ConfigurationError
from sraven.core.submit import write_submission

_AT_ONCE = 512


@lru_cache(maxsize=1)
def _predictor(config: RunConfig) -> tuple[tuple[str, ...], Any]:
    """Return the fields that a model needs, and what predicts a batch: once for all runs of a shape."""
    encoding: Encoding = encoding_of(board_of(config).task)
    model = transformer_of(config, encoding)

    @jax.jit
    def predict_batch(params: Any, batch: dict[str, jax.Array]) -> jax.Array:
        out: Any = model.apply({"params": params}, encoding.tokens(batch))
        return encoding.predict(out)

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
        batch = board.task.sample(split, start, _AT_ONCE)
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
        ConfigurationError: if the runs differ in more than their seed, or one isn't finished.
    """
    loaded = [load_run(path) for path in runs]
    configs = [config for config, _ in loaded]
    first = configs[0]
    for path, config in zip(runs, configs, strict=True):
        if replace(config, seed=first.seed) != first:
            raise ConfigurationError(f"{path} differs from {runs[0]} in more than its seed")
    if len({config.seed for config in configs}) < len(configs):
        raise ConfigurationError("two of the runs have the same seed")
    board = load_board(first.board)
    predictions = {
        split: {config.seed: predict(config, params, board, split) for config, params in loaded}
        for split in board.splits
    }
    parameters = sum(leaf.size for leaf in jax.tree.leaves(loaded[0][1]))
    command = train_command(configs)
    write_submission(
        out,
        board.id,
        predictions,
        method={
            "name": _name(first),
            "family": "transformer",
            "description": f"The baseline transformer with {first.attention} attention: {command}",
            "authors": list(authors),
            "code_commit": code_commit,
            "license": "Apache-2.0",
        },
        model={
            "parameters": parameters,
            "layers": first.layers,
            "heads": first.heads,
            "width": first.width,
        },
        training={
            "instances": first.steps * first.batch_size,
            "selection_split": "test",
            "optimiser": "AdamW",
            "hardware": jax.devices()[0].device_kind,
        },
        readme=f"Trained by\n\n    {command} --out runs\n",
    )


def _name(config: RunConfig) -> str:
    parts = [config.attention]
    if config.feedforward != "mlp":
        parts.append(config.feedforward)
    if config.attention_dropout:
        parts.append(f"attention dropout {config.attention_dropout:g}")
    return ", ".join([*parts, f"{config.steps * config.batch_size:,} instances"])


def train_command(configs: Sequence[RunConfig]) -> str:
    """Return the command that trains runs again: every field is an option."""
    values = asdict(configs[0])
    board = values.pop("board")
    del values["board_digest"], values["seed"]
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in values.items())
    return f"sraven train {board} {options} --seeds {','.join(str(config.seed) for config in configs)}"
