"""Fixtures of the model's tests."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import dropout_gate
from helpers.compiling import quick_compilation
from helpers.derivatives import draw
from helpers.small_models import attention_of


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


@pytest.fixture
def equals_loops(float64):
    """A check that a function equals an oracle of NumPy arrays: values, and gradients by differences."""

    def check(function, oracle, *inputs, rtol=1e-10):
        def total(found):
            return sum((each * draw(*each.shape, seed=9)).sum() for each in jax.tree.leaves(found))

        def look(inputs):
            found = function(*inputs)
            return total(found), found

        (_, found), grads = jax.jit(jax.value_and_grad(look, has_aux=True))(jax.tree.map(jnp.asarray, inputs))
        for array, wanted in zip(*map(jax.tree.leaves, (found, oracle(*inputs))), strict=True):
            np.testing.assert_allclose(array, wanted, rtol=rtol, atol=1e-12)
        leaves, tree = jax.tree.flatten(inputs)
        for at, (leaf, grad) in enumerate(zip(leaves, jax.tree.leaves(grads), strict=True)):
            step = 1e-6 * draw(*leaf.shape, seed=2)
            ends = [
                total(oracle(*tree.unflatten([*leaves[:at], leaf + by, *leaves[at + 1 :]])))
                for by in (step, -step)
            ]
            np.testing.assert_allclose((grad * step).sum(), (ends[0] - ends[1]) / 2, rtol=1e-6, atol=1e-12)
        return found

    return check


@pytest.fixture
def equals_oracle(equals_loops):
    """A check that an attention's module equals an oracle, of an instance and what dropout leaves.

    It returns the parameters, the output and the latent codes.
    """

    def check(config, T, oracle):
        (module, params, x_BTE), key = attention_of(config, T), jax.random.key(3)
        gate_QK = np.asarray(dropout_gate(config.attention_dropout, key, T, T, jnp.float64))

        def by_hand(params, x_BTE):
            instances = [oracle(params, x_TE, gate_QK) for x_TE in x_BTE]
            return [np.stack(each) for each in zip(*instances, strict=True)]

        run = partial(module.apply, dropout_key=key)
        return params, *equals_loops(lambda params, x: run({"params": params}, x), by_hand, params, x_BTE)

    return check
