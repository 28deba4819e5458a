"""Fuzzy logic's metrics on a board against plain Python, and what the reference predictors score."""

import math
import statistics

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic, score, score_by_combination
from helpers import fuzzy_oracle
from helpers.submissions import FUZZY_BOARD, score_predictions, small_board
from sraven.core.boards.board import read_board
from sraven.core.boards.scoring import Run, score_runs

REFERENCES = ("constant-mean", "nearest-neighbour", "ideal-observer", "known-functions", "known-terms")
TASKS = {
    "small": FuzzyLogic(L=3, K=2, N=7, holdout=0.5, seed=5),
    "terms": FuzzyLogic(L=2, K=1, N=2, holdout=0.0, unseen_terms=0.25, seed=5),
    "fixed query": FuzzyLogic(L=4, K=3, N=16, holdout=0.5, seed=5, query="fixed_query"),
}


# The oracle


def worst(target):
    """Return what a missing prediction counts as: the number in [0, 1] that is farthest off."""
    return 1.0 if target < 0.5 else 0.0


def slow_scores(targets, predictions, answered):
    """Return the metrics on some sequences; None where one isn't defined."""
    errors, relative, queries = [], [], []
    for ys, guess, there in zip(targets, predictions, answered, strict=True):
        query = ys[-1]
        error = ((guess if there else worst(query)) - query) ** 2
        middle = math.fsum(ys) / len(ys)
        variance = math.fsum((y - middle) ** 2 for y in ys) / len(ys)
        errors.append(error)
        queries.append(query)
        if variance > 0:
            relative.append(1 - error / variance)
    middle = math.fsum(queries) / len(queries)
    spread = math.fsum((query - middle) ** 2 for query in queries)
    return {
        "mse": math.fsum(errors) / len(errors),
        "r2": 1 - math.fsum(errors) / spread if spread > 1e-12 else None,
        "r2_per_sequence": math.fsum(relative) / len(relative) if relative else None,
        "r2_median": statistics.median(relative) if relative else None,
        "below_zero": sum(r2 < 0 for r2 in relative) / len(relative) if relative else None,
    }


def mixed_predictions(task, split, count, seed):
    """Return predictions right, close, far out of [0, 1], or missing."""
    random = np.random.default_rng(seed)
    right = task.sample(split, 0, count).targets[:, -1]
    kinds = random.integers(0, 5, count)
    noise = random.normal(0, np.choose(kinds, [0.0, 0.05, 0.3, 3.0, 0.0]))
    predictions = (right + noise).astype(np.float32)
    return np.where(kinds == 4, np.float32(random.random()), predictions), kinds != 4


def approx(value):
    return value if value is None else pytest.approx(value, rel=1e-9, abs=2e-9)


@pytest.mark.parametrize("name", TASKS)
def test_metrics_are_the_oracles(name):
    task, count, split = TASKS[name], 150, "ood_terms" if name == "terms" else "ood"
    batch = task.sample(split, 0, count)
    targets, numbers = batch.targets.astype(float).tolist(), batch.combination.tolist()
    runs = {seed: mixed_predictions(task, split, count, seed) for seed in (0, 3, 4, 8)}
    found = score_predictions(task, split, count, runs.items())
    slow = [slow_scores(targets, guesses.tolist(), answered) for guesses, answered in runs.values()]
    assert (found.instances, found.seeds) == (count, (0, 3, 4, 8))
    assert found.missing == tuple(int((~answered).sum()) for _, answered in runs.values())
    for metric in slow[0]:
        here, values = found.metrics[metric], [metrics[metric] for metrics in slow]
        assert here.by_seed == tuple(approx(value) for value in values)
        assert here.mean == approx(statistics.fmean(values))
        assert here.standard_error == approx(statistics.stdev(values) / 2)
        assert here.interval is None or here.interval[0] <= here.mean <= here.interval[1]
    assert found.metrics["r2_median"].interval is None
    assert set(found.by_combination) == {"mse", "r2", "r2_per_sequence"}
    for metric, apart in found.by_combination.items():
        assert list(apart.combination) == sorted(set(numbers))
        for place, number in enumerate(apart.combination):
            rows = [n for n in range(count) if numbers[n] == number]
            assert apart.instances[place] == len(rows)
            values = [
                slow_scores(
                    [targets[n] for n in rows], [float(guesses[n]) for n in rows], [answered[n] for n in rows]
                )[metric]
                for guesses, answered in runs.values()
            ]
            wanted = None if None in values else statistics.fmean(values)
            assert apart.mean[place] == approx(wanted)


