"""JAX's compiled programs on disk: where the environment says, or else those of accelerators alone."""

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sraven.core.errors import CodeCacheWarning
from sraven.core.escape import escape
from sraven.core.system.private import describe, private_folder

if TYPE_CHECKING:
    from jax.sharding import Mesh

VARIABLE = "JAX_COMPILATION_CACHE_DIR"


def check_compilation_cache() -> None:
    """Let JAX read programs from a folder that only the user can write to, or else from none, with a warning.

    It runs what it reads there. A folder that isn't there is made; a place with a scheme, such as gs://,
    has its own keepers and stays.
    """
    folder = os.environ.get(VARIABLE)
    if not folder or "://" in folder:
        return
    try:
        private_folder(Path(folder))
    except OSError as error:
        del os.environ[VARIABLE]
        jax = sys.modules.get("jax")
        if jax is not None and jax.config.jax_compilation_cache_dir == folder:
            jax.config.update("jax_compilation_cache_dir", None)
        warnings.warn(
            f"{VARIABLE}={escape(folder)} isn't used, so programs are compiled again: "
            f"{escape(describe(error), 300)}; name a folder of mode 700 that only you can write to",
            CodeCacheWarning,
            stacklevel=2,
        )


def keep_programs(mesh: "Mesh") -> None:
    """Let JAX keep the programs of accelerators below the user's cache, unless a place is named, or none.

    To compile one takes minutes there. On a CPU it takes seconds, and another CPU may not run what it makes.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    from baselines.train.sharding import on_cpu

    config: Any = jax.config
    named = os.environ.get(VARIABLE) is not None or config.jax_compilation_cache_dir is not None
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if named or on_cpu(mesh) or not base.is_absolute():
        return
    try:
        folder = private_folder(base, "sraven", "programs")
    except OSError:
        return  # as without a home: each process compiles for itself
    config.update("jax_compilation_cache_dir", str(folder))
    compilation_cache.reset_cache()  # it looks for a place once, before the first program
