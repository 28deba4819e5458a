"""Exact identifiability against an exhaustive search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fuzzylogic.identifiability
from fuzzylogic import FuzzyLogic, identify
from fuzzylogic.estimate import estimate_ambiguity
from fuzzylogic.record import evaluate_terms
from helpers import fuzzy_oracle
from sraven import CapacityError, ConfigurationError


def exhaustive(inputs, targets, combinations):
    """Number of agreeing combinations, whether they disagree on the query, and their mean, by NumPy."""
    n = len(inputs)
    agreeing, ambiguous, mean = np.zeros(n, int), np.zeros(n, bool), np.full(n, np.nan)
    for s in range(n):
        values = evaluate_terms(np.repeat(inputs[s : s + 1], len(combinations), axis=0), combinations)
        fits = (values[:, :-1] == targets[s, :-1]).all(axis=1)
        agreeing[s] = fits.sum()
        if fits.any():
            query = values[fits, -1].astype(float)
            ambiguous[s], mean[s] = query.min() < query.max(), query.mean()
    return agreeing, ambiguous, mean


def assert_equals_exhaustive(inputs, targets, K, combinations, within=None):
    found = identify(inputs, targets, K, within)
    agreeing, ambiguous, mean = exhaustive(inputs, targets, combinations)
    assert np.array_equal(found.agreeing, agreeing)
    assert np.array_equal(found.ambiguous, ambiguous)
    np.testing.assert_allclose(found.prediction, mean, rtol=1e-12)


@pytest.mark.parametrize(("L", "K"), [(1, 1), (2, 2), (3, 1), (3, 3), (4, 2), (2, 4), (4, 3)])
@pytest.mark.parametrize("N", [2, 3, 5, 16])
def test_equals_exhaustive_search(L, K, N):
    task = FuzzyLogic(L=L, K=K, N=N, holdout=0, unseen_terms=0)
    batch = task.sample("train", 0, 29)
    assert_equals_exhaustive(batch.inputs, batch.targets, K, task.combinations("all"))


@pytest.mark.parametrize("split", ["train", "ood", "ood_terms"])
def test_combinations_of_a_split_alone_are_counted(split):
    task = FuzzyLogic(N=6)
    batch = task.sample("ood", 0, 101)
    within = task.combinations(split)
    assert_equals_exhaustive(batch.inputs, batch.targets, 2, within, within)


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 3))
@settings(max_examples=15)
def test_equals_exhaustive_search_on_coarse_points(seed, N, K):
    """Few different values make ties, and targets that no function reaches."""
    generator = np.random.default_rng(seed)
    inputs = generator.integers(0, 4, (11, N, 3)).astype(np.float32) / 4
    targets = generator.integers(0, 5, (11, N)).astype(np.float32) / 4
    every = FuzzyLogic(L=3, K=K, holdout=0, unseen_terms=0).combinations("all")
    assert_equals_exhaustive(inputs, targets, K, every)


def test_equals_the_exact_oracle():
    task = FuzzyLogic(N=5)
    config = {name: value for name, value in task.config.items() if name not in ("task", "version")}
    batch = task.sample("test", 0, 20)
    found = identify(batch.inputs, batch.targets, 2)
    for n in range(20):
        points, targets, _ = fuzzy_oracle.sequence(config, "test", n)
        predictions = fuzzy_oracle.agreeing(points, targets, fuzzy_oracle.places(config, "all"))
        assert found.agreeing[n] == len(predictions)
        assert found.ambiguous[n] == (len(set(predictions)) > 1)
        assert found.prediction[n] == pytest.approx(float(sum(predictions) / len(predictions)), rel=1e-12)


def test_more_than_64_points():
    task = FuzzyLogic(N=200)
    batch = task.sample("ood", 0, 50)
    found = identify(batch.inputs, batch.targets, 2)
    assert (found.agreeing == 1).all()
    assert np.array_equal(found.prediction.astype(np.float32), batch.targets[:, -1])


def test_the_querys_target_is_not_looked_at():
    batch = FuzzyLogic(N=6).sample("train", 0, 100)
    masked = batch.targets.copy()
    masked[:, -1] = 0
    for a, b in zip(identify(batch.inputs, batch.targets, 2), identify(batch.inputs, masked, 2), strict=True):
        assert np.array_equal(a, b)


def test_any_number_of_threads_finds_the_same():
    batch = FuzzyLogic(N=8).sample("train", 0, 20_000)
    results = [identify(batch.inputs, batch.targets, 2, threads=threads) for threads in (1, 3)]
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def test_share_of_ambiguous_queries_is_that_of_the_specification():
    at_16 = estimate_ambiguity(FuzzyLogic(N=16), "all", "all", 20_000)
    at_32 = estimate_ambiguity(FuzzyLogic(N=32), "all", "all", 20_000)
    assert 0.002 < at_16.ambiguous.value < 0.006
    assert at_32.ambiguous.value < 1e-4


def test_too_many_open_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(fuzzylogic.identifiability, "VISIT_LIMIT", 1_000)
    task = FuzzyLogic(L=6, K=3, N=2, holdout=0, unseen_terms=0)
    batch = task.sample("train", 0, 10)
    with pytest.raises(CapacityError, match="use more points"):
        identify(batch.inputs, batch.targets, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": np.zeros((3, 5), np.float32)}, r"inputs .*\[3, 5\]"),
        ({"inputs": np.zeros((3, 5, 4), int)}, "inputs .*int64"),
        ({"targets": np.zeros((3, 4), np.float32)}, r"targets .*\[3, 4\].*\[3, 5\]"),
        ({"K": 0}, "K=0"),
        ({"inputs": np.zeros((3, 5, 16), np.float32), "K": 8}, "combinations of terms"),
        ({"combinations": [[3, 1]]}, "ascending term ids below 16"),
        ({"combinations": [[3, 16]]}, "ascending term ids below 16"),
    ],
)
def test_bad_input_is_refused(change, message):
    arguments = {"inputs": np.zeros((3, 5, 4), np.float32), "targets": np.zeros((3, 5), np.float32), "K": 2}
    with pytest.raises(ConfigurationError, match=message):
        identify(**{**arguments, **change})
