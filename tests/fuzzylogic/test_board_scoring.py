"""Fuzzy logic's metrics on a board against plain Python, and what the reference predictors score."""

import math
import statistics
from itertools import permutations, product

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic, gaussian_process, ridge, symmetry
from fuzzylogic.metrics import overall
from fuzzylogic.references import OBSERVERS
from helpers import fuzzy_oracle
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, score_predictions, small_board
from sraven import CapacityError
from sraven.board.board import read_board
from sraven.scoring.scores import Run, score_runs

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


def test_sequences_without_variance_count_for_the_other_metrics():
    task = TASKS["terms"]
    batch = task.sample("ood_terms", 0, 50)
    flat = batch._replace(targets=np.full_like(batch.targets, 0.25))
    labels = task.scoring.labels(flat, None)
    found = score_runs(task.scoring, labels, [Run(0, np.full(50, 0.75, np.float32), np.ones(50, bool))])
    assert found.metrics["mse"].mean == 0.25
    undefined = {metric for metric, here in found.metrics.items() if here.mean is None}
    assert undefined == {"r2", "r2_per_sequence", "r2_median", "below_zero"}


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


def test_scores_worked_by_hand():
    """Of two sequences with three targets each, and of two with two; the last one is the query's."""
    scores = overall(np.array([0.5, 0.8]), np.array([[0.0, 0.5, 1.0], [0.2, 0.2, 0.8]]))
    # Errors: 0.25 and 0. Queries 1.0 and 0.8: mean 0.9, SST = 0.01 + 0.01.
    # Variance of the first sequence: (0.25 + 0 + 0.25) / 3 = 1/6, so 1 - 0.25 * 6 = -0.5; the second: 1.
    wanted = {"mse": 0.125, "r2": 1 - 0.25 / 0.02, "r2_per_sequence": 0.25, "below_zero": 0.5}
    assert scores == pytest.approx(wanted, rel=1e-5)
    assert overall(np.array([0.1, 1.0]), np.array([[0.5, 0.5], [0.0, 1.0]]))["r2_per_sequence"] == 1
    assert np.isnan(overall(np.array([np.nan, 1.0]), np.array([[0.2, 0.5], [0.0, 1.0]]))["r2_per_sequence"])


# What composes nothing


TASK = FuzzyLogic(L=3, K=2, N=9, holdout=0.4, seed=1)


def values(terms, points):
    """Return the values of a function at points, by the definition."""
    return np.array([fuzzy_oracle.function(terms, point) for point in points.tolist()])


@pytest.mark.parametrize(
    ("name", "task", "message"),
    [
        ("known-functions", FuzzyLogic(L=6, K=3), "regression takes up to 512"),
        ("gp-symmetric", FuzzyLogic(L=6, K=2, holdout=0.9), "known functions of 6 variables have"),
    ],
)
def test_what_has_too_many_functions_is_refused(name, task, message):
    assert_refused(message, OBSERVERS[name], task, task.sample("test", 0, 2), error=CapacityError)


# Linear observers


@pytest.mark.parametrize("terms", [False, True])
def test_features_are_the_functions_and_terms_of_training(terms):
    batch = TASK.sample("ood", 0, 3)
    features = (ridge.known_terms if terms else ridge.known_functions)(TASK, batch.inputs)
    functions = TASK.combinations("train").tolist()
    known = sorted({(term,) for combination in functions for term in combination})
    for n, points in enumerate(batch.inputs.astype(np.float64)):
        wanted = [values(each, points) for each in functions + known * terms]
        np.testing.assert_allclose(features[n].T, wanted, rtol=0, atol=1e-7)


def refitted(features, targets, weight):
    """Fit and predict the query by solving the normal equations."""
    gram = features[:-1].T @ features[:-1] + weight * np.eye(features.shape[1])
    return features[-1] @ np.linalg.solve(gram, features[:-1].T @ targets)


@pytest.mark.parametrize("points", [5, 30])
def test_predictions_are_those_of_the_weight_that_is_best_when_points_are_left_out(points):
    rng = np.random.default_rng(points)
    features = rng.normal(size=(4, points + 1, 7))
    targets = features[:, :-1] @ rng.normal(size=7) + 0.3 * rng.normal(size=(4, points))
    for sequence, shown, found in zip(features, targets, ridge.predict(features, targets), strict=True):
        errors = []
        for weight in ridge.WEIGHTS:
            left_out = [
                refitted(sequence[[*range(at), *range(at + 1, points), at]], np.delete(shown, at), weight)
                for at in range(points)
            ]
            errors.append(np.square(left_out - shown).sum())
        best = ridge.WEIGHTS[int(np.argmin(errors))]
        np.testing.assert_allclose(found, refitted(sequence, shown, best), rtol=1e-6)


# Gaussian processes


def process(inputs, targets, features, length, weight, noise):
    """Return the marginal likelihood, up to a constant, and the mean at the query, by the textbook."""
    distances = np.linalg.norm(inputs[:, None] - inputs[None], axis=2) * 5**0.5 / length
    covariance = (1 + distances + distances**2 / 3) * np.exp(-distances)
    centred = features - features[:-1].mean(axis=0)
    covariance += weight * centred @ centred.T
    shown = covariance[:-1, :-1] + noise * np.eye(len(targets))
    solved = np.linalg.solve(shown, targets - targets.mean())
    scale = (targets - targets.mean()) @ solved / len(targets)
    likelihood = -len(targets) / 2 * np.log(scale) - np.linalg.slogdet(shown)[1] / 2
    return likelihood, targets.mean() + covariance[-1, :-1] @ solved


