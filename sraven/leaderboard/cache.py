"""The user's cache of computed scores, in a folder that only the user can change."""

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from sraven.core.errors import SubmissionError
from sraven.core.system.files import write_bytes
from sraven.core.system.private import private_folder
from sraven.core.untrusted.read import read_file

_OLD = 30 * 86_400  # seconds
_MOST = 1 << 32
_CHECKSUM = hashlib.sha256().digest_size


def cache_home() -> Path:
    """Return the user's cache, by the XDG base directory specification: relative paths don't count."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given if os.path.isabs(given) else os.path.expanduser("~/.cache"))


def _folder() -> Path:
    """Return the folder: what lies in it is trusted, so it is private (see `sraven.core.system.private`).

    Raises:
        OSError: if there can be none; then nothing is kept and nothing is found.
    """
    return private_folder(cache_home(), "sraven", "scores")


def read_kept(name: str) -> bytes | None:
    """Return what is kept under a name; None if nothing is, or if it is damaged."""
    try:
        content = read_file(_folder(), name, _MOST)
    except (OSError, SubmissionError):
        return None
    checksum, content = content[:_CHECKSUM], content[_CHECKSUM:]
    return content if hashlib.sha256(content).digest() == checksum else None


def write_kept(name: str, content: bytes) -> None:
    """Keep something under a name, whole or not at all; without room or permission, do nothing."""
    with suppress(OSError):
        folder = _folder()
        write_bytes(folder / name, hashlib.sha256(content).digest() + content)
        for path in folder.iterdir():  # what is old may be of code that is gone
            if path.lstat().st_mtime < time.time() - _OLD:
                path.unlink()
