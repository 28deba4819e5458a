"""Positions: T5's relative bias (Raffel et al. 2020) and rotary encoding (Su et al. 2024)."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError

Array = jax.Array

ROTARY_BASE = 10_000.0
"""Rotary encoding: pair i of D / 2 turns by position / base^(2i / D)."""


def check_buckets(buckets: int, max_distance: int, bidirectional: bool) -> int:
    """Return how many buckets there are for one direction.

    Raises:
        ConfigurationError: (a ValueError) for a number that `relative_buckets` can't have.
    """
    directions = 2 if bidirectional else 1
    check_integer("buckets", buckets, 2 * directions, 1 << 20, "two for each direction at least")
    one_way = buckets // directions
    check_integer("max_distance", max_distance, one_way // 2 + 1, 1 << 30, "more than have a bucket each")
    return one_way


def check_rotary(width: int) -> None:
    """Check that a head's width is even.

    Raises:
        ConfigurationError: (a ValueError) if it isn't.
    """
    if width % 2:
        raise ConfigurationError(f"head width {width}: rotary encoding turns pairs, so it must be even")


def relative_buckets(
    queries: int, keys: int, buckets: int, max_distance: int, *, bidirectional: bool = True
) -> NDArray[np.int32]:
    """Return which bucket each pair of positions is in: int32 ``[Q, K]``, from 0 to N - 1.

    Of the buckets for one direction, the first half holds one distance each. The rest grow
    logarithmically up to ``max_distance``, and the last holds all distances beyond.

    Args:
        queries: Q, positions of queries, from 0.
        keys: K, positions of keys, from 0.
        buckets: N, at least 2 for each direction.
        max_distance: more than N / 2, or N / 4 if bidirectional.
        bidirectional: True: earlier keys and the query's own share the lower half of the buckets, later
            keys have the upper. False: all are for earlier keys, and later ones share bucket 0 with the
            query's own. That suits causal attention; the paper's published code does it for all.

    Raises:
        ConfigurationError: (a ValueError) for a number out of range.
    """
    one_way = check_buckets(buckets, max_distance, bidirectional)
    distance_QK = np.arange(queries)[:, None] - np.arange(keys)[None]
    bucket_of = np.array(_buckets_by_distance(max(queries, keys), one_way, max_distance), np.int32)
    bucket_QK: NDArray[np.int32] = bucket_of[np.maximum(distance_QK, 0)]
    if bidirectional:
        later_QK = distance_QK < 0
        bucket_QK[later_QK] = one_way + bucket_of[-distance_QK[later_QK]]
    return bucket_QK


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


def relative_bias(table_HN: Array, bucket_QK: NDArray[np.int32]) -> Array:
    """Return the bias of each head and pair of positions, ``[H, Q, K]``.

    Args:
        table_HN: learnt, a number for each head and bucket.
        bucket_QK: see `relative_buckets`.
    """
    return table_HN[:, bucket_QK]


def rotary_angles(positions_T: Array, width: int) -> Array:
    """Return by which angles rotary encoding turns: float32 ``[T, D / 2]``.

    Args:
        positions_T: integers.
        width: D, of a head's query and key; even.

    Raises:
        ConfigurationError: (a ValueError) for an odd width.
    """
    check_rotary(width)
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