def test_labels_are_the_oracles_functions():
    """From the random stream to the score, with no code of the package: a constant prediction."""
    task = small_board(FUZZY_BOARD).task
    config = {name: value for name, value in task.config.items() if name not in ("task", "version")}
    targets = [[float(y) for y in fuzzy_oracle.sequence(config, "ood", index)[1]] for index in range(40)]
    wanted = slow_scores(targets, [0.5] * 40, [True] * 40)
    found = task.score("ood", np.full(40, 0.5, np.float32)).metrics
    assert {metric: found[metric].mean for metric in wanted} == pytest.approx(wanted, abs=1e-6)


def test_board_and_library_score_the_same():
    board = small_board(FUZZY_BOARD)
    batch = board.sample("test", 0, 211)
    guesses = batch.targets[:, 0]
    found, library = board.score("test", guesses), score(guesses, batch.targets)
    for metric, value in vars(library).items():
        assert found.metrics[metric].mean == pytest.approx(value, abs=1e-8)
    apart = score_by_combination(guesses, batch.targets, batch.combination)
    for metric, here in found.by_combination.items():
        for number, mean in zip(here.combination, here.mean, strict=True):
            wanted = getattr(apart[number], metric)
            assert mean is None if math.isnan(wanted) else mean == pytest.approx(wanted, rel=1e-6, abs=1e-8)


def test_sequences_without_variance_count_for_the_other_metrics():
    task = TASKS["terms"]
    batch = task.sample("ood_terms", 0, 50)
    flat = batch._replace(targets=np.full_like(batch.targets, 0.25))
    labels = task.scoring.labels(flat, None)
    found = score_runs(task.scoring, labels, [Run(0, np.full(50, 0.75, np.float32), np.ones(50, bool))])
    assert found.metrics["mse"].mean == 0.25
    assert [metric for metric, here in found.metrics.items() if here.mean is not None] == ["mse"]


def test_extreme_predictions_have_finite_scores():
    board = small_board(FUZZY_BOARD)
    found = board.score("ood", np.full(157, np.finfo(np.float32).max))
    for each in found.metrics.values():
        assert math.isfinite(each.mean) and all(map(math.isfinite, each.interval or ()))


# References


def test_simple_references_are_what_they_say():
    task = TASKS["small"]
    references, batch = task.references.predictors, task.sample("ood", 0, 60)
    nearest = references["nearest-neighbour"].predict("ood", 60, 0).tolist()
    for points, targets, guess in zip(batch.inputs.tolist(), batch.targets.tolist(), nearest, strict=True):
        *shown, query = points
        distances = [math.dist(point, query) for point in shown]
        assert guess == targets[distances.index(min(distances))]
    mean = references["constant-mean"].predict("ood", 60, 0)
    queries = task.sample("train", 0, 1 << 16).targets[:, -1].tolist()
    assert mean.tolist() == [np.float32(math.fsum(queries) / len(queries))] * 60


@pytest.mark.parametrize("split", ["test", "ood"])
def test_constant_scores_nothing(split):
    """0 by the pooled R²; by that of sequences a little less, as each has its own mean: -0.054."""
    board = read_board("fuzzylogic-v1")
    guesses = board.task.references.predictors["constant-mean"].predict(split, board.splits[split], 0)
    found = board.score(split, guesses).metrics
    low, high = found["r2_per_sequence"].interval
    error = (high - low) / (2 * 1.96)
    assert abs(found["r2_per_sequence"].mean + 0.054) < 4 * error + 0.01
    assert -0.01 < found["r2"].mean < 1e-4


@pytest.mark.parametrize("split", ["test", "ood"])
def test_observers_error_is_the_ceiling(split):
    board = small_board(FUZZY_BOARD)
    guesses = board.task.references.predictors["ideal-observer"].predict(split, board.splits[split], 0)
    found = board.score(split, guesses).metrics
    for metric, ceiling in board.content["ceiling"][split]["not_knowing"].items():
        assert found[metric].mean == pytest.approx(ceiling["value"], abs=1e-4)


def test_observer_beats_the_neighbour_and_that_the_constant():
    board = read_board("fuzzylogic-v1")
    predicted = {name: board.task.references.predictors[name].predict("ood", 400, 0) for name in REFERENCES}
    values = [board.task.score("ood", each).metrics for each in predicted.values()]
    for metric in ("r2", "r2_per_sequence"):
        constant, neighbour, observer, functions, terms = (found[metric].mean for found in values)
        assert constant < neighbour < functions < terms < observer <= 1
    assert values[2]["r2_per_sequence"].mean == pytest.approx(1, abs=1e-6)
