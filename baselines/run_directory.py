"""The directory of a run: its configuration and checkpoints. It belongs to one configuration."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from baselines.checkpoint import Checkpoints
from baselines.config import RunConfig, read_config
from sraven.core.errors import OutputError
from sraven.core.files import write_bytes, write_json

CONFIG, CHECKPOINTS = "config.json", "checkpoints"


def read_run(folder: Path) -> RunConfig:
    """Return the configuration of a run.

    Raises:
        OutputError: if there is none, or it can't be read.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise OutputError(f"{folder} holds no run; `sraven train` makes one")
    try:
        return read_config(json.loads(path.read_text()))
    except ValueError as error:
        raise OutputError(f"{path} can't be read: {error}") from None


def check_folder(folder: Path, config: RunConfig) -> None:
    """Check that a run may go into a directory: that it is new, empty, or that run's, and not in another's.

    Raises:
        OutputError: if it holds something else.
    """
    if (folder.parent / CONFIG).is_file():
        raise OutputError(f"{folder} is within another run's directory; choose another directory")
    if (folder / CONFIG).is_file():
        found = read_run(folder)
        if found != config:
            names = [name for name, value in asdict(config).items() if value != getattr(found, name)]
            raise OutputError(
                f"{folder} holds another run ({', '.join(names)} differ); choose another directory"
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
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
        write_json(folder / CONFIG, asdict(config))
    for name, content in files.items():
        if not (folder / name).is_file():
            write_bytes(folder / name, content)


def open_checkpoints(folder: Path) -> Checkpoints:
    """Return the checkpoints of a run."""
    return Checkpoints(folder / CHECKPOINTS)
