"""Values and gradients of two ways to compute the same."""

import jax
import jax.numpy as jnp
import numpy as np


def draw(*shape, seed=0, dtype=np.float64):
    """Return normal numbers, which follow from the shape and the seed."""
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def drawn(module, *inputs):
    """Return parameters of a Flax module for some inputs, biases too, as NumPy arrays of float64."""
    leaves, tree = jax.tree.flatten(jax.eval_shape(module.init, jax.random.key(0), *inputs))
    return tree.unflatten([0.5 * draw(*leaf.shape, seed=at) for at, leaf in enumerate(leaves)])


def gelu(x):
    """GELU in its tanh form, by its formula."""
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def memory_of_gradient(function, *shape):
    """Return the bytes that the gradient of a function of three arrays takes beside them, by the compiler."""
    given = [jax.ShapeDtypeStruct(shape, jnp.float32)] * 3
    gradient = jax.grad(lambda *inputs: function(*inputs).sum(), (0, 1, 2))
    return jax.jit(gradient).lower(*given).compile().memory_analysis().temp_size_in_bytes


def values_and_gradients(function, arrays):
    """Return what a function returns of arrays, and the gradients of a weighted sum of it, without None."""

    @jax.jit
    def look(*arrays):
        found, pull = jax.vjp(function, *arrays)
        weights = jax.tree.map(lambda each: jnp.asarray(draw(*each.shape, seed=9), each.dtype), found)
        return found, pull(weights)

    return jax.tree.leaves(look(*arrays))


def assert_same_values(found, wanted, tolerance):
    """Compare arrays of the same shapes and types; differences are shares of each array's largest entry."""
    for array, expected in zip(found, wanted, strict=True):
        assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
        array, expected = np.asarray(array, np.float64), np.asarray(expected, np.float64)
        assert np.abs(array - expected).max() <= tolerance * np.abs(expected).max()


def assert_runs_side_by_side(function, runs, tolerance):
    """Check that under `jax.vmap`, by which a grid of runs trains, each run is what it is alone."""
    together = jax.jit(jax.vmap(function))(*(jnp.stack(parts) for parts in zip(*runs, strict=True)))
    for at, run in enumerate(runs):
        alone = jax.jit(function)(*run)
        for found, wanted in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(found[at], wanted, rtol=tolerance, atol=tolerance)
