"""Keeping what lies in the working directory from being imported or read as settings.

Commands are run inside untrusted datasets, submissions and checkouts. Python imports from there if
PYTHONPATH has an empty entry, and so do the processes that it spawns; matplotlib and Numba read settings
there. Nothing but the standard library is imported here.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NUMBA_SETTINGS = ".numba_config.yaml"
"""Where Numba reads settings in the working directory: a folder of machine code, a class to import."""

ROOT = Path(__file__).resolve().parents[3]
"""The folder of the project's packages."""


def leave_working_directory() -> None:
    """Keep this process, and those that it starts, from importing out of the working directory.

    For commands, before anything else is imported. Relative entries of PYTHONPATH lead there too; other
    absolute ones are the user's choice. A checkout of this project may be worked in.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        here = os.getcwd()
    except OSError:  # it has been removed, so nothing is in it
        return
    listed = os.environ["PYTHONPATH"].split(os.pathsep) if os.environ.get("PYTHONPATH") else []
    within = {os.path.abspath(entry) for entry in listed if _leads_to(entry, here)}
    first = [entry for entry in sys.path[:1] if not _leads_to(entry, here)]
    sys.path[:] = [entry for entry in [*first, *sys.path[1:]] if os.path.abspath(entry) not in within]
    if listed:
        kept = [entry for entry in map(os.path.abspath, listed) if entry not in within]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(kept))


def _leads_to(entry: str, here: str) -> bool:
    """Return whether an entry of Python's path depends on the working directory, or is it."""
    place = os.path.realpath(entry)
    return place != str(ROOT) and (not os.path.isabs(entry) or place == os.path.realpath(here))


@contextmanager
def variables(**values: str) -> Iterator[None]:
    """Give environment variables that have no value one, for this process and those that it starts."""
    new = {name: value for name, value in values.items() if not os.environ.get(name)}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)


@contextmanager
def elsewhere() -> Iterator[None]:
    """Import in the root directory what reads settings where it is imported, such as matplotlib.

    For commands alone: threads share their working directory, and a library has no right to it.
    """
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
    try:
        os.chdir(os.sep)
        yield
    finally:
        os.fchdir(here)
        os.close(here)
