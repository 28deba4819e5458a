"""Summaries of rows: the chosen point, the runs that count, the difference of two rows."""

import pytest
from scipy.stats import ttest_ind_from_stats

from baselines.paper.cells import cells_of
from baselines.paper.results import Estimate, difference, levels_of, mean_of, summarise_rows
from helpers.reproduction import cell, figure, record

FIGURE = figure()
CELLS = cells_of(FIGURE)


def summary_of_softmax(*records):
    (level,) = levels_of(FIGURE, CELLS, {each.digest: each for each in records}, loose=())
    return summarise_rows(FIGURE, CELLS, level)[0]


def softmax(seed, **point):
    return cell(FIGURE, "softmax", seed, **point)


def test_a_row_shows_the_point_that_is_best_in_distribution_whatever_ood_says():
    records = [record(softmax(seed), 0.8, 0.9) for seed in range(3)]
    records += [record(softmax(seed, learning_rate=0.003), 0.9, 0.1) for seed in range(3)]
    summary = summary_of_softmax(*records)
    assert summary.point == {"learning_rate": 0.003, "weight_decay": 0.1, "warmup": 100}
    assert (len(summary.points), len(summary.records)) == (2, 3)
    assert summary.estimate("ood").mean == pytest.approx(0.1)


def test_a_point_with_fewer_seeds_or_one_that_diverged_isnt_chosen_before_another():
    fine = [record(softmax(seed), 0.5, 0.5) for seed in range(2)]
    few = [record(softmax(0, weight_decay=0.03), 0.99, 0.5)]
    lost = [record(softmax(seed, learning_rate=0.003), 0.9, 0.9, diverged=seed == 1) for seed in range(3)]
    for others in (few, lost):
        summary = summary_of_softmax(*fine, *others)
        assert (summary.point, len(summary.points)) == (softmax(0).point, 2)
    assert summary_of_softmax(*lost).point is None
    summary = summary_of_softmax()
    assert (summary.point, summary.records, summary.points) == (None, (), ())
    assert summary.estimate("ood") is summary.training_loss is None


def test_a_mean_has_the_standard_error_of_several_seeds_alone():
    assert mean_of([0.25]) == Estimate(0.25, None, 1)
    found = mean_of([1.0, 2.0, 3.0])
    assert (found.mean, found.error, found.seeds) == (2.0, pytest.approx(1 / 3**0.5), 3)
    assert mean_of([1.0, None]) is None
    assert mean_of([]) is None


@pytest.mark.parametrize("seeds", [(3, 3), (3, 5), (2, 9)])
def test_a_difference_has_the_p_of_welchs_test(seeds):
    n, m = seeds
    found = difference(Estimate(0.8, 0.03, n), Estimate(0.7, 0.04, m))
    spread = 0.03 * n**0.5, 0.04 * m**0.5
    expected = ttest_ind_from_stats(0.8, spread[0], n, 0.7, spread[1], m, equal_var=False).pvalue
    assert (found.value, found.p) == (pytest.approx(0.1), pytest.approx(expected))
    assert difference(Estimate(0.8, None, 1), Estimate(0.7, 0.04, 3)).p is None
