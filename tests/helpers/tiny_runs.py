"""Runs of training so small that compiling them takes most of the time, and less of that.

How runs that add up in another order are compared, on other devices or processes, in parts of a batch, beside
other runs:

- Their first gradients agree up to rounding, in the type that users train in: `assert_gradients_agree`.
- Whole runs agree in float64 alone: `in_float64`, `assert_runs_agree`. In float32, Adam makes steps of equal
  size of gradients of any size, and each step's differences enter the next: of 2e-7 in the first gradient
  3e-4 in a parameter is left after 60 steps, more or less of it on every processor.
"""

import fcntl
import json
import os
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import jax
import numpy as np
from jax.experimental.compilation_cache import compilation_cache

import baselines.train.experiment
import baselines.train.train
from baselines.encode import Encoding
from baselines.model.attention import ATTENTION
from baselines.model.implementations import IMPLEMENTATIONS
from baselines.model.networks import NETWORKS
from baselines.recipes import make_config
from baselines.train.checkpoint import CHECKSUMS
from baselines.train.directory import CHECKPOINTS, CONFIG, read_run
from baselines.train.log import LOG
from baselines.train.optim import OPTIMISERS, Hyperparams, shape_of
from baselines.train.predict import predictor_of_shape
from baselines.train.train import train
from helpers.compiling import quick_compilation
from sraven.board.board import read_board
from sraven.files.files import write_json

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

_CACHE = {
    "jax_compilation_cache_dir": None,
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


def tiny(attention="hyla", **changes):
    """Return the configuration of a tiny run."""
    return make_config(read_board("fuzzylogic-v1"), attention, **{**TINY, **changes})


def tiny_options(**changes):
    """Return it as options of the command, but for the seed; without scores while it trains."""
    options = {**TINY, "score_every": 0, **changes}
    return [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]


def leaves(state):
    """Return the arrays of a state on the host, by their paths."""
    found = jax.tree_util.tree_leaves_with_path(state)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in found}


def assert_same_bits(state, other):
    """Check that states are equal, to the last bit."""
    other = leaves(other)
    for path, array in leaves(state).items():
        assert (array == other[path]).all(), path


def lines_of(run):
    """Return the lines of the log of a run."""
    return [json.loads(line) for line in (run / LOG).read_text().splitlines()]


def logged(run):
    """Return what the lines of the log of a run have, but for speeds, by its path in them."""
    lines = lines_of(run)
    return leaves([{name: line[name] for name in line if "_per_second" not in name} for line in lines])


def changed_run(run, goal, **changes):
    """Copy a run; the copy and its checkpoints say that it had another configuration."""
    shutil.copytree(run, goal)
    write_json(goal / CONFIG, {**json.loads((goal / CONFIG).read_text()), **changes})
    for path in goal.glob(f"{CHECKPOINTS}/*/{CHECKSUMS}"):
        write_json(path, {**json.loads(path.read_text()), "run": read_run(goal).digest})
    return goal


_PROGRAMS = {}


@contextmanager
def programs_made_once(module, name):
    """Let a module make each training program once, whatever run it is for: JAX then compiles it once.

    Args:
        module: whose experiments are trained.
        name: of its function that makes a program, given a configuration, parts or the like, and a mesh.
    """
    make = getattr(module, name)

    def make_once(config, *arguments):
        rest = [each for each in arguments if not isinstance(each, Encoding)]  # a matter of the board
        tables = (
            ATTENTION.get(config.attention),
            NETWORKS.get(config.network),
            OPTIMISERS.get(config.optimiser),
        )
        key = (name, shape_of(config), *rest, *tables, jax.config.jax_enable_x64)
        if key not in _PROGRAMS:
            _PROGRAMS[key] = make(config, *arguments)
        return _PROGRAMS[key]

    with patch.object(module, name, make_once):
        yield


