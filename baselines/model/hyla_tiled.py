"""HYLA for long sequences: tile by tile, so that no array of all pairs of positions exists.

RMSHead looks at one pair of positions at a time, so the output is a plain sum over tiles of keys:
no running maximum, as softmax would need. Each tile is `baselines.model.attention.attend`, and its
gradient is computed anew when it is asked for; this file only goes over tiles and adds up.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.attention import Attention, Network, attend, dropout_gate, find_network, with_form
from baselines.model.checks import check_arrays
from baselines.model.mixing import Activation, accumulator
from baselines.model.names import look_up
from sraven.core.ground.arguments import check_integer

Array = jax.Array

QUERY_TILE, KEY_TILE = 64, 64
"""Positions of a tile, unless others are asked for."""


class Plan(NamedTuple):
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


class Pairs(NamedTuple):
    """Arrays over pairs of positions that have no gradient; padded, with four axes, or None.

    Attributes:
        mask: bool, each axis full or 1.
        gate: what dropout multiplies latent codes by, ``[1, 1, Q, K]``.
    """

    mask: Array | None
    gate: Array | None


def hyla_tiled(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    *,
    variant: str = "hyla",
    activation: str = "relu",
    causal: bool = False,
    dropout_rate: float = 0.0,
    dropout_key: Array | None = None,
    query_tile: int = QUERY_TILE,
    key_tile: int = KEY_TILE,
) -> Array:
    """Return what ``ATTENTION[variant]`` returns, in memory that grows with one tile of pairs.

    Values and gradients (of query, key, value and bias) are those of the plain form up to rounding.

    Args:
        query: floating ``[B, Q, H, D]``.
        key: ``[B, K, H, D]`` of the same type.
        value: ``[B, K, H, V]`` of the same type.
        bias: ``[H, Q, K]`` or None.
        mask: bool, broadcasts to ``[B, H, Q, K]``, or None; ``[B, 1, 1, K]`` hides keys.
        variant: an attention that has the form ``tiled``.
        activation: φ, a name of `baselines.model.attention.ACTIVATIONS`.
        causal: whether query q sees keys 0 to q only; tiles without any are skipped.
        dropout_rate: as in the plain form, which drops the same pairs for the same key.
        dropout_key: a JAX random key, if ``dropout_rate`` isn't 0.
        query_tile: queries of a tile, 1 or more; needs not divide Q.
        key_tile: keys of a tile, likewise.

    Returns:
        ``[B, Q, H, V]`` of the type of the values.

    Raises:
        ConfigurationError: (a ValueError) for shapes or types that don't fit, or unknown names.
    """
    attention = look_up("variant", variant, with_form("tiled"))
    mask = check_arrays(query, key, value, bias, mask)
    gate = dropout_gate(dropout_rate, dropout_key, query.shape[1], key.shape[1], accumulator(query.dtype))
    network, tiles = find_network(activation), {"query_tile": query_tile, "key_tile": key_tile}
    return tiled_attention(attention, query, key, value, bias, mask, network, gate, causal=causal, **tiles)


def tiled_attention(
    attention: Attention,
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    mask: Array | None,
    network: Network,
    gate: Array | None,
    *,
    causal: bool,
    query_tile: int,
    key_tile: int,
) -> Array:
    """Return what `hyla_tiled` returns, for arrays that have been checked and an attention that has the form.

    Args:
        attention: which.
        query: as there.
        key: as there.
        value: as there.
        bias: as there.
        mask: bool with four axes, or None.
        network: φ; weights of an attention's own aren't tiled.
        gate: what dropout multiplies latent codes by, ``[Q, K]``, or None.
        causal: as there.
        query_tile: as there.
        key_tile: as there.
    """
    Q, K = query.shape[1], key.shape[1]
    plan = Plan(
        attention,
        network.activation,
        causal,
        K,
        min(Q, check_integer("query_tile", query_tile, 1, 1 << 30)),
        min(K, check_integer("key_tile", key_tile, 1, 1 << 30)),
    )
    pad = partial(_pad, plan)
    pairs = Pairs(pad(mask, q=2, k=3), pad(None if gate is None else gate[None, None], q=2, k=3))
    padded = pad(query, q=1), pad(key, k=1), pad(value, k=1), pad(bias, q=1, k=2)
    return _tiled(plan, *padded, pairs)[:, :Q].astype(value.dtype)


def _pad(plan: Plan, array: Array | None, q: int | None = None, k: int | None = None) -> Any:
    """Pad an array's axis of queries and of keys with zeros to whole tiles; leave axes of length 1."""
    if array is None:
        return None
    widths = [(0, 0)] * array.ndim
    for axis, tile in ((q, plan.query_tile), (k, plan.key_tile)):
        if axis is not None and array.shape[axis] > 1:
            widths[axis] = (0, -array.shape[axis] % tile)
    return jnp.pad(array, widths)


def _part(array: Array, axis: int, tile: Array, size: int) -> Array:
    """Return one tile's part of an axis; all of an axis of length 1."""
    if array.shape[axis] == 1:
        return array
    return jax.lax.dynamic_slice_in_dim(array, tile * size, size, axis)


def _part_of_pairs(plan: Plan, array: Array | None, i: Array, j: Array) -> Any:
    """Return what an array ``[..., Q, K]`` has for query tile i and key tile j."""
    if array is None:
        return None
    part = _part(array, array.ndim - 2, i, plan.query_tile)
    return _part(part, array.ndim - 1, j, plan.key_tile)


