"""JAX's compiled programs of accelerators on disk, unless the environment names another place."""

from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache
from jax.sharding import Mesh

from baselines.train.sharding import on_cpu
from sraven.core.private import private_folder, user_cache


def keep_programs(mesh: Mesh) -> None:
    """Let JAX keep the programs of accelerators below the user's cache, unless a place is named.

    To compile one takes minutes there. On a CPU it takes seconds, and another CPU may not run what it makes.
    JAX runs what it reads there, so the folder is one that only the user can write to.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is not None or on_cpu(mesh):
        return
    try:
        folder = private_folder(user_cache() / "sraven" / "programs")
    except OSError:
        return  # as without a home: each process compiles for itself
    config.update("jax_compilation_cache_dir", str(folder))
    compilation_cache.reset_cache()  # it looks for a place once, before the first program
