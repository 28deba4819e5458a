"""Scores and their bootstrap intervals: what holds whatever is predicted."""

import json
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from helpers import oracle
from helpers.checkout import REPOSITORY
from helpers.evidence_example import make_evidence
from sraven.board.board import read_board
from sraven.core.roles import Labels, Metric
from sraven.leaderboard.entries import entry_of
from sraven.scoring.bootstrap import SAMPLES, bootstrap_sums
from sraven.scoring.mistakes import Share, Tally, diagnose_runs
from sraven.scoring.scores import Run, interval_over_combinations, score_runs


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
    monkeypatch.setattr("sraven.scoring.bootstrap._KEPT", 22)
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


def test_score_without_denominator_is_none():
    scores = made_up([[1, 0, 2, 2], [1, 1, 2, 2]], [0, 0, 7, 7])
    assert scores.metrics["of_some"].mean == 0.75
    apart = scores.by_combination["of_some"]
    assert (apart.combination, apart.instances) == ((0, 7), (2, 2))
    assert (apart.mean, apart.low[1], apart.high[1]) == ((0.75, None), None, None)
    nothing = made_up([[2, 2, 2]]).metrics["of_some"]
    assert (nothing.mean, nothing.interval, nothing.by_seed) == (None, None, (None,))


def test_interval_is_that_of_the_mean_over_seeds():
    """Seeds that are right on other instances average out; equal ones don't."""
    n = 10_000
    half = np.arange(n) % 2
    alike, apart = made_up([half, half]), made_up([half, 1 - half])
    assert apart.metrics["share"].interval == (0.5, 0.5)
    assert alike.metrics["share"].interval == made_up([half]).metrics["share"].interval
    low, high = alike.metrics["share"].interval
    assert high - low == pytest.approx(2 * 1.959964 * 0.5 / sqrt(n), rel=0.12)


# Tallies of sorted errors over seeds


COUNTS = {0: [[2, 1, 1], [0, 0, 0]], 5: [[1, 1, 0], [0, 3, 0]]}


class Fixed:
    """A diagnosis that gives each seed its tally: the seed is what is predicted."""

    kinds = {"a": "first", "b": "second"}  # noqa: RUF012 -- read only

    def tally(self, labels, predictions, answered, threads):
        counts = np.array(COUNTS[int(predictions[0])])
        return {
            "overall": Tally("part", "things", ("x", "y"), ("a", "b", "missing"), np.array([8, 4]), counts)
        }


def runs_of(*seeds):
    return [Run(seed, np.full(12, seed), np.ones(12, bool)) for seed in seeds]


def test_shares_are_means_over_seeds_with_their_standard_errors():
    found = diagnose_runs(Fixed(), Labels({}, {}), runs_of(0, 5))
    assert (found.instances, found.seeds) == (12, (0, 5))
    table = found.tables["overall"]
    assert (table.heading, table.unit, [row.name for row in table.rows]) == ("part", "things", ["x", "y"])
    x, y = table.rows
    assert found.overall == x and (x.total, y.total) == (8, 4)
    # 4 of 8 and 2 of 8; of them 2 of 4 and 1 of 2, 1 of 4 and 1 of 2, 1 of 4 and 0 of 2
    assert x.wrong == Share((4, 2), 0.375, 0.125)
    assert x.of_wrong == {
        "a": Share((2, 1), 0.5, 0.0),
        "b": Share((1, 1), 0.375, 0.125),
        "missing": Share((1, 0), 0.125, 0.125),
    }
    assert y.wrong == Share((0, 3), 0.375, 0.375)
    assert y.of_wrong["b"] == Share((0, 3), None, None)  # the first seed has nothing to share
    assert diagnose_runs(Fixed(), Labels({}, {}), runs_of(0)).overall.wrong == Share((4,), 0.5, None)


# Intervals over combinations, since instances of one fail together


FUZZY = REPOSITORY / "docs" / "leaderboard" / "submissions" / "fuzzylogic-v1"


def apart(means, instances):
    return {"by_combination": {"accuracy": {"mean": means, "instances": instances}}}


@pytest.mark.parametrize(
    ("entry", "ends", "over_instances"),
    [
        ("20261122-softmax-6-400-000-instances", (0.503, 0.643), (0.558, 0.596)),
        ("20261122-hyla-6-400-000-instances", (0.835, 0.877), (0.849, 0.865)),
    ],
)
def test_intervals_of_filed_entries_are_those_of_other_code(entry, ends, over_instances):
    """The figures were computed apart, with other draws: they agree to what 1,000 samples tell."""
    found = json.loads((FUZZY / entry / "scores.json").read_text())["splits"]["ood"]
    assert interval_over_combinations(found, "r2_per_sequence") == pytest.approx(ends, abs=0.005)
    assert found["metrics"]["r2_per_sequence"]["interval"] == pytest.approx(over_instances, abs=0.003)


def test_one_combination_or_alike_ones_have_no_spread():
    assert interval_over_combinations(apart([0.75], [9]), "accuracy") == (0.75, 0.75)
    assert interval_over_combinations(apart([0.5, 0.5], [9, 1]), "accuracy") == (0.5, 0.5)


@pytest.mark.parametrize("scores", [{}, apart([0.5, None], [9, 1]), {"by_combination": {}}])
def test_what_is_not_known_by_combination_has_none(scores):
    assert interval_over_combinations(scores, "accuracy") is None


def test_entry_shows_it_where_there_is_one():
    evidence = make_evidence(scores={"ood": {"accuracy": [0.5] * 3}})
    plain = entry_of("sraven-v1/20261121-a", evidence)
    board, twins = read_board("sraven-v1"), read_board("sraven-twins-v1")
    assert plain.shown_interval == plain.interval == (0.48, 0.52)
    assert (plain.resampled(board), plain.resampled(twins)) == ("instances", "sets")
    evidence.scores["splits"]["ood"].update(apart([0.25, 0.75], [9, 9]))
    entry = entry_of("sraven-v1/20261121-a", evidence)
    assert entry.shown_interval == (0.25, 0.75) and entry.interval == plain.interval
    assert entry.resampled(board) == "combinations"
