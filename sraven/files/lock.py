"""The lock of a directory that is written to: one writer at a time, given back by dying.

A lock is held on an open file (``flock``), so that whoever is killed holds nothing. Its file names who
holds it. It is opened without following a link, without waiting for the other end of a pipe, and nothing
in it is overwritten unless a lock of ours wrote it. (`filelock` does some of this in some versions; a lock
that empties what a link points to in others is none.)
"""

import errno
import fcntl
import os
import re
import stat
import warnings
from contextlib import suppress
from pathlib import Path

from sraven.core.errors import OutputError

LOCK = "lock"
"""Name of the file in the directory that it is the lock of."""

_HOLDER = re.compile(rb"(?:process (\d{1,20}) on ([\w.-]{1,255})\n)?")
_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
_WITHOUT_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
_TRIES = 100


def _open(path: Path) -> int:
    """Open or make the file of a lock.

    Raises:
        OutputError: if something else is there.
    """
    other = OutputError(f"{path} isn't a lock that this program made; remove it")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise other from None
        raise
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and _HOLDER.fullmatch(os.pread(descriptor, 512, 0)):
        return descriptor
    os.close(descriptor)
    raise other


def _is_taken(descriptor: int, path: Path) -> bool:
    """Take a lock; return whether somebody else holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return True
        if error.errno not in _WITHOUT_LOCKS:
            raise
        warnings.warn(
            f"{path.parent} is on a file system without locks; let nothing else write there", stacklevel=4
        )
    return False


def _is_there(descriptor: int, path: Path) -> bool:
    """Return whether an open file still has its name: whoever held the lock may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _holder(descriptor: int) -> str:
    """Return who holds a lock, in words."""
    found = _HOLDER.fullmatch(os.pread(descriptor, 512, 0))
    return found[0].decode().strip() if found and found[1] else "another process"


class Lock:
    """The lock of a directory, held from when this is made until it is released.

    Args:
        folder: the directory; it is made if need be.
        of: what is written to, if it is another directory.
        stays: whether the lock's file stays when it is released, unless nothing else is in the directory.

    Raises:
        OutputError: if somebody else holds it, or something that is no lock is in its place.
        OSError: if it can't be made.
    """

    def __init__(self, folder: Path, *, of: Path | None = None, stays: bool = False) -> None:
        self.path, self._descriptor = folder / LOCK, -1
        self._of, self._stays = of or folder, stays
        for _ in range(_TRIES):  # again, if the one who had it removes it meanwhile
            folder.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = _open(self.path)
            except FileNotFoundError:
                continue
            try:
                if _is_taken(descriptor, self.path):
                    raise OutputError(
                        f"{self._of} is being written by {_holder(descriptor)}; wait for it, or stop it"
                    )
                if _is_there(descriptor, self.path):
                    self._descriptor, descriptor = descriptor, -1
                    self._sign()
                    return
            finally:
                if descriptor >= 0:
                    os.close(descriptor)
        raise OutputError(f"{self._of} is being written by other processes; wait for them")

    def _sign(self) -> None:
        """Write down who holds the lock; on a full disk nobody is named, and nothing else is lost."""
        with suppress(OSError):
            name = re.sub(r"[^\w.-]", "-", os.uname().nodename, flags=re.ASCII)[:255] or "-"
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"process {os.getpid()} on {name}\n".encode(), 0)

    def release(self) -> None:
        """Give the lock back, and remove what it made if it is empty; may be called again."""
        if self._descriptor < 0:
            return
        try:
            alone = os.listdir(self.path.parent) == [LOCK]
            if _is_there(self._descriptor, self.path) and (alone or not self._stays):
                self.path.unlink()  # while it is held: whoever opened it meanwhile sees that it is gone
            if alone:
                self.path.parent.rmdir()
                if self._of == self.path.parent.parent:
                    self._of.rmdir()
        except OSError:  # somebody came meanwhile, or it isn't ours to remove any more
            pass
        finally:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
