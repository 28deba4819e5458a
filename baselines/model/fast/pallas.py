"""HYLA on a GPU: the sums of `baselines.model.attention.figure_a1` in fused kernels, in Pallas for Triton.

No array of pairs of positions is in memory but the caller's: saved are query, key, value, bias and dropout's
gate, and the gradients' kernels recompute the rest. `baselines.model.fast.pallas_kernels` is what a program
does with one tile; this file has the tiles and which of them see each other.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from numpy.typing import NDArray

from baselines.model.fast.pallas_kernels import (
    KernelPlan,
    bias_kernel,
    forward_kernel,
    key_kernel,
    query_kernel,
)
from baselines.model.products import Activation

Array = jax.Array

TILE = 16
"""Positions of a tile: the fewest that a GPU's matrix units take."""

WARPS = 8


def hyla_pallas(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    gate: Array | None = None,
    *,
    activation: Activation = jax.nn.relu,
    normalise: bool = True,
    causal: bool = False,
    tile: int = TILE,
    interpret: bool = False,
) -> Array:
    """Return HYLA's output: values and gradients of query, key, value and bias, up to rounding.

    Args:
        query: ``[B, Q, H, D]``, float32 or bfloat16.
        key: ``[B, K, H, D]`` of the same type.
        value: ``[B, K, H, V]`` of the same type.
        bias: floating ``[H, Q, K]`` or None.
        gate: what dropout multiplies the latent codes of a pair by, float32 ``[Q, K]``, or None.
        activation: φ, elementwise.
        normalise: whether latent codes are RMSHead of the scores.
        causal: whether query q sees keys 0 to q only.
        tile: positions of a tile.
        interpret: whether JAX computes the kernels itself, on any device, slowly.

    Returns:
        ``[B, Q, H, V]`` of the type of the values.
    """
    Q, K = query.shape[1], key.shape[1]
    plan = KernelPlan(activation, normalise, causal, K, tile, interpret)
    pad = partial(_pad, tile)
    padded = pad(query, 1), pad(key, 1), pad(value, 1), pad(bias, 1, 2), pad(gate, 0, 1)
    return _attend(plan, *padded)[:, :Q]


def _pad(tile: int, array: Array | None, *axes: int) -> Any:
    """Pad axes with zeros to whole tiles."""
    if array is None:
        return None
    return jnp.pad(array, [(0, -size % tile if at in axes else 0) for at, size in enumerate(array.shape)])


# Which tiles see which ------------------------------------------------------------------------------


def key_tiles(queries: int, keys: int, causal: bool) -> NDArray[np.int32]:
    """Return which tiles of keys a tile of queries sees, first and one after the last: ``[tiles, 2]``."""
    last = np.arange(1, queries + 1) if causal else np.full(queries, keys)
    return np.stack([np.zeros(queries), np.minimum(last, keys)], axis=1).astype(np.int32)


def query_tiles(queries: int, keys: int, causal: bool) -> NDArray[np.int32]:
    """Return which tiles of queries see each tile of keys, likewise."""
    first = np.arange(keys) if causal else np.zeros(keys)
    return np.stack([np.minimum(first, queries), np.full(keys, queries)], axis=1).astype(np.int32)


# Calls ----------------------------------------------------------------------------------------------


def _call(
    plan: KernelPlan,
    kernel: Callable[..., None],
    grid: tuple[int, ...],
    inputs: Sequence[tuple[Any, Any]],
    outputs: Sequence[tuple[Any, Any]],
) -> Any:
    """Run a kernel.

    Args:
        plan: its first argument.
        kernel: takes the plan, and references to inputs and outputs.
        grid: how many programs there are along each axis.
        inputs: what gives a program its part of an array, and the array; None for both if there is none.
        outputs: likewise; arrays have shape and type.
    """
    made = pl.pallas_call(
        partial(kernel, plan),
        grid=grid,
        in_specs=[spec for spec, _ in inputs],
        out_specs=[spec for spec, _ in outputs],
        out_shape=[jax.ShapeDtypeStruct(array.shape, array.dtype) for _, array in outputs],
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=plan.interpret,
    )
    return made(*(array for _, array in inputs))


