"""Intervals hold what is true as often as they say: 300 draws of entries whose true scores are known.

Of 300 intervals of 95 %, 276 to 294 have to. All draws are seeded, so the counts are always the same.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from helpers.leaderboard_example import make_entry
from sraven import SRAVEN
from sraven.core.roles import Labels, Metric, ratio
from sraven.leaderboard.comparison import DRAWS, compare_entries, rank_ranges
from sraven.leaderboard.standing import Combinations
from sraven.scoring.composing import BALANCED, measure_composing, measure_parts
from sraven.scoring.scores import score_runs, whole_run

TASK = SRAVEN(M=3, K=8, holdout="camps", seed=0)
SHARED = SRAVEN(M=3, K=8, holdout=0.5, seed=1)
TIMES = 300


def assert_covers(hits):
    assert len(hits) == TIMES and 0.92 * TIMES <= sum(hits) <= 0.98 * TIMES, sum(hits)


def holds(interval, value):
    return interval[0] <= value <= interval[1]


def composing_of(task, score):
    """Return what is kept where ``score(split, rules)`` is the mean of each combination."""
    splits = {}
    for split in ("test", "ood"):
        rows = task.combinations(split)
        means = [float(each) for each in score(split, rows)]
        apart = {"combination": task.combination_indices(split).tolist(), "instances": [100] * len(rows)}
        splits[split] = {"by_combination": {"accuracy": {**apart, "mean": means}}}
    return measure_composing(task, splits, "accuracy", "ood")


def test_known_held_out_and_kept():
    random, true = np.random.default_rng(0), {"test": 0.8, "ood": 0.4}

    def score(split, rows):
        return random.beta(4 * true[split], 4 * (1 - true[split]), len(rows))

    found = [composing_of(TASK, score) for _ in range(TIMES)]
    assert_covers([holds(each.known.interval, 0.8) for each in found])
    assert_covers([holds(each.held_out.interval, 0.4) for each in found])
    assert_covers([holds(each.kept.interval, 0.5) for each in found])
    assert_covers([holds(each.by_new_pairs[0].score.interval, 0.4) for each in found])


def noisy(random):
    """Return scores whose noise depends on the rules, and that fall by 0.2 where held out."""
    easy = np.array([0.3, 0.2, 0.3, 0.1, 0.1, 0.05, 0.05, 0.2])

    def score(split, rows):
        spread = np.where((rows >= 5).any(axis=1), 0.15, 0.03)
        return easy[rows].sum(axis=1) - 0.2 * (split == "ood") + random.normal(0, spread)

    return score


def test_the_effect_of_being_held_out_at_equal_rules():
    random = np.random.default_rng(1)
    found = [composing_of(SHARED, noisy(random)) for _ in range(TIMES)]
    assert_covers([holds(each.at_equal_parts.interval, -0.2) for each in found])


def test_the_effect_is_that_of_least_squares_and_its_error_whites():
    random = np.random.default_rng(2)
    scores = {split: noisy(random)(split, SHARED.combinations(split)) for split in ("test", "ood")}
    found = composing_of(SHARED, lambda split, rows: scores[split]).at_equal_parts
    rows = np.concatenate([SHARED.combinations(split) for split in ("test", "ood")])
    held_out = np.repeat([0.0, 1.0], [len(scores["test"]), len(scores["ood"])])
    X = np.column_stack([*((rows == rule).sum(axis=1) for rule in range(8)), held_out])
    y = np.concatenate([scores["test"], scores["ood"]])
    coefficients, *_ = np.linalg.lstsq(X, y, rcond=None)
    residuals = y - X @ coefficients
    bread = np.linalg.inv(X.T @ X)
    meat = sum(residual**2 * np.outer(row, row) for residual, row in zip(residuals, X, strict=True))
    error = np.sqrt((bread @ meat @ bread)[-1, -1] * len(y) / (len(y) - 9))
    assert found.value == pytest.approx(coefficients[-1], abs=1e-8)
    ends = coefficients[-1] - 1.959964 * error, coefficients[-1] + 1.959964 * error
    assert found.interval == pytest.approx(ends, abs=1e-6)


RULES = ("a", "b", "c", "d")


class Shares:
    """A scoring whose instances are combinations: predictions are shares right of features by rule."""

    metrics: ClassVar = {
        BALANCED: Metric(
            tuple(f"{what}.{rule}" for what in ("right", "features") for rule in RULES),
            lambda *sums: np.mean([ratio(sums[n], sums[n + 4]) for n in range(4)], axis=0),
        )
    }

    @staticmethod
    def labels(count, random):
        features = {f"features.{rule}": 20.0 * random.integers(0, 3, count) for rule in RULES}
        return Labels({"combination": np.arange(count)}, features)

    @staticmethod
    def outcomes(labels, predictions, answered, threads):
        return {
            f"right.{r}": labels.summands[f"features.{r}"] * predictions[:, n] for n, r in enumerate(RULES)
        }


def test_features_at_equal_rules_known_held_out_lost_and_kept():
    random, true = np.random.default_rng(30), {"test": np.array([0.9, 0.8, 0.7, 0.6])}
    true["ood"] = true["test"] - 0.25
    found = []
    for _ in range(TIMES):
        labels = {split: Shares.labels(count, random) for split, count in (("test", 40), ("ood", 80))}
        runs = {
            split: [whole_run(random.beta(6 * p, 6 * (1 - p), (len(labels[split].arrays["combination"]), 4)))]
            for split, p in true.items()
        }
        found.append(measure_parts(Shares(), labels, runs, "ood"))
    assert_covers([holds(each.known.interval, 0.75) for each in found])
    assert_covers([holds(each.held_out.interval, 0.5) for each in found])
    assert_covers([holds(each.lost.interval, 0.25) for each in found])
    assert_covers([holds(each.kept.interval, 2 / 3) for each in found])


def test_a_sample_without_a_rule_is_left_out():
    """Of three combinations one alone has the last rule, and many samples lack it."""
    features = {f"features.{rule}": np.array([20.0, 20.0, 20.0 * (rule != "d")]) for rule in RULES}
    labels = dict.fromkeys(("test", "ood"), Labels({"combination": np.arange(3)}, features))
    labels["test"].summands["features.d"][:] = [20.0, 0.0, 0.0]
    runs = {split: [whole_run(np.full((3, 4), 0.5))] for split in labels}
    found = measure_parts(Shares(), labels, runs, "ood")
    assert found.known.interval == found.held_out.interval == (0.5, 0.5) and found.lost.interval == (0, 0)


def test_scores_over_instances():
    random, hits = np.random.default_rng(4), []
    batch = TASK.sample("ood", 0, 100)
    labels = TASK.scoring.labels(batch, None)
    for _ in range(TIMES):
        wrong = np.where(random.random(100) < 0.3, 1, 0)[:, None].astype(np.uint8)
        run = whole_run((batch.target + wrong) % 8)
        found = score_runs(TASK.scoring, labels, [run], metrics=["accuracy"])
        hits.append(holds(found.metrics["accuracy"].interval, 0.7))
    assert_covers(hits)


def entry_of(name, by_seed, means):
    """Return an entry with its scores by seed, and the means of its combinations."""
    value, error = float(np.mean(by_seed)), float(np.std(by_seed, ddof=1) / np.sqrt(len(by_seed)))
    combinations = Combinations(mean=tuple(map(float, means)), instances=(100,) * len(means))
    return make_entry(name, value, standard_error=error, seeds=len(by_seed), combinations=combinations)


def drawn_entries(random, true, seeds=5, combinations=60):
    """Yield entries with true scores: the same combinations are hard for all, and seeds differ."""
    hard = random.normal(0, 0.15, combinations)
    for name, score in true.items():
        apart = random.normal(0, 0.1, combinations)
        trained = score + random.normal(0, 0.03, seeds)
        means = trained.mean() + hard + apart
        yield entry_of(name, trained + (hard + apart).mean(), means)


@pytest.mark.long
def test_differences_of_entries():
    random, hits = np.random.default_rng(5), []
    for _ in range(TIMES):
        one, other = drawn_entries(random, {"one": 0.6, "other": 0.5})
        [found] = compare_entries(one, [other], higher_is_better=True)
        hits.append(holds(found.interval, 0.1))
    assert_covers(hits)


def test_the_least_p_is_that_of_one_more_draw_than_there_are():
    one, other = (entry_of(name, [value] * 3, [value] * 40) for name, value in (("a", 0.9), ("b", 0.1)))
    [found] = compare_entries(one, [other], higher_is_better=True)
    assert found.p == round(2 / (DRAWS + 1), 6) == 0.0001 and found.is_better


@pytest.mark.parametrize(("higher", "order"), [(True, ["c", "b", "a"]), (False, ["a", "b", "c"])])
def test_ranks_are_in_the_order_of_the_metric(higher, order):
    values = {"a": 0.1, "b": 0.5, "c": 0.9}
    entries = [
        replace(entry_of(name, [values[name]] * 3, [values[name]] * 40), rank=rank + 1)
        for rank, name in enumerate(order)
    ]
    assert rank_ranges(entries, higher_is_better=higher) == [(1, 1), (2, 2), (3, 3)]


def test_without_scores_by_combination_there_is_nothing_to_keep():
    labels = {"test": Shares.labels(4, np.random.default_rng(0))}
    assert measure_parts(Shares(), labels, {"test": []}, "ood") is None
    assert measure_parts(SimpleNamespace(metrics={}), labels, {"test": [], "ood": []}, "ood") is None
