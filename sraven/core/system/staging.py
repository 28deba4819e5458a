"""The staging directory of a writer: locked, emptied and removed in an order that a kill can't upset."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sraven.core.ground.errors import OutputError
from sraven.core.system.files import sync_directory
from sraven.core.system.lock import LOCK, Lock


def check_staging(staging: Path) -> None:
    """Refuse what stands in the place of a staging directory: what it is a link to would be emptied.

    Raises:
        OutputError: if it is there and is no directory.
    """
    if os.path.lexists(staging) and (staging.is_symlink() or not staging.is_dir()):
        raise OutputError(f"{staging} is a link or no directory; remove it")


def lock_staging(out: Path, staging: Path) -> Lock:
    """Return the lock of a staging directory, which is made if need be.

    Raises:
        OutputError: if another process has it.
    """
    return Lock(staging, of=out, stays=True)


@contextmanager
def staged(goal: Path) -> Iterator[Path]:
    """Yield an empty directory that becomes ``goal``, whole or not at all; what a kill left goes first.

    Raises:
        OutputError: if another process writes there, or ``goal`` exists at the end.
    """
    goal.parent.mkdir(parents=True, exist_ok=True)
    staging = goal.with_name(f".{goal.name}.sraven-partial")
    check_staging(staging)
    with Lock(staging, of=goal):
        new = staging / "new"
        try:
            if new.exists():
                shutil.rmtree(new)
            new.mkdir()
            yield new
            if os.path.lexists(goal):
                raise OutputError(f"{goal} exists; choose another directory")
            os.replace(new, goal)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    sync_directory(goal.parent)


def clear(staging: Path, first: str, last: str) -> None:
    """Empty a staging directory, but for its lock.

    Args:
        staging: the directory.
        first: what goes first: the file that says that all is there.
        last: what goes last: the file that says what it is for.
    """
    names: Sequence[str] = sorted(set(os.listdir(staging)) - {LOCK, first, last})
    for name in (first, *names, last):
        path = staging / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
