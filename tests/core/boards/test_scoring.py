"""Scores and their bootstrap intervals: what holds whatever is predicted."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, guesses, small_board, truth
from sraven.core.boards.bootstrap import LEVEL, SAMPLES, bootstrap_sums
from sraven.core.boards.scoring import Run, score_runs
from sraven.core.tasks.task import Labels, Metric

SMALL = (SRAVEN_BOARD, FUZZY_BOARD)


def resampled(*arguments, **options):
    """Return the sums over all samples at once."""
    parts = list(bootstrap_sums(*arguments, **options))
    return tuple(np.concatenate([part[place] for part in parts]) for place in range(2))


def counts_of(n, samples=SAMPLES, **options):
    """Return how often each sample draws each of n instances."""
    total, by_group = resampled(np.eye(n), np.zeros(n, np.int64), 1, n, samples=samples, **options)
    assert np.array_equal(by_group[:, 0], total)
    return total


# Bootstrap samples


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 11])
def test_samples_are_cut_from_the_published_generator(n):
    """Sample s is attempt s of the stream's draws; each 32-bit word gives one instance."""
    key = oracle.derive_key(stream="bootstrap", instances=n)
    blocks = -(-n // 4)
    counts = counts_of(n, samples=70)
    for sample in (0, 1, 63, 64, 69):
        words = np.array([oracle.philox4x32_10((block, 0, 0, sample), key) for block in range(blocks)])
        numbers = [int(word) for word in (*words[:, :2].flat, *words[:, 2:].flat)]
        drawn = [number * n // 2**32 for number in numbers[:n]]
        assert counts[sample].tolist() == [drawn.count(instance) for instance in range(n)]


def test_counts_vary_as_those_of_independent_draws():
    """A count is binomial(n, 1/n): variance 1 - 1/n, and two of them have covariance -1/n."""
    n = 40
    counts = counts_of(n)
    assert counts.shape == (SAMPLES, n) and (counts.sum(axis=1) == n).all() and counts.min() >= 0
    spread = counts - 1
    assert (spread**2).mean() == pytest.approx(1 - 1 / n, rel=0.03)
    assert (spread[:, :-1] * spread[:, 1:]).mean() == pytest.approx(-1 / n, abs=4 / sqrt(SAMPLES * n))
    assert (spread[:-1] * spread[1:]).mean() == pytest.approx(0, abs=4 / sqrt(SAMPLES * n))


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_samples_do_not_depend_on_threads(threads):
    assert np.array_equal(counts_of(97, threads=1), counts_of(97, threads=threads))


@given(st.integers(0, 2**32 - 1), st.integers(1, 150), st.integers(1, 6))
@settings(max_examples=30)
def test_whole_numbers_are_summed_exactly_and_others_beside_them(seed, n, n_groups):
    """Beside integers of Python, which know no rounding: whole numbers, small to as large as can be."""
    random = np.random.default_rng(seed)
    most = [1, 1, 4, 1, 300, 2**20, 2**40, (2**53 - 1) // n, 1]
    whole = np.stack([random.integers(0, high, n, endpoint=True) for high in most], axis=1)
    columns = np.insert(whole.astype(float), [1, 5], -random.random((n, 2)), axis=1)
    groups, grouped = random.integers(0, n_groups, n), 7
    order = np.argsort(groups, kind="stable")
    total, by_group = resampled(columns, groups, n_groups, grouped, samples=70, threads=2)
    counts = counts_of(n, samples=70).astype(int)
    exact = counts.astype(object) @ whole[order].astype(object)
    kept = [place for place in range(columns.shape[1]) if place not in (1, 6)]
    assert (total[:, kept] == exact).all()
    assert total == pytest.approx(counts @ columns[order], rel=1e-12)
    for group in range(n_groups):
        members = groups[order] == group
        assert by_group[:, group] == pytest.approx(counts[:, members] @ columns[order][members, :grouped])
        exact = counts[:, members].astype(object) @ whole[order][members].astype(object)
        assert (by_group[:, group][:, [0, 2, 3, 4, 5]] == exact[:, :5]).all()


def test_samples_that_are_kept_are_those_that_are_drawn(monkeypatch):
    """Beyond some size nothing is kept, and what is drawn is the same."""
    kept = counts_of(23)
    monkeypatch.setattr("sraven.core.boards.bootstrap._KEPT", 22)
    assert np.array_equal(counts_of(23), kept)


# Scores of made-up outcomes


class Shares:
    """A task's scoring that takes each prediction for its own score; 2 stands for none."""

    by_combination = ("share", "of_some")

    @property
    def metrics(self):
        def ratio(part, whole):
            return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)

        return {"share": Metric(("right", "instances"), ratio), "of_some": Metric(("right", "some"), ratio)}

    def outcomes(self, labels, predictions, answered, threads):
        return {"right": (predictions == 1) & answered, "some": (predictions != 2) & answered}


def made_up(columns, combination=None):
    n = len(columns[0])
    labels = Labels(
        {"combination": np.zeros(n, int) if combination is None else np.asarray(combination)},
        {"instances": np.ones(n)},
    )
    runs = [Run(seed, np.asarray(column), np.ones(n, bool)) for seed, column in enumerate(columns)]
    return score_runs(Shares(), labels, runs)


def test_mean_and_error_are_over_seeds():
    n = 10
    columns = [(np.arange(n) < right).astype(int) for right in (3, 6, 6)]
    score = made_up(columns).metrics["share"]
    assert score.by_seed == (0.3, 0.6, 0.6)
    assert score.mean == 0.5
    assert score.standard_error == pytest.approx(sqrt((0.04 + 0.01 + 0.01) / 2 / 3), abs=1e-9)


def test_score_without_denominator_is_none():
    scores = made_up([[1, 0, 2, 2], [1, 1, 2, 2]], [0, 0, 7, 7])
    assert scores.metrics["of_some"].mean == 0.75
    apart = scores.by_combination["of_some"]
    assert (apart.combination, apart.instances) == ((0, 7), (2, 2))
    assert (apart.mean, apart.low[1], apart.high[1]) == ((0.75, None), None, None)
    nothing = made_up([[2, 2, 2]]).metrics["of_some"]
    assert (nothing.mean, nothing.interval, nothing.by_seed) == (None, None, (None,))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.93])
