"""Intervals that resample groups."""

import numpy as np
import pytest

from baselines.analysis.intervals import Interval, interval, resample
from baselines.analysis.probe_scores import count_classes, measure_classes, measure_presence, summarise


def test_intervals_of_a_mean_cover_as_often_as_they_say():
    random, drawn = np.random.default_rng(0), resample(60) / 60
    means = random.normal(size=(400, 60))
    found = [interval(float(each.mean()), drawn @ each, -np.inf, np.inf) for each in means]
    assert 0.9 < np.mean([each.low <= 0 <= each.high for each in found]) < 0.97


def test_a_shift_of_the_samples_does_not_move_the_interval_which_stays_where_numbers_can_be():
    found = interval(0.5, np.linspace(0, 0.2, 1001))
    assert (found.low, found.value, found.high) == pytest.approx((0.405, 0.5, 0.595))
    assert interval(0.95, np.linspace(0, 1, 101)).high == 1.0
    assert interval(-0.95, np.linspace(0, 1, 101), -1, 1).low == -1.0
    nan = float("nan")
    assert interval(nan, np.zeros(3)) == Interval(None)
    assert interval(0.5, np.full(3, nan)) == Interval(0.5)
    assert interval(0.5, np.array([0.5, nan, 0.5])) == Interval(0.5, 0.5, 0.5)


def test_scores_by_hand():
    truth, predicted = np.array([0, 0, 0, 1, 1, 3]), np.array([0, 0, 1, 1, 0, 1])
    counts = count_classes(truth, predicted, np.array([4, 4, 4, 9, 9, 9]), 4)
    assert counts.shape == (2, 4, 4) and counts[0, 0].tolist() == [2, 1, 0, 0]
    values, f1 = measure_classes(counts.sum(axis=0))
    assert values["accuracy"] == 3 / 6
    assert values["balanced_accuracy"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)  # class 2 doesn't occur
    np.testing.assert_allclose(f1, [4 / 6, 2 / 5, np.nan, 0])
    assert values["macro_f1"] == pytest.approx((4 / 6 + 2 / 5 + 0) / 3)


def test_presence_by_hand():
    counts = np.array([[[5, 1], [2, 2]], [[9, 1], [0, 0]]], float)  # the second label is never there
    values, f1 = measure_presence(counts)
    np.testing.assert_allclose(f1, [4 / 7, np.nan])
    assert values["f1"] == pytest.approx(4 / 7)
    assert values["balanced_accuracy"] == pytest.approx((2 / 4 + 5 / 6) / 2)


def test_intervals_resample_combinations_not_rows():
    """Ten times the rows of the same combinations say no more."""
    random = np.random.default_rng(1)
    combination, right = np.arange(12), random.integers(2, size=12)
    widths = []
    for rows in (1, 10):
        truth, predicted = np.zeros(12 * rows, int), np.tile(1 - right, rows)
        counts = count_classes(truth, predicted, np.tile(combination, rows), 2)
        found = summarise(counts, measure_classes, ["a", "b"], 12 * rows, 12).metrics["accuracy"]
        widths.append(found.high - found.low)
    assert widths[0] == pytest.approx(widths[1]) and widths[0] > 0.2
