"""Attention for long sequences: tile by tile, so that no array of all pairs of positions exists.

RMSHead looks at one pair of positions at a time, so the output is a plain sum over tiles of keys:
no running maximum, as softmax would need. Each tile is the attention itself, and its
gradient is recomputed in the backward pass; this file only goes over tiles and adds up.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.attention import RELU, Attention, ValueNetwork
from baselines.model.products import Activation, accumulator

Array = jax.Array

TILE = 64
"""Positions of a tile, unless another number is given."""


class TilePlan(NamedTuple):
    """What is known about the tiles before any array is.

    Attributes:
        attention: which.
        activation: φ.
        causal: whether queries see no later keys.
        keys: K, before padding.
        query_tile: queries of a tile.
        key_tile: keys of a tile.
    """

    attention: Attention
    activation: Activation
    causal: bool
    keys: int
    query_tile: int
    key_tile: int


class TileArrays(NamedTuple):
    """What is cut into tiles: arrays; or of each, which axes are those of queries and of keys."""

    query: Any = (1, None)
    key: Any = (None, 1)
    value: Any = (None, 1)
    bias: Any = (1, 2)
    gate: Any = (0, 1)


def tiled_attention(
    attention: Attention,
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    network: ValueNetwork = RELU,
    gate: Array | None = None,
    *,
    causal: bool = False,
    query_tile: int = TILE,
    key_tile: int = TILE,
) -> Array:
    """Return what an attention that has tiles returns, in memory that grows with one tile.

    Values and gradients (of query, key, value and bias) are those of the attention up to rounding.

    Args:
        attention: which.
        query: floating ``[B, Q, H, D]``.
        key: ``[B, K, H, D]`` of the same type.
        value: ``[B, K, H, V]`` of the same type.
        bias: ``[H, Q, K]`` or None.
        network: φ; weights of an attention's own aren't tiled.
        gate: what dropout multiplies latent codes by, ``[Q, K]``, or None.
        causal: whether query q sees keys 0 to q only; tiles without any are skipped.
        query_tile: queries of a tile, 1 or more; needs not divide Q.
        key_tile: keys of a tile, likewise.

    Returns:
        ``[B, Q, H, V]`` of the type of the values.
    """
    Q, K = query.shape[1], key.shape[1]
    plan = TilePlan(attention, network.activation, causal, K, min(Q, query_tile), min(K, key_tile))
    padded = map(partial(_pad, plan), (query, key, value, bias, gate), TileArrays())
    return _tiled(plan, TileArrays(*padded))[:, :Q].astype(value.dtype)


def _cuts(plan: TilePlan, array: Array, axes: tuple[int | None, ...]) -> list[tuple[int, int, int]]:
    """Return the axes of an array that are cut: each, 0 for queries or 1 for keys, and a tile's length."""
    tiles = enumerate(zip(axes, (plan.query_tile, plan.key_tile), strict=True))
    return [(axis, at, tile) for at, (axis, tile) in tiles if axis is not None and array.shape[axis] > 1]


def _pad(plan: TilePlan, array: Array | None, axes: tuple[int | None, ...]) -> Any:
    """Pad an array with zeros to whole tiles; axes of length 1 stay."""
    if array is None:
        return None
    widths = [(0, 0)] * array.ndim
    for axis, _, tile in _cuts(plan, array, axes):
        widths[axis] = (0, -array.shape[axis] % tile)
    return jnp.pad(array, widths)


def _part(plan: TilePlan, array: Array | None, axes: tuple[int | None, ...], *tile_of: Array) -> Any:
    """Return what an array has for one tile of queries and keys."""
    if array is None:
        return None
    for axis, at, tile in _cuts(plan, array, axes):
        array = jax.lax.dynamic_slice_in_dim(array, tile_of[at] * tile, tile, axis)
    return array


