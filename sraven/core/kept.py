"""What this user's earlier runs computed, kept in a folder over which nobody else has power."""

import hashlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

_PLAIN = os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = 30 * 86_400  # seconds
_CHECKSUM = hashlib.sha256().digest_size


def cache_home() -> Path:
    """Return the user's cache, by the XDG base directory specification: relative paths don't count."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given if os.path.isabs(given) else os.path.expanduser("~/.cache"))


def _forget(folder: int) -> None:
    """Remove what is old: it may be of code that is gone, and is soon computed anew."""
    for name in os.listdir(folder):
        if os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime < time.time() - _OLD:
            os.unlink(name, dir_fd=folder)


class Kept:
    """Files by name in a folder of the user's cache.

    The folder is used only if it belongs to the user, is no link, and is open to nobody else: what lies
    in it is believed. Where there is no such folder, nothing is kept and nothing is found.

    Args:
        name: of the folder below ``sraven`` in the user's cache.
    """

    def __init__(self, name: str) -> None:
        self._path = cache_home() / "sraven" / name

    def _open(self) -> int | None:
        """Return a descriptor of the folder, made if need be; None if it can't be used."""
        if not self._path.is_absolute():  # there is no home
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not os.path.lexists(self._path)
            self._path.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | _PLAIN)
        except OSError:
            return None
        is_own = os.fstat(descriptor).st_uid == os.geteuid()
        if is_own and is_new:
            os.fchmod(descriptor, 0o700)  # whatever the umask
        if not is_own or stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
            os.close(descriptor)
            return None
        return descriptor

    def read(self, name: str) -> bytes | None:
        """Return what is kept under a name; None if nothing is, or if it is damaged."""
        content = self._read(name)
        if content is None:
            return None
        checksum, content = content[:_CHECKSUM], content[_CHECKSUM:]
        return content if hashlib.sha256(content).digest() == checksum else None

    def _read(self, name: str) -> bytes | None:
        folder = self._open()
        if folder is None:
            return None
        try:
            with os.fdopen(os.open(name, os.O_RDONLY | os.O_NONBLOCK | _PLAIN, dir_fd=folder), "rb") as file:
                return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
        except OSError:
            return None
        finally:
            os.close(folder)

    def write(self, name: str, content: bytes) -> None:
        """Keep something under a name, whole or not at all; without room or right, do nothing."""
        folder = self._open()
        if folder is None:
            return
        temporary = f".{name}.{os.getpid()}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
            with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            _forget(folder)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
        finally:
            os.close(folder)
