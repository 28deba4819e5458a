"""Folders over which nobody but the user has power, for what is run when it is read.

Machine code on disk is as good as a program: whoever can write the folder that it is read from, or swap
a folder above it, runs what they like.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

_MOST_LINKS = 40


class UnsafeFolderError(OSError):
    """Somebody else has power over a folder; the message says over which, and why."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} {problem}")


def describe(error: OSError) -> str:
    """Return why a folder can't be used, in a few words."""
    return f"{error.filename}: {error.strerror}" if error.strerror else str(error)


def _is_own_group(group: int) -> bool:
    """Return whether a group is the user's alone, as many systems give one to each user."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}


def _check(path: str, status: os.stat_result) -> None:
    """Refuse what is neither the user's nor the system's, or what others can change.

    In a sticky directory, as /tmp is, others can't rename or remove what is the user's.
    """
    if status.st_uid not in (0, os.geteuid()):
        raise UnsafeFolderError(path, "belongs to another user")
    if stat.S_ISLNK(status.st_mode) or status.st_mode & stat.S_ISVTX:
        return
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid)):
        raise UnsafeFolderError(path, "can be written to by others")


def _look(path: str) -> os.stat_result:
    """Return what is at a path, itself and not what it links to; make a folder where nothing is."""
    with suppress(FileNotFoundError):
        return os.lstat(path)
    with suppress(FileExistsError):  # another process was quicker
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)  # the umask may have taken away too much
    return os.lstat(path)


def _resolve(path: Path) -> str:
    """Return a path without links, after checking each step of the way to it.

    The steps are checked from the root on, so once one is, nobody else can change what follows.
    """
    here, links = os.sep, 0
    _check(here, os.lstat(here))
    steps = [*reversed(path.parts[1:])]
    while steps:
        step = steps.pop()
        if step == os.pardir:
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, step)
        status = _look(there)
        _check(there, status)
        if not stat.S_ISLNK(status.st_mode):
            here = there
            continue
        links += 1
        if links > _MOST_LINKS:
            raise UnsafeFolderError(str(path), f"goes through more than {_MOST_LINKS} links")
        target = Path(os.readlink(there))
        steps += reversed(target.parts[target.is_absolute() :])
        here = os.sep if target.is_absolute() else here
    return here


def private_folder(base: Path, *names: str) -> Path:
    """Return a folder of mode 0700 that only the user can write to, made if it isn't there.

    It stays so: all folders above it are the user's or root's, and nobody else can change them.

    Args:
        base: where it may be, absolute. Links on the way to it are followed if they are the user's or
            root's.
        names: of the folder and those between; none may be a link.

    Raises:
        UnsafeFolderError: (an OSError) if somebody else has power over it.
        OSError: if it can't be made.
    """
    if not base.is_absolute():
        raise UnsafeFolderError(str(base), "is relative, so it depends on the working directory")
    here = _resolve(base)
    for name in names:
        here = os.path.join(here, name)
        status = _look(here)
        if stat.S_ISLNK(status.st_mode):
            raise UnsafeFolderError(here, "is a link")
        _check(here, status)
    status = os.lstat(here)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{here} is no folder")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o777 != 0o700:
        raise UnsafeFolderError(here, f"has mode {mode:o}; expected 700")
    return Path(here)
