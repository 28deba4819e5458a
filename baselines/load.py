"""Trained runs, read from their directories, or from the Hub, which has them as published models."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.runs.code import FOLDER, check_code
from baselines.runs.directory import CONFIG, WEIGHTS, is_published, open_checkpoints, read_run, restore_run
from baselines.runs.provenance import RECORD
from baselines.runs.result import diverged_at
from baselines.runs.weights import read_weights, weight_bytes_range
from baselines.training.compiled import Config, count_quickly, target_of
from baselines.training.experiment import board_of, program_of
from baselines.training.processes import note
from baselines.training.sharding import make_mesh
from baselines.training.step import Program
from sraven.core.arguments import check_integer
from sraven.core.errors import OutputError
from sraven.core.escape import escape
from sraven.data.hub import MODEL, PREFIXES, Place, in_one_line, read_place

_SMALL, _MOST_RECORDS = 1 << 20, 100
"""Most bytes of a published file beside the parameters, and records of who trained a run."""


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
        return target_of(make_program(config), make_mesh())

    size = count_quickly(make_program, config)
    if is_published(folder):
        if step not in (None, -1, config.steps):
            raise OutputError(f"{folder} is a published model, of step {config.steps:,} alone")
        return read_weights(folder / WEIGHTS, lambda: make_target().params, size, config.digest)
    which = None if step in (None, -1) else check_integer("step", step, 0, config.steps)
    restored = restore_run(open_checkpoints(folder, config), config, make_target, which, size)
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

    `baselines.training.predict.predict` makes predictions of them,
    `baselines.training.experiment.model_of` a model that returns latent codes as well. A run may be
    looked at while it is trained: its newest checkpoints are there.

    Args:
        folder: the run's directory, or a place on the Hub: ``hf://user/name``, ``hf://user/name@TAG``.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        OutputError: if there is no run, it isn't finished and no step is given, or it has no such
            checkpoint, or no whole one; or if what is published isn't what its configuration says.
        OSError: if the Hub or the line to it fails.
    """
    folder = local_run(folder)
    config = read_run(folder)
    return config, restore_params(folder, _program_of, config, step)


def _program_of(config: RunConfig) -> Program:
    return program_of(config, encoding_of(board_of(config).task))


# From the Hub -----------------------------------------------------------------------------------------


def local_run(run: str | os.PathLike[str]) -> Path:
    """Return the directory of a run; of one on the Hub, that which it is downloaded to.

    Raises:
        OutputError, OSError: as `load_run`, for a place on the Hub.
    """
    text = os.fspath(run)
    return _download(read_place(text, MODEL)) if text.startswith(PREFIXES[MODEL]) else Path(text)


def _download(place: Place) -> Path:
    """Download a published model into the Hub's cache, nothing larger than it may be; return its directory.

    The configuration comes first, as it says how large the parameters are.
    """
    import safetensors  # noqa: F401  # if it is missing, that is said before the download
    from huggingface_hub import HfApi

    api = HfApi()
    with in_one_line(place, "loading"):
        info = api.model_info(place.repository, revision=place.revision, files_metadata=True)
        sizes = {each.rfilename: each.size for each in info.siblings or ()}

        def download(name: str, most: int) -> Path:
            if name not in sizes:
                raise OutputError(f"{place} has no {name}: it is no run of `sraven publish`")
            size = sizes[name]
            if not isinstance(size, int) or size > most:
                raise OutputError(f"{place}: {name} has {escape(size)} bytes; expected {most:,} or fewer")
            return Path(api.hf_hub_download(place.repository, name, revision=info.sha))

        folder = download(CONFIG, _SMALL).parent
        download(WEIGHTS, weight_bytes_range(count_quickly(_program_of, read_run(folder)))[1])
        records = [name for name in sizes if re.fullmatch(RECORD.format("[0-9a-f]{12}"), name)]
        code = [name for name in sizes if re.fullmatch(rf"{FOLDER}/\w+\.py", name)]  # is never run from there
        for name in (*records[:_MOST_RECORDS], *code[:_MOST_RECORDS]):
            download(name, _SMALL)
    return folder