def test_interval_of_a_share_is_that_of_theory(share):
    n = 6_000
    score = made_up([(np.arange(n) < share * n).astype(int)]).metrics["share"]
    low, high = score.interval
    width = 2 * 1.959964 * sqrt(share * (1 - share) / n)
    assert low < score.mean < high
    assert high - low == pytest.approx(width, rel=0.12)
    assert (low + high) / 2 == pytest.approx(share, abs=width / 10)


def test_interval_is_that_of_the_mean_over_seeds():
    """Seeds that are right on other instances average out; equal ones don't."""
    n = 10_000
    half = np.arange(n) % 2
    alike, apart = made_up([half, half]), made_up([half, 1 - half])
    assert apart.metrics["share"].interval == (0.5, 0.5)
    assert alike.metrics["share"].interval == made_up([half]).metrics["share"].interval
    low, high = alike.metrics["share"].interval
    assert high - low == pytest.approx(2 * 1.959964 * 0.5 / sqrt(n), rel=0.12)


def test_interval_holds_the_stated_share_of_the_samples():
    n = 300
    right = (np.arange(n) % 3 == 0).astype(int)
    low, high = made_up([right]).metrics["share"].interval
    samples = resampled(right[:, None].astype(float), np.zeros(n, np.int64), 1, 0)[0][:, 0] / n
    inside = ((samples >= low - 1e-9) & (samples <= high + 1e-9)).mean()
    assert LEVEL == 0.95 and inside >= 0.95
    strictly = ((samples > low + 1e-9) & (samples < high - 1e-9)).mean()
    assert strictly <= 0.95


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_whole_is_the_weighted_mean_of_the_parts(rows, random):
    values, groups = zip(*rows, strict=True)
    scores = made_up([values, values[::-1]], groups)
    apart = scores.by_combination["share"]
    assert sum(apart.instances) == scores.instances == len(rows)
    weighted = sum(n * mean for n, mean in zip(apart.instances, apart.mean, strict=True)) / len(rows)
    assert weighted == pytest.approx(scores.metrics["share"].mean, abs=1e-8)
    for mean, low, high in zip(apart.mean, apart.low, apart.high, strict=True):
        assert 0 <= low <= high <= 1 and 0 <= mean <= 1
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = made_up([np.array(values)[order], np.array(values[::-1])[order]], np.array(groups)[order])
    for name, score in scores.metrics.items():
        other = shuffled.metrics[name]
        assert replace(score, interval=None) == replace(other, interval=None)
    assert shuffled.by_combination["share"].mean == apart.mean


