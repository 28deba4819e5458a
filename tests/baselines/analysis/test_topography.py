"""Topographic similarity of codes whose geometry was planted, and its p-value against a loop."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from baselines.analysis.distances import rule_disagreement, zero_one
from baselines.analysis.topography import code_distances, topographic_similarity, topography


def euclidean(points):
    return cdist(points, points)


def test_an_isometric_code_has_topography_one_and_the_least_p():
    random = np.random.default_rng(0)
    points = random.normal(size=(8, 3))
    rotation = np.linalg.qr(random.normal(size=(5, 5)))[0][:3]
    tasks = np.repeat(np.arange(8), 4)
    codes = (points @ rotation + 0.7)[tasks]
    found = topography(codes, tasks, {"planted": euclidean(points)})["planted"]["euclidean"]
    assert found.correlation == pytest.approx(1, abs=1e-12)
    assert found.exact and found.permutations == factorial(8)
    assert found.p == 1 / factorial(8)


def test_correlation_and_p_against_a_loop():
    random = np.random.default_rng(2)
    tasks, codes = (euclidean(random.normal(size=(5, 3))) for _ in range(2))
    upper = np.triu_indices(5, 1)
    found = topographic_similarity(tasks, codes)
    observed = spearmanr(tasks[upper], codes[upper]).statistic
    assert found.correlation == pytest.approx(observed)
    every = [
        spearmanr(tasks[upper], codes[np.ix_(order, order)][upper]).statistic
        for order in permutations(range(5))
    ]
    assert found.p == sum(each >= observed - 1e-9 for each in every) / 120


def test_many_tasks_are_permuted_at_random_and_the_same_each_time():
    random = np.random.default_rng(3)
    points = random.normal(size=(30, 4))
    distances = euclidean(points)
    near = topographic_similarity(distances, euclidean(points + 0.3 * random.normal(size=points.shape)))
    assert near.p == 1 / 2000 and not near.exact and near.permutations == 2000
    others = euclidean(random.normal(size=points.shape))
    far = topographic_similarity(distances, others)
    assert 0.01 < far.p <= 1 and far == topographic_similarity(distances, others)


def test_symmetries_of_the_tasks_keep_p_from_the_least():
    """Four progressions, and addition and subtraction, can change places without a difference."""
    distances = rule_disagreement(8)
    found = topographic_similarity(distances, distances)
    assert found.correlation == pytest.approx(1)
    assert found.p == factorial(4) * 2 / factorial(8)


@pytest.mark.parametrize(
    ("tasks", "codes", "note"),
    [
        (zero_one(8), euclidean(np.arange(8.0)[:, None] ** 2), "all distances of tasks are alike"),
        (euclidean(np.arange(4.0)[:, None]), zero_one(4), "all distances of codes are alike"),
        (zero_one(2), zero_one(2), "2 tasks: three make the first correlation"),
        (zero_one(3), np.full((3, 3), np.nan), "a mean code is zero, and has no direction"),
    ],
)
def test_what_has_no_correlation_says_why(tasks, codes, note):
    found = topographic_similarity(tasks, codes)
    assert (found.correlation, found.p, found.note) == (None, None, note)


def test_code_distances_by_hand_and_none_of_constant_codes():
    codes = np.ones((12, 4)) + 1e-6 * np.random.default_rng(4).normal(size=(12, 4))
    found = topography(codes, np.arange(12) % 4, {"equal": zero_one(4)})
    assert {each.note for each in found["equal"].values()} == {"constant codes"}
    found = code_distances(np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]))
    np.testing.assert_allclose(found["cosine"], [[0, 1, 2], [1, 0, 1], [2, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(found["euclidean"][0], [0, 5**0.5, 4])