@pytest.mark.parametrize("known", [False, True])
def test_predictions_are_those_of_the_process_with_the_greatest_marginal_likelihood(known):
    batch = TASK.sample("ood", 0, 6)
    found = OBSERVERS["gp-known" if known else "gp"](TASK, batch)
    every = ridge.known_terms(TASK, batch.inputs) if known else np.zeros((6, 9, 1))
    weights = gaussian_process.WEIGHTS if known else (0.0,)
    for n, features in enumerate(every):
        inputs, targets = batch.inputs[n].astype(np.float64), batch.targets[n, :-1].astype(np.float64)
        grid = product(gaussian_process.LENGTHS, weights, gaussian_process.NOISES)
        _, wanted = max(process(inputs, targets, features, *point) for point in grid)
        assert found[n] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "split", "unseen", "count", "value"),
    [
        ("gp", "ood", "drawn", 2_000, 0.755),
        ("gp", "ood_terms", "drawn", 2_000, 0.756),
        ("gp", "ood_terms", "last", 2_000, 0.842),
        ("gp-known", "ood", "drawn", 1_000, 0.937),
        ("gp-known", "ood_terms", "drawn", 1_000, 0.744),
    ],
)
def test_processes_score_what_other_code_scores(name, split, unseen, count, value):
    """With another grid, so not to the last digit."""
    task = FuzzyLogic(L=4, K=2, N=32, holdout=0.7, unseen=unseen)
    batch = task.sample(split, 0, count)
    found = OBSERVERS[name](task, batch)
    assert overall(found, batch.targets.astype(float))["r2_per_sequence"] == pytest.approx(value, abs=0.01)


# What is looked up, and what knows the symmetry


def test_a_known_function_is_looked_up_and_of_another_what_is_left_is_smoothed():
    for split in ("test", "ood"):
        batch = TASK.sample(split, 0, 6)
        found = OBSERVERS["look-up"](TASK, batch, 1)
        for n, points in enumerate(batch.inputs.astype(float)):
            targets = batch.targets[n].astype(float)
            known = [values(terms, points) for terms in TASK.combinations("train").tolist()]
            nearest = min(known, key=lambda values: ((values - targets)[:-1] ** 2).sum())
            grid = product(gaussian_process.LENGTHS, gaussian_process.NOISES)
            left = (targets - nearest)[:-1]
            smooth = (process(points, left, np.zeros((9, 1)), length, 0, noise) for length, noise in grid)
            wanted = nearest[-1] + (max(smooth)[1] if left.any() else 0)
            assert found[n] == pytest.approx(wanted, abs=1e-6)
            assert split == "ood" or found[n] == pytest.approx(targets[-1], abs=1e-6) or left.any()


def moved_values(terms, points):
    """Return the values of all images of a function at points: of the function at all images of points."""
    for order, signs in product(permutations(range(3)), product((False, True), repeat=3)):
        moved = points[:, list(order)]
        yield values(terms, np.where(signs, 1 - moved, moved))


@pytest.mark.parametrize("split", ["test", "ood", "ood_terms"])
def test_what_knows_the_symmetry_is_the_best_linear_prediction_over_all_images(split):
    """Least squares over all images of all known functions, with a weight for each point and a constant."""
    batch = TASK.sample(split, 0, 5)
    found = OBSERVERS["gp-symmetric"](TASK, batch, 1)
    assert len(symmetry.images(TASK).terms) <= math.comb(8, 2)  # each image once
    known = TASK.combinations("train").tolist()
    for n, points in enumerate(batch.inputs.astype(float)):
        every = np.array([values for terms in known for values in moved_values(terms, points)])
        shown, query = every[:, :-1] - every[:, :-1].mean(axis=0), every[:, -1] - every[:, -1].mean()
        penalty = symmetry.NOISE * every[:, :-1].var(axis=0).mean() * len(every)
        weights = np.linalg.solve(shown.T @ shown + penalty * np.eye(8), shown.T @ query)
        wanted = every[:, -1].mean() + (batch.targets[n, :-1] - every[:, :-1].mean(axis=0)) @ weights
        assert found[n] == pytest.approx(wanted, abs=1e-7)


def test_points_without_variance_are_answered_by_their_value():
    inputs = np.random.default_rng(0).random((1, 5, 3))
    assert gaussian_process.predict(inputs, np.full((1, 4), 0.25)) == pytest.approx(0.25)


def test_lines_of_the_board_are_what_was_computed_independently():
    """0.838 and 0.918 on `ood`, with other code."""
    lines = {
        line.name: line for line in read_board("fuzzylogic-v1").reference_levels("ood", "r2_per_sequence")
    }
    assert lines["known-functions"].value == pytest.approx(0.838, abs=0.002)
    assert lines["known-terms"].value == pytest.approx(0.918, abs=0.002)
    assert [name for name, line in lines.items() if not line.is_baseline] == ["gp-symmetric"]
    assert [name for name, line in lines.items() if line.is_remarked] == ["gp-symmetric"]


def test_what_knows_the_symmetry_scores_alike_on_all_splits():
    """0.856, 0.855 and 0.856 with other code, without a constant: 0.849 to 0.863 over functions."""
    board = read_board("fuzzylogic-l5-terms-v1")
    for split in board.splits:
        lines = {line.name: line.value for line in board.reference_levels(split)}
        assert lines["gp-symmetric"] == pytest.approx(0.859, abs=0.008)
        assert (lines["look-up"] > 0.999) == (split == "test")


def test_references_predict_what_the_lines_are_of():
    predictors = TASK.references.predictors
    batch = TASK.sample("ood", 0, 40)
    for name, observer in OBSERVERS.items():
        np.testing.assert_allclose(
            predictors[name].predict("ood", 40, 0), observer(TASK, batch, 1), rtol=1e-6
        )
