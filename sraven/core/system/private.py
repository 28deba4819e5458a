"""Folders over which nobody but the user has power, for what is run when it is read.

Machine code on disk is as good as a program: whoever can write the folder that it is read from, or swap
a folder above it, runs what they like.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path


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
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeFolderError(path, "is a link")  # one that somebody made meanwhile
    if status.st_mode & stat.S_ISVTX:
        return
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid)):
        raise UnsafeFolderError(path, "can be written to by others")


def private_folder(base: Path, *names: str) -> Path:
    """Return a folder of mode 0700 that only the user can write to, made if it isn't there.

    It stays so: it has no link in it, all folders above it are the user's or root's, and nobody else can
    change them.

    Args:
        base: where it may be, absolute; links on the way to it are followed.
        names: of the folder and those between.

    Raises:
        UnsafeFolderError: (an OSError) if somebody else has power over it.
        OSError: if it can't be made.
    """
    if not base.is_absolute():
        raise UnsafeFolderError(str(base), "is relative, so it depends on the working directory")
    folder = Path(os.path.realpath(base.joinpath(*names)))
    for path in (*reversed(folder.parents), folder):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            os.chmod(path, 0o700)  # the umask may have taken away too much
        _check(str(path), os.lstat(path))
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{folder} is no folder")
    if (mode := stat.S_IMODE(status.st_mode)) & 0o777 != 0o700:
        raise UnsafeFolderError(str(folder), f"has mode {mode:o}; expected 700")
    return folder
