"""Folders of the user's own, for what is run when it is read.

Machine code on disk is as good as a program: whoever can write the folder that it is read from runs what they
like.
"""

import os
import stat
from pathlib import Path


def user_cache() -> Path:
    """Return where the user's caches lie: XDG_CACHE_HOME, or ``~/.cache``."""
    return Path(os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache"))


def private_folder(path: Path) -> Path:
    """Return a folder of mode 0700 that is the user's own, made if it isn't there; links to it are followed.

    Args:
        path: of it, absolute.

    Raises:
        OSError: if it can't be made, or others may write to it; `strerror` says why.
    """
    if not path.is_absolute():
        raise OSError(None, "it is relative, so it depends on the working directory", str(path))
    path.mkdir(0o700, parents=True, exist_ok=True)
    folder = path.resolve()
    status = folder.lstat()
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise OSError(None, "others may read or write it; expected a folder of yours, mode 700", str(folder))
    return folder
