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


Axes = tuple[int | None, int | None]

AXES: dict[str, Axes] = {
    "query": (1, None),
    "key": (None, 1),
    "value": (None, 1),
    "bias": (1, 2),
    "gate": (0, 1),
}
"""Which axes of what is cut into tiles are those of queries and of keys."""

TileArrays = dict[str, Array]
"""What there is of these, by name."""


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
    arrays = {"query": query, "key": key, "value": value, "bias": bias, "gate": gate}
    padded = {name: _pad(plan, each, AXES[name]) for name, each in arrays.items() if each is not None}
    return _tiled(plan, padded)[:, :Q].astype(value.dtype)


def _cuts(plan: TilePlan, array: Array, axes: Axes) -> list[tuple[int, int, int]]:
    """Return the axes of an array that are cut: each, 0 for queries or 1 for keys, and a tile's length."""
    tiles = enumerate(zip(axes, (plan.query_tile, plan.key_tile), strict=True))
    return [(axis, at, tile) for at, (axis, tile) in tiles if axis is not None and array.shape[axis] > 1]


def _pad(plan: TilePlan, array: Array, axes: Axes) -> Array:
    """Pad an array with zeros to whole tiles; axes of length 1 stay."""
    widths = [(0, 0)] * array.ndim
    for axis, _, tile in _cuts(plan, array, axes):
        widths[axis] = (0, -array.shape[axis] % tile)
    return jnp.pad(array, widths)


def _part(plan: TilePlan, array: Array, axes: Axes, *tile_of: Array) -> Array:
    """Return what an array has for one tile of queries and keys."""
    for axis, at, tile in _cuts(plan, array, axes):
        array = jax.lax.dynamic_slice_in_dim(array, tile_of[at] * tile, tile, axis)
    return array


def _add_part(plan: TilePlan, total: Array, axes: Axes, part: Array, *tile_of: Array) -> Array:
    """Return ``total`` with ``part`` added where it lies."""
    starts: list[Any] = [0] * total.ndim
    for axis, at, tile in _cuts(plan, total, axes):
        starts[axis] = tile_of[at] * tile
    here = jax.lax.dynamic_slice(total, starts, part.shape)
    return jax.lax.dynamic_update_slice(total, here + part.astype(total.dtype), starts)


def _tile(
    plan: TilePlan, arrays: TileArrays, i: Array, j: Array
) -> tuple[Callable[[TileArrays], Array], TileArrays]:
    """Return the attention of a tile as a function of its query, key, value and bias; and these."""
    given = {name: _part(plan, each, AXES[name], i, j) for name, each in arrays.items()}
    gate_QK = given.pop("gate", None)
    query_Q1 = (i * plan.query_tile + jnp.arange(plan.query_tile))[:, None]
    key_1K = (j * plan.key_tile + jnp.arange(plan.key_tile))[None]
    mask = None
    if plan.causal:  # padding comes later than any query
        mask = (key_1K <= query_Q1)[None, None]
    elif plan.keys % plan.key_tile:
        mask = (key_1K < plan.keys)[None, None]

    def attend_tile(given: TileArrays) -> Array:
        pairs, network = (given["query"], given["key"], given["value"]), ValueNetwork(plan.activation)
        return plan.attention(*pairs, given.get("bias"), mask, network, gate_QK)[0]

    return attend_tile, given


def _key_tiles(plan: TilePlan, arrays: TileArrays, i: Array) -> Any:
    """Return how many key tiles, from the first, queries of tile i may see."""
    tiles = arrays["key"].shape[1] // plan.key_tile
    if not plan.causal:
        return tiles
    return jnp.minimum(tiles, -(-(i + 1) * plan.query_tile // plan.key_tile))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _tiled(plan: TilePlan, arrays: TileArrays) -> Array:
    """Return the output of padded arrays, ``[B, Q, H, V]`` in float32 or better."""
    (B, Q, H, _), value = arrays["query"].shape, arrays["value"]
    zeros = jnp.zeros((B, plan.query_tile, H, value.shape[-1]), accumulator(value.dtype))

    def attend_queries(i: Array) -> Array:
        def add_keys(j: Array, total_BQHV: Array) -> Array:
            attend_tile, given = _tile(plan, arrays, i, j)
            return total_BQHV + attend_tile(given)

        return jax.lax.fori_loop(0, _key_tiles(plan, arrays, i), add_keys, zeros)

    tiles: Array = jax.lax.map(attend_queries, jnp.arange(Q // plan.query_tile))
    return tiles.swapaxes(0, 1).reshape(B, Q, H, -1)


def _backward(plan: TilePlan, arrays: TileArrays, grad_BQHV: Array) -> tuple[dict[str, Array | None]]:
    query = arrays["query"]

    def go_back(i: Array, totals: TileArrays) -> TileArrays:
        def go_back_keys(j: Array, totals: TileArrays) -> TileArrays:
            attend_tile, given = _tile(plan, arrays, i, j)
            (parts,) = jax.vjp(attend_tile, given)[1](_part(plan, grad_BQHV, AXES["query"], i, j))
            return {
                name: _add_part(plan, total, AXES[name], parts[name], i, j) for name, total in totals.items()
            }

        return jax.lax.fori_loop(0, _key_tiles(plan, arrays, i), go_back_keys, totals)

    zeros = {
        name: jnp.zeros(x.shape, accumulator(query.dtype)) for name, x in arrays.items() if name != "gate"
    }
    totals = jax.lax.fori_loop(0, query.shape[1] // plan.query_tile, go_back, zeros)
    grads = {name: total.astype(arrays[name].dtype) for name, total in totals.items()}
    return ({**dict.fromkeys(arrays), **grads},)


_tiled.defvjp(lambda plan, arrays: (_tiled(plan, arrays), arrays), _backward)
