"""States of somebody's own training loop as the directory of a run, which all commands then take."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import jax
import numpy as np

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.runs.code import code_files
from baselines.runs.directory import check_run_folder, claim, open_checkpoints
from baselines.runs.log import Log
from baselines.runs.provenance import leave_record
from baselines.runs.result import write_result
from baselines.runs.weights import check_finite
from baselines.training.compiled import abstract_state
from baselines.training.experiment import board_of, program_of
from baselines.training.sharding import make_mesh
from baselines.training.step import State
from sraven.core.errors import ConfigurationError


def save_run(
    state: State, config: RunConfig, folder: str | Path, report: Mapping[str, float] | None = None
) -> None:
    """Save a state as a checkpoint of a run; may be called again, with later ones.

    At the configuration's last step, the run is finished: `sraven evaluate`, `analyse`, `export` and the
    others take it. The same configuration trained by `sraven train` would have seen the batches in their own
    order; say in an entry what yours was.

    Args:
        state: of one run, as `baselines.training.step.Program.initialise` makes the first.
        config: of the run; its steps are those that it has in the end.
        folder: the run's directory.
        report: a line of its log, such as ``loss``, ``score``; None for none.

    Raises:
        ConfigurationError: if arrays aren't those of the configuration, or not finite.
        OutputError: if the directory holds something else.
        OSError: if it can't be written.
    """
    folder, step, mesh = Path(folder), int(state.step), make_mesh()
    wanted = abstract_state(program_of(config, encoding_of(board_of(config).task)))
    shapes, others = (
        {jax.tree_util.keystr(path): np.shape(leaf) for path, leaf in jax.tree.leaves_with_path(each)}
        for each in (wanted, state)
    )
    for name in sorted({*shapes, *others}):
        if shapes.get(name) != others.get(name):
            raise ConfigurationError(
                f"state{name} has shape {others.get(name)}, and {shapes.get(name)} by the configuration"
            )
    if step > config.steps:
        raise ConfigurationError(f"state.step={step:,}: the configuration has {config.steps:,} steps")
    check_finite(state.params)
    check_run_folder(folder, config)
    with (
        claim([folder], [config], code_files()),
        closing(Log(folder, step if report is None else step - 1)) as log,
    ):
        leave_record(folder, mesh)
        open_checkpoints(folder, config).save(step, jax.tree.map(jax.numpy.asarray, state))
        if report is not None:
            log.add(step, report)
        if step == config.steps:
            write_result(folder, config)
