"""Fixtures of the model's tests."""

import jax
import pytest

from helpers.compiling import quick_compilation


@pytest.fixture(autouse=True)
def _strict_types():
    """No type is promoted unasked, so nothing becomes float32 or float64 by accident."""
    with jax.numpy_dtype_promotion("strict"):
        yield


@pytest.fixture(autouse=True)
def _quick_compilation():
    """Most of the time of these tests is the compiler's: let it leave out its costly passes."""
    jax.config.update("jax_disable_most_optimizations", True)
    with quick_compilation():
        yield
    jax.config.update("jax_disable_most_optimizations", False)