# Scores of the small boards


def score(board, split, arrays, answered=None, **options):
    answered = [np.ones(len(array), bool) for array in arrays] if answered is None else answered
    runs = [Run(seed, *run) for seed, run in enumerate(zip(arrays, answered, strict=True))]
    return score_runs(board.task.scoring, board.labels(split), runs, **options)


@pytest.mark.parametrize("name", SMALL)
def test_scores_are_the_same_for_any_threads(name):
    board = small_board(name)
    arrays = [guesses(board, "test", seed) for seed in range(2)]
    assert score(board, "test", arrays, threads=1) == score(board, "test", arrays, threads=3)


@pytest.mark.parametrize("name", SMALL)
def test_scores_are_the_same_in_any_company(name):
    board = small_board(name)
    arrays = [guesses(board, "test", seed) for seed in range(3)]
    together = score(board, "test", arrays)
    for seed, array in enumerate(arrays):
        alone = board.score("test", array)
        for metric, found in alone.metrics.items():
            assert found.mean == together.metrics[metric].by_seed[seed]


@pytest.mark.parametrize("name", SMALL)
def test_perfect_predictions_score_one(name):
    board = small_board(name)
    for split, size in board.splits.items():
        scores = board.score(split, truth(board, split))
        assert scores.instances == size and scores.missing == (0,)
        for metric, found in scores.metrics.items():
            if metric == "valid_alternatives":  # of none that are wrong
                assert found.mean is None
            else:
                perfect = 0 if metric in ("mse", "below_zero") else 1
                interval = None if metric == "r2_median" else (perfect, perfect)
                assert (found.mean, found.interval) == (perfect, interval), metric


@pytest.mark.parametrize("name", SMALL)
def test_no_prediction_at_all_has_a_score(name):
    board = small_board(name)
    array = truth(board, "ood")
    scores = score(board, "ood", [array], [np.zeros(len(array), bool)])
    assert scores.missing == (len(array),)
    if name == SRAVEN_BOARD:
        assert {found.mean for found in scores.metrics.values()} == {0}
    else:
        assert scores.metrics["mse"].mean > 0.25 and scores.metrics["r2"].mean < 0


def test_wrong_answers_never_help():
    """An answer that is missing may as well be wrong; a right one that becomes wrong costs 1 / n."""
    board = small_board(SRAVEN_BOARD)
    right = truth(board, "ood")
    n = len(right)
    wrong = ((right.astype(int) + 1) % 5).astype(np.uint8)

    @settings(max_examples=8)
    @given(st.lists(st.sampled_from("rwm"), min_size=n, max_size=n), st.integers(0, n - 1))
    def check(kinds, place):
        def accuracy(kinds):
            chosen = np.array(kinds)
            array = np.where((chosen == "r")[:, None], right, wrong)
            return score(board, "ood", [array], [chosen != "m"]).metrics["accuracy"].mean

        before = accuracy(kinds)
        after = accuracy([*kinds[:place], "w", *kinds[place + 1 :]])
        lost = kinds[place] == "r"
        assert before == pytest.approx(kinds.count("r") / n, abs=1e-9)
        assert after == pytest.approx(before - lost / n, abs=2e-9)

    check()
