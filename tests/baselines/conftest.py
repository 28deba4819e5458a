"""JAX on the CPU, whatever the machine has: before any test imports it."""

import os
import shutil

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest


@pytest.fixture
def float64():
    """Let arrays have float64."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The directory of a tiny run that nothing happened to, and its last state.

    Tests only read it, in modules that use `compiled`.
    """
    from baselines.train.train import train
    from helpers.tiny_runs import STEPS, quickly, shared_directory, tiny

    folder = tmp_path_factory.mktemp("runs") / "tiny"
    with quickly(shared_directory(tmp_path_factory, "compiled")):
        return folder, train(tiny(), folder, save_every=STEPS // 2)


@pytest.fixture
def tiny_copy(tiny_run, tmp_path):
    """A copy of the directory of that run, to be changed."""
    return shutil.copytree(tiny_run[0], tmp_path / "run")