@contextmanager
def quickly(cache):
    """Compile in a fraction of the time, each program once; and train in short chunks.

    Nothing is computed in lanes, whose kernels Numba compiles for seconds in each process.

    Args:
        cache: a directory for compiled programs, which processes share.
    """
    with (
        compiled_once(cache),
        quick_compilation(),
        patch.dict(IMPLEMENTATIONS, lanes=IMPLEMENTATIONS["lanes"]._replace(suits=lambda call: False)),
        patch.object(baselines.train.experiment, "CHUNK", CHUNK),
        programs_made_once(baselines.train.experiment, "program_of"),
    ):
        yield


@contextmanager
def compiled_once(cache):
    """Compile each program once, as users compile it.

    Args:
        cache: a directory for compiled programs, which processes share.
    """
    before = {name: getattr(jax.config, name) for name in _CACHE}
    _configure({**_CACHE, "jax_compilation_cache_dir": str(cache)})
    try:
        yield
    finally:
        _configure(before)


@contextmanager
def in_float64():
    """Train in float64, parameters and rates too: what then differs is no rounding."""
    import baselines.lm.experiment  # tests without text need none of it

    def hyper_of(configs, hyper_of=baselines.train.train.hyper_of):
        return Hyperparams(*(values.astype(np.float64) for values in hyper_of(configs)))

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    with ExitStack() as stack:
        stack.callback(jax.config.update, "jax_enable_x64", before)
        predictor_of_shape.cache_clear()  # what it keeps computes in one type
        stack.callback(predictor_of_shape.cache_clear)
        stack.enter_context(patch.object(baselines.train.train, "hyper_of", hyper_of))
        for module in (baselines.train.experiment, baselines.lm.experiment):
            for name, exact in (("TransformerConfig", _exact_config), ("Program", _exact_program)):
                stack.enter_context(patch.object(module, name, partial(exact, getattr(module, name))))
        yield


def _exact_config(make, **shape):
    return make(**{**shape, "dtype": "float64"})


def _exact_program(make, initialise, *arguments, **options):
    def initialise_exactly(key):
        return jax.tree.map(lambda leaf: leaf.astype(np.float64), initialise(key))

    return make(initialise_exactly, *arguments, **options)


def first_gradient(config, folder, **options):
    """Return the gradient of a run's first step, but for a factor: Adam's first moment after it.

    Args:
        config: of the run.
        folder: a directory for it.
        options: as of `baselines.train.train.train`.
    """
    state = train(replace(config, steps=1, warmup=1), folder, **options)
    return leaves(state.opt_state[0].mu)


ULPS = 100
"""Rounding that sums in another order may leave in a gradient, in units in the last place of the largest
entry of its array. The tests' runs leave 15 at most; a sum in bfloat16 leaves 30,000, an instance left out
millions."""


def assert_gradients_agree(here, there):
    """Check that gradients are equal up to rounding.

    A bias of softmax attention's keys has no gradient but rounding errors, and is compared with the others.
    """
    assert here.keys() == there.keys()
    largest = max(np.abs(array).max() for array in there.values())
    for path, array in there.items():
        assert here[path].dtype == array.dtype and np.isfinite(here[path]).all(), path
        scale = np.abs(array).max()
        bound = ULPS * np.finfo(array.dtype).eps * (scale if scale > 1e-5 * largest else largest)
        error = np.abs(here[path] - array).max()
        assert error <= bound, f"{path} differs by {error:.2g}, more than {bound:.2g}"


EXACTLY = 1e-8
"""By how much parameters, moments and losses of whole runs in float64 may differ. They differ by 1e-12 or
less, and by 1e-10 where rounding errors are all the gradient that there is; in float32 by 1e-4."""


def assert_runs_agree(here, there):
    """Check that what runs in float64 ended with, or lost, is the same."""
    assert here.keys() == there.keys()
    for path, array in here.items():
        assert np.asarray(array).dtype != np.float32, path
        np.testing.assert_allclose(array, there[path], rtol=0, atol=EXACTLY, err_msg=path)


def _configure(values):
    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


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
