"""The directory of a run: its configuration and checkpoints. It belongs to one configuration."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from baselines.config import RunConfig, read_config
from sraven.core.errors import OutputError
from sraven.core.spec import values_of
from sraven.files.files import TEMPORARY, read_bounded, write_bytes, write_json
from sraven.files.lock import LOCK, Lock

CONFIG, CHECKPOINTS, WEIGHTS = "config.json", "checkpoints", "model.safetensors"


def _is_left_over(name: str) -> bool:
    """Return whether a file is what a run that was killed at once leaves."""
    return name == LOCK or (name.startswith(CONFIG) and name.endswith(TEMPORARY))


def read_run(folder: Path) -> RunConfig:
    """Return the configuration of a run.

    Raises:
        OutputError: if there is none, or it can't be read.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise OutputError(f"{folder} holds no run; `sraven train` makes one")
    try:
        return read_config(json.loads(read_bounded(path)))
    except OSError as error:
        raise OutputError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise OutputError(f"{path} can't be read: {error}") from None


def is_exported(folder: Path) -> bool:
    """Return whether a directory is what `sraven export` wrote: parameters in place of checkpoints."""
    return (folder / WEIGHTS).is_file() and not (folder / CHECKPOINTS).exists()


def check_run_folder(folder: Path, config: RunConfig) -> None:
    """Check that a run may go into a directory: that it is new, empty, or that run's, and not in another's.

    Raises:
        OutputError: if it holds something else, such as an exported model.
    """
    if is_exported(folder):
        raise OutputError(
            f"{folder} is an exported model, without what its optimiser knew: training can't go on from it; "
            "choose another directory"
        )
    if (folder.parent / CONFIG).is_file() and (folder.parent / CHECKPOINTS).is_dir():
        raise OutputError(f"{folder} is within another run's directory; choose another directory")
    if (folder / CONFIG).is_file():
        found = read_run(folder)
        if found != config:
            names = [name for name, value in asdict(config).items() if value != getattr(found, name)]
            raise OutputError(
                f"{folder} holds another run ({', '.join(names)} differ); choose another directory"
            )
    elif folder.exists() and not (folder.is_dir() and all(map(_is_left_over, os.listdir(folder)))):
        raise OutputError(f"{folder} isn't empty and holds no run; choose another directory")


def make_folder(folder: Path, config: RunConfig, files: Mapping[str, bytes]) -> None:
    """Make the directory of a run, unless it is there.

    Args:
        folder: the directory.
        config: of the run.
        files: what else belongs there: contents by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / CONFIG).is_file():
        write_json(folder / CONFIG, values_of(config))
    (folder / CHECKPOINTS).mkdir(exist_ok=True)
    for name, content in files.items():
        if not (folder / name).is_file():
            (folder / name).parent.mkdir(exist_ok=True)
            write_bytes(folder / name, content)


@contextmanager
def claim(
    folders: Sequence[Path], configs: Sequence[RunConfig], files: Mapping[str, bytes]
) -> Iterator[None]:
    """Make the directories of runs, and hold their locks: of several processes, the first does so for all.

    Args:
        folders: the directories, checked already.
        configs: of the runs.
        files: what else belongs there: contents by name.

    Raises:
        OutputError: if another process trains one of them.
        OSError: if they can't be written.
    """
    import jax  # curves are drawn without
    import numpy as np
    from jax.experimental.multihost_utils import broadcast_one_to_all

    refusal: Exception | None = None
    with ExitStack() as stack:
        if jax.process_index() == 0:
            try:
                for folder, config in zip(folders, configs, strict=True):
                    stack.enter_context(Lock(folder))
                    check_run_folder(folder, config)  # again: now nobody else writes there
                    make_folder(folder, config, files)
            except (OutputError, OSError) as error:
                refusal = error
        if not broadcast_one_to_all(np.int32(refusal is None)):
            refusal = refusal or OutputError(f"process 0 can't write {folders[0]}, or another run there")
        if refusal is not None:
            raise refusal
        yield
