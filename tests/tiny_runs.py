"""Runs of training so small that compiling them takes most of the time, and less of that."""

import fcntl
import os
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import jax
import numpy as np
from jax.experimental.compilation_cache import compilation_cache

import baselines.experiment
from baselines.recipes import make_config
from sraven.core.boards import read_board

STEPS, CHUNK = 20, 5

TINY = {
    "steps": STEPS,
    "layers": 1,
    "width": 12,
    "heads": 3,
    "qkv_width": 6,
    "mlp_width": 16,
    "batch_size": 8,
    "warmup": 3,
    "attention_dropout": 0.1,
    "learning_rate": 0.01,
}

_QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}

_QUICKER = {**_QUICK, "xla_cpu_use_fusion_emitters": False}


_CACHE = {
    "jax_compilation_cache_dir": None,
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


def tiny(attention="hyla", **changes):
    """Return the configuration of a tiny run."""
    return make_config(read_board("fuzzylogic-v1"), attention, **{**TINY, **changes})


def tiny_options(**changes):
    """Return it as options of the command, but for the seed."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in {**TINY, **changes}.items()]


def leaves(state):
    """Return the arrays of a state on the host, by their paths."""
    found = jax.tree_util.tree_leaves_with_path(state)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in found}


@contextmanager
def quickly(cache, *, exact=False):
    """Compile in a fraction of the time, each program once; and train in short chunks.

    Args:
        cache: a directory for compiled programs, which processes share.
        exact: take half of that time instead of a quarter, and add up in the usual order: a run among
            others is then the run alone, bit for bit.
    """
    options = {name: value for name, value in (_QUICK if exact else _QUICKER).items() if _knows(name, value)}
    before = {name: getattr(jax.config, name) for name in _CACHE}
    with (
        patch.object(jax, "jit", partial(jax.jit, compiler_options=options)),
        patch.object(baselines.experiment, "CHUNK", CHUNK),
    ):
        _configure({**_CACHE, "jax_compilation_cache_dir": str(cache)})
        try:
            yield
        finally:
            _configure(before)


def _configure(values):
    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def _knows(name, value):
    try:
        jax.jit(lambda x: x, compiler_options={name: value})(0)
    except jax.errors.JaxRuntimeError:
        return False
    return True


def shared_directory(tmp_path_factory, name):
    """Return a directory that all of pytest's workers share."""
    root = tmp_path_factory.getbasetemp()
    path = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / name
    path.mkdir(exist_ok=True)
    return path


def once(tmp_path_factory, name, make):
    """Return a directory that one of pytest's workers fills, while the others wait."""
    path = shared_directory(tmp_path_factory, name)
    with open(path / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (path / "made").exists():
            make(path)
            (path / "made").touch()
    return path
