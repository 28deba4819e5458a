"""What the tests of the model share."""

import jax
import pytest


@pytest.fixture(autouse=True)
def _strict_types():
    """No type is promoted unasked, so nothing becomes float32 or float64 by accident."""
    with jax.numpy_dtype_promotion("strict"):
        yield


@pytest.fixture
def float64():
    """Let arrays have float64."""
    with jax.enable_x64(True):
        yield
