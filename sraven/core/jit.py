"""The one way in which the project compiles a function.

Numba keeps machine code on disk, but looks only at the file of the function itself to tell whether
it is stale: a change in a function that it calls would go unnoticed, and old and new code would
mix. So the code is kept in a folder named after the digest of every source file with kernels.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.core.config

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.core.config
_MARK = b"sraven.core.jit import"


def source_digest(folders: Iterable[Path]) -> str:
    """Return a digest of all source files below the folders that define kernels."""
    checksum = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            if _MARK in content:
                checksum.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return checksum.hexdigest()[:16]


@cache
def _code_folder(package: str) -> str:
    """Return where the machine code of a package's kernels is kept, over which nobody else has power.

    That is below NUMBA_CACHE_DIR if set, else the user's cache, else a folder for this process.
    """
    packages = sorted({"sraven", package})
    stamp = source_digest(Path(next(iter(sys.modules[name].__path__))) for name in packages)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(_config.CACHE_DIR or home, "sraven", f"{package}-{stamp}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return tempfile.mkdtemp(prefix="sraven-")


def _compile(function: F, **options: Any) -> F:
    package = function.__module__.partition(".")[0]
    if package not in sys.modules or not hasattr(sys.modules[package], "__path__"):
        return cast(F, numba.njit(nogil=True, error_model="numpy", **options)(function))
    before = _config.CACHE_DIR
    _config.CACHE_DIR = _code_folder(package)  # read when the function is decorated
    try:
        return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy", **options)(function))
    finally:
        _config.CACHE_DIR = before


def kernel(function: F) -> F:
    """Compile a function with Numba, on its first call.

    It runs without the interpreter's lock, so plain threads run it side by side; the machine code
    is kept on disk, so the next process compiles nothing; and divisions don't check for zero.
    """
    return _compile(function)


def inlined(function: F) -> F:
    """Compile a small function into each of its callers.

    Calls that the compiler leaves in a loop keep it from making vector code of the loop; whether
    it does so changes from one build to the next, so the loops that count ask for it.
    """
    return _compile(function, inline="always")
