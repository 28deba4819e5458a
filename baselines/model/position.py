"""Positions: T5's relative bias (Raffel et al. 2020) and rotary encoding (Su et al. 2024)."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Array = jax.Array

ROTARY_BASE = 10_000.0
"""Rotary encoding: pair i of D / 2 turns by position / base^(2i / D)."""


def relative_buckets(T: int, buckets: int, *, bidirectional: bool) -> NDArray[np.int32]:
    """Return which bucket each pair of positions is in: int32 ``[T, T]``, from 0 to N - 1.

    Of the buckets for one direction, the first half holds one distance each. The rest grow
    logarithmically up to distance N, and the last holds all distances beyond.

    Args:
        T: positions of queries, and of keys.
        buckets: N, at least 2 for each direction.
        bidirectional: True: earlier keys and the query's own share the lower half of the buckets, later
            keys have the upper. False: all are for earlier keys, and later ones share bucket 0 with the
            query's own. That suits causal attention; the paper's published code does it for all.
    """
    one_way = buckets // 2 if bidirectional else buckets
    bucket_of = np.array(_buckets_by_distance(T, one_way, buckets), np.int32)
    distance_TT = np.arange(T)[:, None] - np.arange(T)
    bucket_TT: NDArray[np.int32] = bucket_of[np.maximum(distance_TT, 0)]
    if bidirectional:
        later_TT = distance_TT < 0
        bucket_TT[later_TT] = one_way + bucket_of[-distance_TT[later_TT]]
    return bucket_TT


def _buckets_by_distance(distances: int, buckets: int, max_distance: int) -> list[int]:
    """Return the bucket of each distance from 0 on, in integers, so that no logarithm is rounded.

    Distance n from ``exact = buckets // 2`` on has bucket exact + j, with the greatest j such that
    (max_distance / exact)^(j / wide) <= n / exact, where wide = buckets - exact.
    """
    exact = buckets // 2
    wide = buckets - exact
    found = list(range(min(distances, exact)))
    j = 0
    for n in range(exact, distances):
        while j + 1 < wide and max_distance ** (j + 1) * exact ** (wide - j - 1) <= n**wide:
            j += 1
        found.append(exact + j)
    return found


def rotary_angles(positions_T: Array, width: int) -> Array:
    """Return by which angles rotary encoding turns: float32 ``[T, D / 2]``.

    Args:
        positions_T: integers.
        width: D, of a head's query and key; even.
    """
    rates = ROTARY_BASE ** (-np.arange(0, width, 2, dtype=np.float32) / np.float32(width))
    return positions_T.astype(jnp.float32)[:, None] * rates


def rotate(x_BTHD: Array, angles: Array) -> Array:
    """Turn the pair (x[i], x[i + D / 2]) of each query or key by its position's angle i.

    The scores of turned queries and keys depend on the difference of their positions alone.

    Args:
        x_BTHD: queries or keys.
        angles: see `rotary_angles`.

    Returns:
        an array like ``x_BTHD``, computed in float32 or better.
    """
    dtype = angles.dtype if x_BTHD.dtype.itemsize < angles.dtype.itemsize else x_BTHD.dtype
    first, second = jnp.split(x_BTHD.astype(dtype), 2, axis=-1)
    cos, sin = (wave(angles.astype(dtype))[:, None] for wave in (jnp.cos, jnp.sin))
    turned = jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.astype(x_BTHD.dtype)
