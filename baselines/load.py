"""Trained runs, read from their directories."""

from pathlib import Path
from typing import Any

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.runs.directory import open_checkpoints, read_run, restore_run
from baselines.runs.result import diverged_at
from baselines.training.compiled import target_of
from baselines.training.experiment import board_of, program_of
from baselines.training.processes import note
from baselines.training.sharding import make_mesh
from baselines.training.step import Program
from sraven.core.base.arguments import check_integer
from sraven.core.base.errors import OutputError


def restore_params(folder: Path, program: Program, config: RunConfig, step: int | None = None) -> Any:
    """Return the parameters of a run, on one device.

    Args:
        folder: the run's directory.
        program: of the run.
        config: of the run.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        OutputError: if it isn't finished and no step was asked for, it diverged, its last checkpoint is
            damaged, or it has no such checkpoint.
    """
    which = None if step in (None, -1) else check_integer("step", step, 0, config.steps)
    target = target_of(program, make_mesh())
    restored = restore_run(open_checkpoints(folder, config), config, target, which)
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


def load_run(folder: Path, *, step: int | None = None) -> tuple[RunConfig, Any]:
    """Return the configuration and the parameters of a run on a board that makes its instances.

    `baselines.training.predict.predict` makes predictions of them,
    `baselines.training.experiment.transformer_of` a model that returns latent codes as well. A run may be
    looked at while it is trained: its newest checkpoints are there.

    Args:
        folder: the run's directory.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        OutputError: if there is no run, it isn't finished and no step was asked for, or it has no such
            checkpoint, or no whole one.
    """
    config = read_run(folder)
    program = program_of(config, encoding_of(board_of(config).task))
    return config, restore_params(folder, program, config, step)
