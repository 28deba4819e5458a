"""A run's directory from somebody's own training loop; finished runs as files that others load."""

import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import jax
import numpy as np

from baselines.config import LanguageConfig, RunConfig
from baselines.load import load_run, program_of_run
from baselines.train.checkpoint import open_checkpoints
from baselines.train.code import FOLDER, code_files
from baselines.train.directory import CONFIG, WEIGHTS, check_run_folder, claim, read_run
from baselines.train.log import Log
from baselines.train.provenance import RECORD, leave_record
from baselines.train.result import RESULT, read_result, write_result
from baselines.train.sharding import make_mesh
from baselines.train.step import State
from baselines.train.weights import check_finite, weights_bytes
from sraven.core.errors import ConfigurationError
from sraven.files.files import write_bytes


def save_run(
    state: State, config: RunConfig, folder: str | Path, report: Mapping[str, float] | None = None
) -> None:
    """Save a state as a checkpoint of a run; may be called again, with later ones.

    At the configuration's last step, the run is finished: `sraven evaluate`, `analyse`, `export` and the
    others take it. The same configuration trained by `sraven train` would have seen the batches in their own
    order; say in an entry what yours was.

    Args:
        state: of one run, as `baselines.train.step.Program.initialise` makes the first.
        config: of the run; its steps are those that it has in the end.
        folder: the run's directory.
        report: a line of its log, such as ``loss``, ``score``; None for none.

    Raises:
        ConfigurationError: if arrays aren't those of the configuration, or not finite.
        OutputError: if the directory holds something else.
        OSError: if it can't be written.
    """
    folder, step, mesh = Path(folder), int(state.step), make_mesh()
    wanted = program_of_run(config).target
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


def export_run(run: Path, folder: Path) -> None:
    """Write what others need of a finished run: parameters, configuration, result, who trained it, its code.

    Args:
        run: its directory, which is read only.
        folder: an empty directory.

    Raises:
        OutputError: if it isn't finished, or its result is missing.
        ConfigurationError: for a run of the language model, or parameters that aren't finite.
    """
    if isinstance(config := read_run(run), LanguageConfig):
        raise ConfigurationError(f"{run} is a language model's run; only those on other boards are exported")
    read_result(run)
    write_bytes(folder / WEIGHTS, weights_bytes(load_run(run)[1], config.digest))
    names = CONFIG, RESULT, RECORD.format("*"), f"{FOLDER}/*.py"
    for path in (path for name in names for path in run.glob(name)):
        (folder / path.relative_to(run)).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / path.relative_to(run))
