"""Mean codes, cosines and shared heads, of codes whose geometry was planted."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from baselines.analysis.similarity import participation, participation_ratios, sample_rows, similarity

V = np.array([3.0, -1.0, 2.0, 0.5])


def test_opposite_rules_have_cosine_minus_one_and_what_all_share_is_in_the_raw_one_alone():
    found = similarity(np.stack([V, -V, V, -V]), np.array([2, 6, 2, 6]), np.array([0, 0, 1, 1]))
    assert found.labels == [2, 6] and found.combinations == [2, 2] and not found.constant
    for table in (found.cosine, found.centred):
        np.testing.assert_allclose(table, [[1, -1], [-1, 1]])
    shared = 100 * np.ones(4)
    found = similarity(np.stack([shared + V, shared - V]), np.array([0, 1]), np.array([0, 1]))
    assert found.cosine[0, 1] > 0.99
    assert found.centred[0, 1] == pytest.approx(-1)


def test_each_combination_counts_alike_and_constant_codes_are_reported():
    codes = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    found = similarity(codes, np.zeros(10, int), np.array([0] * 9 + [1]))
    assert found.means.tolist() == [[0.5, 0.5]]
    assert np.isnan(found.centred).all()  # one rule is its own mean
    codes = np.ones((6, 3)) + 1e-6 * np.arange(18).reshape(6, 3)
    assert similarity(codes, np.arange(6) % 2, np.arange(6)).constant


def test_random_rows_are_sorted_by_label():
    labels = np.random.default_rng(2).integers(8, size=500)
    rows = sample_rows(labels)
    assert len(set(rows)) == 64 and (np.diff(labels[rows]) >= 0).all()
    assert len(sample_rows(labels[:7])) == 7


def test_participation_by_hand():
    codes = np.array([[0, -3, 0, 0], [1, -1, 1, 1], [0, 0, 0, 0], [2, 1, 0, 0]])
    assert participation_ratios(codes)[[0, 1, 3]].tolist() == [0.25, 1.0, 0.45]
    found = participation(codes, np.array([0, 0, 1, 2]))
    assert found.labels == [0, 1, 2] and found.by_label == [0.625, None, 0.45] and found.heads == 4
    assert found.mean == pytest.approx(1.7 / 3)


@given(arrays(np.float64, (3, 5), elements=st.floats(-10, 10).filter(lambda x: x == 0 or abs(x) > 1e-3)))
def test_participation_lies_between_one_head_and_all(codes):
    ratios = participation_ratios(codes)
    assert (np.isnan(ratios) == (codes == 0).all(axis=1)).all()
    known = ratios[~np.isnan(ratios)]
    assert ((known >= 1 / 5 - 1e-12) & (known <= 1 + 1e-12)).all()
