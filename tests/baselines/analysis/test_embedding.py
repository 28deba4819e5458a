"""Pictures of codes and the numbers beside them: planted clusters are found, and no others."""

import numpy as np
import pytest

from baselines.analysis.embedding import NEIGHBOURS, embed, neighbours
from helpers.refusals import assert_refused

LABELS = np.arange(120) % 4


@pytest.fixture(scope="module")
def clusters():
    """Four clusters far apart, in 60 dimensions, 30 points each."""
    rng = np.random.default_rng(0)
    return (np.eye(60)[LABELS] * 20 + rng.normal(size=(120, 60))).astype(np.float32)


def test_clusters_stay_clusters_in_the_plane(clusters):
    found = embed(clusters, seed=3)
    assert found.positions.shape == (120, 2) and (found.chosen == np.arange(120)).all()
    assert neighbours(found.positions, LABELS).score > 0.95
    assert 0.6 < found.trustworthiness <= 1 and found.seed == 3
    again = embed(clusters, seed=3)
    np.testing.assert_array_equal(found.positions, again.positions)


def test_points_are_chosen_at_random_and_in_order():
    codes = np.random.default_rng(0).normal(size=(1_000, 3))
    some, again, other = (embed(codes, seed, points=50).chosen for seed in (1, 1, 2))
    assert len(np.unique(some)) == 50 and (np.diff(some) > 0).all()
    assert (some == again).all() and (some != other).any()


def test_neighbours_in_clusters_have_one_label_and_on_a_line_values_near_theirs(clusters):
    found = neighbours(clusters, LABELS.astype(str))
    assert found.score == 1 and found.p == 1 / 200
    assert abs(found.permuted - 29 / 119) < 0.02 and found.permuted <= found.permuted_most < 0.35
    assert neighbours(clusters, np.random.default_rng(1).integers(4, size=120)).p > 0.05
    line = np.linspace(0, 1, 400)
    found = neighbours(np.stack([line, 0 * line], axis=1), line)
    assert found.score > 0.99 and abs(found.permuted) < 0.05 and found.p == 1 / 200


def test_groups_that_lie_together_are_no_finding_about_their_terms():
    """Each function is a cluster anywhere: neighbours share terms, but only their own function's."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(24), 25)
    codes = rng.normal(size=(24, 8))[groups] + 0.01 * rng.normal(size=(600, 8))
    terms = rng.integers(4, size=24)[groups]
    assert neighbours(codes, terms).score == 1
    apart = neighbours(codes, terms, groups)
    assert apart.score < 0.5 and apart.p > 0.05
    organised = neighbours(np.eye(8)[terms] + codes / 100, terms, groups)
    assert organised.score == 1 and organised.p == 1 / 200


def test_neighbours_are_the_nearest_by_the_definition():
    rng = np.random.default_rng(2)
    points, labels, groups = rng.normal(size=(40, 3)), rng.integers(3, size=40), rng.integers(8, size=40)
    shares = []
    for i in range(40):
        others = [j for j in range(40) if groups[j] != groups[i]]
        nearest = sorted(others, key=lambda j: sum((points[i] - points[j]) ** 2))[:NEIGHBOURS]
        shares += [labels[j] == labels[i] for j in nearest]
    assert neighbours(points, labels, groups).score == pytest.approx(np.mean(shares))
    alike = np.zeros(40, int)
    assert neighbours(points, alike) is neighbours(points, labels, alike) is None


@pytest.mark.parametrize(
    ("codes", "line"),
    [
        (np.ones((50, 3)), "all the same"),
        (np.full((50, 3), np.nan), "aren't finite"),
        (np.ones((9, 3)), r"the shape \(9, 3\); expected \[n, C\] with at least 10"),
        (np.ones(9), r"the shape \(9,\)"),
    ],
)
def test_codes_without_a_picture_are_refused(codes, line):
    assert_refused(line, embed, codes)