def _part(array: Any, axis: int | None = None, size: int = 0) -> tuple[Any, Any]:
    """Pair an array with what gives the program (b, i) its part: of instance b, and of one axis tile i alone.

    Args:
        array: with axes ``BTHD``, ``HQK`` or ``QK``, or None.
        axis: the one that is cut, or None.
        size: of a tile.
    """
    if array is None:
        return None, None
    by_instance = array.ndim == 4
    block = [
        None if by_instance and at == 0 else size if at == axis else length
        for at, length in enumerate(array.shape)
    ]

    def place(b: Any, i: Any) -> tuple[Any, ...]:
        return tuple(b if by_instance and at == 0 else i if at == axis else 0 for at in range(array.ndim))

    return pl.BlockSpec(tuple(block), place), array


def _inputs(plan: KernelPlan, by: str, arrays: Any) -> list[tuple[Any, Any]]:
    """Return the inputs of a kernel: which tiles a program goes over, and the arrays.

    Args:
        plan: of the call.
        by: ``queries`` or ``keys``: of which a program holds one tile.
        arrays: query, key, value, bias and gate, then the output's gradient if it is needed.
    """
    query, key, value, bias, gate, *grads = arrays
    tiles = query.shape[1] // plan.tile, key.shape[1] // plan.tile
    mine = partial(_part, size=plan.tile)
    if by == "queries":
        seen = key_tiles(*tiles, plan.causal)
        parts = mine(query, 1), _part(key), _part(value), mine(bias, 1), mine(gate, 0)
        return [_part(jnp.asarray(seen)), *parts, *(mine(grad, 1) for grad in grads)]
    seen = query_tiles(*tiles, plan.causal)
    parts = _part(query), mine(key, 1), mine(value, 1), mine(bias, 2), mine(gate, 1)
    return [_part(jnp.asarray(seen)), *parts, *map(_part, grads)]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(
    plan: KernelPlan, query: Array, key: Array, value: Array, bias: Array | None, gate: Array | None
) -> Array:
    """Return the output of padded arrays."""
    B, Q, H, _ = query.shape
    out = jax.ShapeDtypeStruct((B, Q, H, value.shape[-1]), value.dtype)
    inputs = _inputs(plan, "queries", (query, key, value, bias, gate))
    outputs = [_part(out, 1, plan.tile)]
    return _call(plan, forward_kernel, (B, Q // plan.tile), inputs, outputs)[0]


def _backward(plan: KernelPlan, saved: Any, grad: Array) -> Any:
    arrays = *saved, grad
    query, key, value, bias, _ = saved
    B, tile = query.shape[0], plan.tile
    inputs, outputs = _inputs(plan, "queries", arrays), [_part(query, 1, tile)]
    (grad_query,) = _call(plan, query_kernel, (B, query.shape[1] // tile), inputs, outputs)
    inputs, outputs = _inputs(plan, "keys", arrays), [_part(key, 1, tile), _part(value, 1, tile)]
    grad_key, grad_value = _call(plan, key_kernel, (B, key.shape[1] // tile), inputs, outputs)
    return grad_query, grad_key, grad_value, None if bias is None else _grad_bias(plan, arrays), None


def _grad_bias(plan: KernelPlan, arrays: Any) -> Array:
    """Return the gradient of the bias: a program holds one tile of pairs and goes over the batch."""
    query, key, value, bias, gate, grad = arrays
    B, tile = query.shape[0], plan.tile

    def tiles_of(array: Array, place: Callable[[Any, Any], Any]) -> tuple[Any, Array]:
        return pl.BlockSpec((B, tile, *array.shape[2:]), place), array

    by_query, by_key = (lambda i, j: (0, i, 0, 0)), (lambda i, j: (0, j, 0, 0))
    pairs = pl.BlockSpec((bias.shape[0], tile, tile), lambda i, j: (0, i, j)), bias
    gates = (None if gate is None else pl.BlockSpec((tile, tile), lambda i, j: (i, j))), gate
    inputs = [tiles_of(query, by_query), tiles_of(key, by_key), tiles_of(value, by_key)]
    inputs += [pairs, gates, tiles_of(grad, by_query)]
    grid = query.shape[1] // tile, key.shape[1] // tile
    return _call(plan, bias_kernel, grid, inputs, [pairs])[0]


_attend.defvjp(lambda plan, *arrays: (_attend(plan, *arrays), arrays), _backward)
