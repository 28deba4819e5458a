"""Buckets of relative positions worked by hand, and rotary encoding by what defines it."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.position import relative_buckets, rotary_angles, rotate


def test_buckets_by_hand():
    """Eight one way: four of one distance, then bounds 4 · 2^(j/4) = 4, 4.8, 5.7, 6.7.

    Ten both ways, five a direction: two of one distance, then bounds 2 · 5^(j/3) = 2, 3.4, 5.8.
    """
    bucket = relative_buckets(11, 8, bidirectional=False)
    assert bucket.dtype == np.int32 and bucket[10].tolist() == [7, 7, 7, 7, 6, 5, 4, 3, 2, 1, 0]
    assert bucket[4].tolist() == [4, 3, 2, 1] + [0] * 7  # later keys share bucket 0 with the query's own
    bucket = relative_buckets(11, 10, bidirectional=True)
    assert bucket[10].tolist() == [4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 0]
    assert bucket[0].tolist() == [0, 6, 7, 7, 8, 8, 9, 9, 9, 9, 9]
    assert relative_buckets(3, 4, bidirectional=True).tolist() == [[0, 3, 3], [1, 0, 3], [1, 1, 0]]


@pytest.mark.parametrize("buckets", [7, 36, 96])
def test_buckets_are_those_of_T5(buckets):
    """Against T5's own formula, away from the bounds, where its logarithm may be rounded to either side."""
    found = relative_buckets(200, buckets, bidirectional=False)[:, 0]
    exact = buckets // 2
    for n in range(exact, 200):
        place = exact + math.log(n / exact) / math.log(buckets / exact) * (buckets - exact)
        if abs(place - round(place)) > 1e-9:
            assert found[n] == min(int(place), buckets - 1)
    assert (np.diff(found) >= 0).all()


def test_rotation_by_hand():
    """Width 4 turns pair (0, 2) by the position and pair (1, 3) by a hundredth of it."""
    angles = rotary_angles(jnp.array([0, 3, 1003]), 4)
    np.testing.assert_allclose(angles, [[0, 0], [3, 0.03], [1003, 10.03]], rtol=1e-6)
    x = jnp.broadcast_to(jnp.array([1.0, 2.0, 3.0, 4.0]), (1, 2, 1, 4))
    c, s, d, t = math.cos(3), math.sin(3), math.cos(0.03), math.sin(0.03)
    wanted = [[1, 2, 3, 4], [c - 3 * s, 2 * d - 4 * t, 3 * c + s, 4 * d + 2 * t]]
    np.testing.assert_allclose(rotate(x, angles[:2])[0, :, 0], wanted, rtol=1e-6)
    half = rotate(x.astype(jnp.bfloat16), angles[:2])
    assert half.dtype == jnp.bfloat16
    np.testing.assert_allclose(half[0, :, 0].astype(jnp.float32), wanted, rtol=0.02)
