"""Trained runs, read from their directories, or from the Hub, which has them as published models."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.train.code import check_code
from baselines.train.directory import WEIGHTS, is_exported, read_run
from baselines.train.experiment import board_of, program_of
from baselines.train.processes import note
from baselines.train.result import diverged_at
from baselines.train.step import Program
from baselines.train.weights import read_weights
from sraven.core.arguments import check_integer
from sraven.core.errors import OutputError

Config = TypeVar("Config", bound=RunConfig)


def restore_params(
    folder: Path, make_program: Callable[[Config], Program], config: Config, step: int | None = None
) -> Any:
    """Return the parameters of a run, on one device.

    Args:
        folder: the run's directory.
        make_program: returns the program of a configuration.
        config: of the run.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        OutputError: if it isn't finished and no step is given, it diverged, its last checkpoint is
            damaged, or it has no such checkpoint; or if it was trained with other code than was imported.
    """
    check_code(folder, config)

    def make_target() -> Any:
        return make_program(config).target

    if is_exported(folder):
        if step not in (None, -1, config.steps):
            raise OutputError(f"{folder} is an exported model, of step {config.steps:,} alone")
        return read_weights(folder / WEIGHTS, make_target().params, config.digest)
    from baselines.train.checkpoint import open_checkpoints  # what is exported is read without Orbax

    which = None if step in (None, -1) else check_integer("step", step, 0, config.steps)
    restored = open_checkpoints(folder, config).restore(make_target, which)
    done, remarks = (restored.step, restored.remarks) if restored else (0, "")
    if step is None and done < config.steps:
        if (last := diverged_at(folder)) is not None:
            raise OutputError(f"{folder} diverged: its loss is no number after step {last:,}")
        so_far = f"{done:,} of {config.steps:,} steps" + (f" ({remarks})" if remarks else "")
        raise OutputError(f"{folder} has {so_far}; train it to the end first")
    if restored is None:
        raise OutputError(f"{folder} has no checkpoint yet")
    if restored.remarks:
        note(restored.remarks)
    return restored.state.params


def load_run(folder: str | os.PathLike[str], *, step: int | None = None) -> tuple[RunConfig, Any]:
    """Return the configuration and the parameters of a run on a board that makes its instances.

    `baselines.train.predict.predict` makes predictions of them,
    `baselines.train.experiment.model_of` a model that returns latent codes as well. A run may be
    looked at while it is trained: its newest checkpoints are there.

    Args:
        folder: the run's directory, or what `sraven export` wrote of it.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        OutputError: if there is no run, it isn't finished and no step is given, or it has no such
            checkpoint, or no whole one; or if what was exported isn't what its configuration says.
    """
    folder = Path(folder)
    config = read_run(folder)
    return config, restore_params(folder, program_of_run, config, step)


def program_of_run(config: RunConfig) -> Program:
    """Return the training program of a run on a board, on one device."""
    return program_of(config, encoding_of(board_of(config).task))
