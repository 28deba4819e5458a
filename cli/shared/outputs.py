"""Types of output paths: refused before the work if nothing can be written there."""

import os
from collections.abc import Iterable
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from pathlib import Path
from typing import Any

import click

from sraven.core.names import address_in

OF_PLACE = frozenset({EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS})
"""Errors that another path would not have; the others, as of a full disk, pass when something is mended."""


def _fault(path: Path, is_directory: bool) -> str:
    """Return why nothing can be written to a path, as its owner wrote it; nothing if something can."""
    try:
        if path.exists():
            if is_directory != path.is_dir():
                other = "a file; choose another directory" if is_directory else "a directory; name a file"
                return f"{path} is {other}"
            if is_directory:
                return ""  # it may be finished, which needs no more; or what writes there says what is wrong
            place = path.parent if path.is_file() else path
        else:
            place = next(above for above in path.absolute().parents if above.exists())
            if not place.is_dir():
                return f"{path} can't be made, as {place} is a file; choose another path"
    except OSError as error:
        return f"{path} can't be written: {error.strerror or error}; choose another path"
    if os.access(place, os.W_OK):
        return ""
    return f"{path} can't be written: {place} is closed to you; choose another path"


def spare(out: Path | None, read: Iterable[Path]) -> None:
    """Refuse to write over what is read.

    Args:
        out: where is written; None for nowhere.
        read: files and directories.

    Raises:
        click.UsageError: if one of these is in that place.
    """
    if out is not None and out.exists() and any(path.exists() and path.samefile(out) for path in read):
        raise click.UsageError(f"{out} is what is read; choose another path")


class _Output(click.Path):
    """A path to write to, refused before the work if nothing can be written there.

    Args:
        is_directory: whether a directory is written; else it is a file, or a pipe or a device.
    """

    def __init__(self, is_directory: bool) -> None:
        super().__init__(file_okay=not is_directory, dir_okay=is_directory, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            click.BadParameter: if nothing can be written there.
        """
        path = Path(os.fsdecode(value))
        if fault := address_in(os.fsdecode(value)) or _fault(path, self.dir_okay):
            self.fail(fault, param, ctx)
        return path


output_file, output_directory = _Output(is_directory=False), _Output(is_directory=True)
"""Types of the options that say where to write."""