def _tile_mask(plan: Plan, pairs: Pairs, i: Array, j: Array) -> Array | None:
    """Return the mask of a tile: the caller's, that of causality, and that of padding."""
    query_Q1 = (i * plan.query_tile + jnp.arange(plan.query_tile))[:, None]
    key_1K = (j * plan.key_tile + jnp.arange(plan.key_tile))[None]
    masks = []
    if pairs.mask is not None:
        masks.append(_part_of_pairs(plan, pairs.mask, i, j))
    if plan.causal:
        masks.append((key_1K <= query_Q1)[None, None])
    if plan.keys % plan.key_tile:
        masks.append((key_1K < plan.keys)[None, None])
    return reduce(jnp.logical_and, masks) if masks else None


def _tile(
    plan: Plan, pairs: Pairs, i: Array, j: Array
) -> Callable[[Array, Array, Array, Array | None], Array]:
    """Return the attention of a tile, as a function of its query, key, value and bias."""
    gate = _part_of_pairs(plan, pairs.gate, i, j)
    mask, gate_QK = _tile_mask(plan, pairs, i, j), None if gate is None else gate[0, 0]
    network = Network(plan.activation)

    def attend_tile(query_BQHD: Array, key_BKHD: Array, value_BKHV: Array, bias_HQK: Array | None) -> Array:
        return attend(plan.attention, query_BQHD, key_BKHD, value_BKHV, bias_HQK, mask, network, gate_QK)[0]

    return attend_tile


def _key_tiles(plan: Plan, key_BKHD: Array, i: Array) -> Any:
    """Return how many key tiles, from the first, queries of tile i may see."""
    tiles = key_BKHD.shape[1] // plan.key_tile
    if not plan.causal:
        return tiles
    return jnp.minimum(tiles, -(-(i + 1) * plan.query_tile // plan.key_tile))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _tiled(
    plan: Plan,
    query_BQHD: Array,
    key_BKHD: Array,
    value_BKHV: Array,
    bias_HQK: Array | None,
    pairs: Pairs,
) -> Array:
    """Return the output of padded arrays, ``[B, Q, H, V]`` in float32 or better."""
    B, Q, H, _ = query_BQHD.shape
    zeros = jnp.zeros((B, plan.query_tile, H, value_BKHV.shape[-1]), accumulator(value_BKHV.dtype))

    def attend_queries(i: Array) -> Array:
        part_BQHD = _part(query_BQHD, 1, i, plan.query_tile)

        def add_keys(j: Array, total_BQHV: Array) -> Array:
            key, value = (_part(array, 1, j, plan.key_tile) for array in (key_BKHD, value_BKHV))
            bias = _part_of_pairs(plan, bias_HQK, i, j)
            return total_BQHV + _tile(plan, pairs, i, j)(part_BQHD, key, value, bias)

        total: Array = jax.lax.fori_loop(0, _key_tiles(plan, key_BKHD, i), add_keys, zeros)
        return total

    tiles: Array = jax.lax.map(attend_queries, jnp.arange(Q // plan.query_tile))
    return tiles.swapaxes(0, 1).reshape(B, Q, H, -1)


def _tiled_forward(plan: Plan, *arrays: Any) -> tuple[Array, Any]:
    return _tiled(plan, *arrays), arrays


def _add_part(total: Array, part: Array, starts: dict[int, Array]) -> Array:
    """Return ``total`` with ``part`` added where it lies; starts by axis, 0 for the others."""
    at = [starts.get(axis, 0) for axis in range(total.ndim)]
    here = jax.lax.dynamic_slice(total, at, part.shape)
    return jax.lax.dynamic_update_slice(total, here + part.astype(total.dtype), at)


def _tiled_backward(plan: Plan, saved: Any, grad_BQHV: Array) -> Any:
    query_BQHD, key_BKHD, value_BKHV, bias_HQK, pairs = saved
    dtype = accumulator(query_BQHD.dtype)

    def zeros_like(array: Array | None) -> Any:
        return None if array is None else jnp.zeros(array.shape, dtype)

    def go_back(i: Array, totals: tuple[Any, ...]) -> tuple[Any, ...]:
        query, grad = (_part(array, 1, i, plan.query_tile) for array in (query_BQHD, grad_BQHV))

        def go_back_keys(j: Array, totals: tuple[Any, ...]) -> tuple[Any, ...]:
            key, value = (_part(array, 1, j, plan.key_tile) for array in (key_BKHD, value_BKHV))
            bias = _part_of_pairs(plan, bias_HQK, i, j)
            _, derivative = jax.vjp(_tile(plan, pairs, i, j), query, key, value, bias)
            at_query, at_key = i * plan.query_tile, j * plan.key_tile
            starts = {1: at_query}, {1: at_key}, {1: at_key}, {1: at_query, 2: at_key}
            return tuple(
                None if total is None else _add_part(total, part, start)
                for total, part, start in zip(totals, derivative(grad), starts, strict=True)
            )

        sums: tuple[Any, ...] = jax.lax.fori_loop(0, _key_tiles(plan, key_BKHD, i), go_back_keys, totals)
        return sums

    arrays = query_BQHD, key_BKHD, value_BKHV, bias_HQK
    first = tuple(zeros_like(array) for array in arrays)
    totals = jax.lax.fori_loop(0, query_BQHD.shape[1] // plan.query_tile, go_back, first)
    grads = (None if x is None else total.astype(x.dtype) for x, total in zip(arrays, totals, strict=True))
    return *grads, None


_tiled.defvjp(_tiled_forward, _tiled_backward)
