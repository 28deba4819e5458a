"""JAX's compiled programs on disk, which it keeps if the environment names a place."""

import os
import sys
import warnings
from pathlib import Path

from sraven.core.ground.echo import shown
from sraven.core.ground.errors import CodeCacheWarning
from sraven.core.system.private import describe, private_folder

VARIABLE = "JAX_COMPILATION_CACHE_DIR"


def check_compilation_cache() -> None:
    """Let JAX read programs from a folder that only the user can write to, or else from none, with a warning.

    It runs what it reads there. A folder that isn't there is made; a place with a scheme, such as gs://,
    has its own keepers and stays.
    """
    asked = os.environ.get(VARIABLE)
    if not asked or "://" in asked:
        return
    try:
        private_folder(Path(asked))
    except OSError as error:
        del os.environ[VARIABLE]
        jax = sys.modules.get("jax")
        if jax is not None and jax.config.jax_compilation_cache_dir == asked:
            jax.config.update("jax_compilation_cache_dir", None)
        warnings.warn(
            f"{VARIABLE}={shown(asked)} isn't used, so programs are compiled anew: "
            f"{shown(describe(error), 300)}; name a folder of mode 700 that only you can write to",
            CodeCacheWarning,
            stacklevel=2,
        )