def _add_part(
    plan: TilePlan, total: Array | None, axes: tuple[int | None, ...], part: Array, *tile_of: Array
) -> Any:
    """Return ``total`` with ``part`` added where it lies."""
    if total is None:
        return None
    starts: list[Any] = [0] * total.ndim
    for axis, at, tile in _cuts(plan, total, axes):
        starts[axis] = tile_of[at] * tile
    here = jax.lax.dynamic_slice(total, starts, part.shape)
    return jax.lax.dynamic_update_slice(total, here + part.astype(total.dtype), starts)


def _tile(
    plan: TilePlan, arrays: TileArrays, i: Array, j: Array
) -> tuple[Callable[..., Array], tuple[Array, Array, Array, Array | None]]:
    """Return the attention of a tile as a function of its query, key, value and bias; and these."""
    *given, gate_QK = (_part(plan, *each, i, j) for each in zip(arrays, TileArrays(), strict=True))
    query_Q1 = (i * plan.query_tile + jnp.arange(plan.query_tile))[:, None]
    key_1K = (j * plan.key_tile + jnp.arange(plan.key_tile))[None]
    mask = None
    if plan.causal:  # padding comes later than any query
        mask = (key_1K <= query_Q1)[None, None]
    elif plan.keys % plan.key_tile:
        mask = (key_1K < plan.keys)[None, None]

    def attend_tile(query: Array, key: Array, value: Array, bias: Array | None) -> Array:
        network = ValueNetwork(plan.activation)
        return plan.attention(query, key, value, bias, mask, network, gate_QK)[0]

    return attend_tile, tuple(given)


def _key_tiles(plan: TilePlan, arrays: TileArrays, i: Array) -> Any:
    """Return how many key tiles, from the first, queries of tile i may see."""
    tiles = arrays.key.shape[1] // plan.key_tile
    if not plan.causal:
        return tiles
    return jnp.minimum(tiles, -(-(i + 1) * plan.query_tile // plan.key_tile))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _tiled(plan: TilePlan, arrays: TileArrays) -> Array:
    """Return the output of padded arrays, ``[B, Q, H, V]`` in float32 or better."""
    B, Q, H, _ = arrays.query.shape
    zeros = jnp.zeros((B, plan.query_tile, H, arrays.value.shape[-1]), accumulator(arrays.value.dtype))

    def attend_queries(i: Array) -> Array:
        def add_keys(j: Array, total_BQHV: Array) -> Array:
            attend_tile, given = _tile(plan, arrays, i, j)
            return total_BQHV + attend_tile(*given)

        return jax.lax.fori_loop(0, _key_tiles(plan, arrays, i), add_keys, zeros)

    tiles: Array = jax.lax.map(attend_queries, jnp.arange(Q // plan.query_tile))
    return tiles.swapaxes(0, 1).reshape(B, Q, H, -1)


def _backward(plan: TilePlan, arrays: TileArrays, grad_BQHV: Array) -> tuple[TileArrays]:
    axes, differentiated, dtype = TileArrays(), arrays[:4], accumulator(arrays.query.dtype)

    def go_back(i: Array, totals: tuple[Any, ...]) -> tuple[Any, ...]:
        def go_back_keys(j: Array, totals: tuple[Any, ...]) -> tuple[Any, ...]:
            attend_tile, given = _tile(plan, arrays, i, j)
            parts = jax.vjp(attend_tile, *given)[1](_part(plan, grad_BQHV, axes.query, i, j))
            return tuple(
                _add_part(plan, total, at, part, i, j)
                for total, at, part in zip(totals, axes[:4], parts, strict=True)
            )

        return jax.lax.fori_loop(0, _key_tiles(plan, arrays, i), go_back_keys, totals)

    zeros = tuple(None if x is None else jnp.zeros(x.shape, dtype) for x in differentiated)
    totals = jax.lax.fori_loop(0, arrays.query.shape[1] // plan.query_tile, go_back, zeros)
    query, key, value, bias = (
        None if x is None else total.astype(x.dtype) for x, total in zip(differentiated, totals, strict=True)
    )
    return (TileArrays(query, key, value, bias, None),)


_tiled.defvjp(lambda plan, arrays: (_tiled(plan, arrays), arrays), _backward)
