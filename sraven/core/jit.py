"""The one way in which the project compiles a function.

Numba keeps machine code on disk, but looks only at the file of the function itself to see whether
it is stale: a change in a function that it calls would go unnoticed, and old and new code would
mix. So the code is kept in a folder named after the digest of every source file with kernels.

What is on disk is run, so it is read from a folder of the user's own alone.
"""

import hashlib
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba as numba  # "as": it is imported from here
import numba.core.config
import numpy as np
from numba.core import caching, event
from numba.extending import is_jitted

from sraven.core.errors import CodeCacheWarning
from sraven.core.escape import escape
from sraven.core.private import private_folder, user_cache

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.core.config
_MARK = b"sraven.core.jit import"


class _Compilations(event.Listener):
    """Logs that kernels are compiled, before the first one is; those that the disk has aren't."""

    logged = False

    def on_start(self, event: Any) -> None:
        """Log it, once in a process."""
        if not self.logged:
            self.logged = True
            logging.getLogger(__name__).info("compiling kernels: once for this version, up to a minute")

    def on_end(self, event: Any) -> None:
        """Do nothing."""


_compilations = _Compilations()
event.register("numba:compile", _compilations)  # type: ignore[no-untyped-call]


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
def _code_folder(package: str) -> Path | None:
    """Return where the machine code of a package's kernels is kept; None if it is kept in memory alone.

    That is below NUMBA_CACHE_DIR if set, else below the user's cache. A warning says why it can't be.
    """
    packages = sorted({"sraven", package})
    stamp = source_digest(Path(next(iter(sys.modules[name].__path__))) for name in packages)
    path = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache(), "sraven", f"{package}-{stamp}")
    try:
        folder = private_folder(path)
        tempfile.TemporaryFile(dir=folder).close()
        return folder
    except OSError as error:
        warnings.warn(
            f"{escape(str(path), 300)} isn't used for machine code, so each process compiles again: "
            f"{error.strerror or error}; set NUMBA_CACHE_DIR to a folder that only you can write to",
            CodeCacheWarning,
            stacklevel=2,
        )
        return None


@cache
def _say(path: str, problem: str) -> None:
    """Warn, once in a process, that machine code isn't kept."""
    warnings.warn(
        f"machine code isn't kept in {escape(path)}, so it is compiled again: {escape(problem, 300)}",
        CodeCacheWarning,
        stacklevel=2,
    )


class _Cache(caching.FunctionCache):
    """Machine code on disk. Where that can't be read or written, it is passed over, said once, and mended."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was kept; None if nothing was, or if it is damaged: the next save makes it anew."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # whatever a cut file breaks: it is no more than a cache
            _say(str(self.cache_path), f"a file there is damaged ({type(error).__name__})")
            with suppress(OSError):
                os.unlink(self._cache_file._index_path)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, if there is room."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _say(str(self.cache_path), error.strerror or str(error))


def _compile(function: F, **options: Any) -> F:
    options = {"nogil": True, "error_model": "numpy", **options}
    package = function.__module__.partition(".")[0]
    is_ours = package in sys.modules and hasattr(sys.modules[package], "__path__")
    compiled = numba.njit(**options)(function)
    if not is_jitted(compiled):  # by NUMBA_DISABLE_JIT, where NumPy warns of words that wrap, as they should
        return np.errstate(over="ignore")(function)
    folder = _code_folder(package) if is_ours else None
    if folder is None:
        return cast(F, compiled)
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)  # read when a cache is made
    try:
        kept = _Cache(function)  # type: ignore[no-untyped-call]
        if Path(str(kept.cache_path)).is_relative_to(folder):  # if the disk is full, Numba goes elsewhere
            compiled._cache = kept  # type: ignore[attr-defined]  # as enable_caching does
    except RuntimeError:  # the function's file is within an archive, and has no time of change
        _say(str(folder), f"{package} is imported from an archive")
    finally:
        _config.CACHE_DIR = before
    return cast(F, compiled)


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
