"""JAX on the CPU, whatever the machine has: before any test imports it."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest


@pytest.fixture
def float64():
    """Let arrays have float64."""
    with jax.enable_x64(True):
        yield
