"""Buckets of relative positions worked by hand, and rotary encoding by what defines it."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.position import relative_buckets, rotary_angles, rotate
from helpers.refusals import assert_refused


def test_buckets_by_hand():
    """Eight up to distance 16: four of one distance, then bounds 4 · 2^(j/2) = 4, 5.7, 8, 11.3.

    Ten both ways up to distance 9, five a direction: two of one distance, then bounds 2, 3.3, 5.5.
    """
    by_distance = [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7]
    bucket = relative_buckets(19, 19, 8, 16, bidirectional=False)
    assert bucket.dtype == np.int32 and bucket[18].tolist() == by_distance[::-1]
    assert bucket[4].tolist() == [4, 3, 2, 1] + [0] * 15  # later keys share bucket 0 with the query's own
    bucket = relative_buckets(11, 11, 10, 9)
    assert bucket[10].tolist() == [4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 0]
    assert bucket[0].tolist() == [0, 6, 7, 7, 8, 8, 9, 9, 9, 9, 9]
    assert relative_buckets(3, 5, 4, 3).tolist() == [[0, 3, 3, 3, 3], [1, 0, 3, 3, 3], [1, 1, 0, 3, 3]]


@pytest.mark.parametrize(("buckets", "distance"), [(32, 128), (36, 36), (96, 96), (7, 23)])
def test_buckets_are_those_of_T5(buckets, distance):
    """Against T5's own formula, away from the bounds, where its logarithm may be rounded to either side."""
    found = relative_buckets(200, 1, buckets, distance, bidirectional=False)[:, 0]
    exact = buckets // 2
    for n in range(exact, 200):
        place = exact + math.log(n / exact) / math.log(distance / exact) * (buckets - exact)
        if abs(place - round(place)) > 1e-9:
            assert found[n] == min(int(place), buckets - 1)
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((5, 5, 3, 9), "buckets=3: .* 4 "),
        ((5, 5, 12, 3), "max_distance=3: .* 4 "),
        ((5, 5, 12, 7.5), "max_distance=7.5"),
    ],
)
def test_bucket_errors(values, message):
    assert_refused(message, relative_buckets, *values)


def test_rotation_by_hand():
    """Width 4 turns pair (0, 2) by the position and pair (1, 3) by a hundredth of it."""
    angles = rotary_angles(jnp.array([0, 3]), 4)
    np.testing.assert_allclose(angles, [[0, 0], [3, 0.03]], rtol=1e-6)
    x = jnp.array([1.0, 2.0, 3.0, 4.0])
    turned = rotate(jnp.broadcast_to(x, (1, 2, 1, 4)), angles)[0, :, 0]
    c, s, d, t = math.cos(3), math.sin(3), math.cos(0.03), math.sin(0.03)
    np.testing.assert_allclose(turned[0], x)
    np.testing.assert_allclose(turned[1], [c - 3 * s, 2 * d - 4 * t, 3 * c + s, 4 * d + 2 * t], rtol=1e-6)


def test_scores_of_turned_vectors_depend_on_the_difference_of_positions(float64):
    rng = np.random.default_rng(0)
    query, key = (jnp.asarray(rng.normal(size=(1, 1, 1, 6))) for _ in range(2))

    def score(at_query, at_key):
        turned = [
            rotate(x, rotary_angles(jnp.array([at]), 6))[0, 0, 0]
            for x, at in ((query, at_query), (key, at_key))
        ]
        return turned[0] @ turned[1]

    assert abs(score(7, 3) - score(104, 100)) < 1e-5  # angles are float32
    assert abs(score(7, 3) - score(7, 4)) > 1e-2


def test_rotation_keeps_type_and_length():
    x = jnp.ones((2, 3, 5, 4), jnp.bfloat16)
    turned = rotate(x, rotary_angles(jnp.arange(3), 4))
    assert turned.dtype == jnp.bfloat16
    np.testing.assert_allclose(jnp.square(turned.astype(jnp.float32)).sum(axis=-1), 4, rtol=0.02)
    assert_refused("head width 5: rotary encoding turns pairs", rotary_angles, jnp.arange(3), 5)
