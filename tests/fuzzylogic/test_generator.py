"""The fuzzy-logic generator against its oracle, and what holds for every sequence."""

import re
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import fuzzylogic.identifiability
from fuzzylogic import FuzzyLogic, identify
from fuzzylogic.measure import estimate_ambiguity
from fuzzylogic.record import evaluate_terms
from fuzzylogic.terms import combinations_of, formula, rank_all
from helpers import fuzzy_oracle
from helpers.batches import config
from helpers.refusals import assert_refused
from helpers.uniformity import assert_uniform
from sraven import CapacityError, ConfigurationError

CONFIGURATIONS = [
    {"L": 4, "K": 2, "N": 32, "holdout": 0.7, "unseen_terms": 0.25, "seed": 0},
    {"L": 2, "K": 1, "N": 5, "holdout": 0, "unseen_terms": 0.25, "seed": 3},
    {"L": 3, "K": 3, "N": 7, "holdout": 0.5, "unseen_terms": 0.375, "seed": 1, "query": "fixed_context"},
    {"L": 5, "K": 2, "N": 3, "holdout": 0.9, "unseen_terms": 0, "seed": 2**62, "query": "fixed_query"},
    {"L": 4, "K": 2, "N": 9, "holdout": 0.7, "unseen_terms": 0.25, "unseen": "last", "seed": 0},
    {"L": 1, "K": 2, "N": 2, "holdout": 0, "unseen_terms": 0, "seed": 9},
    {"L": 3, "K": 7, "N": 11, "holdout": 0, "unseen_terms": 0, "seed": 9},
    # Few known combinations, which are drawn 33 times until they have all terms.
    {"L": 4, "K": 2, "N": 2, "holdout": 0.9, "unseen_terms": 0.25, "seed": 3},
]


def assert_equals_oracle(task, split, start, count):
    batch = task.sample(split, start, count)
    for n in range(count):
        points, targets, terms = fuzzy_oracle.sequence(config(task), split, start + n)
        assert batch.inputs[n].tolist() == [[float(x) for x in point] for point in points]
        assert batch.targets[n].tolist() == [float(target) for target in targets]
        assert tuple(batch.terms[n].tolist()) == terms
        assert batch.combination[n] == fuzzy_oracle.colex_number(terms)


@pytest.mark.parametrize("values", CONFIGURATIONS)
def test_sequences_and_combinations_of_splits_equal_the_oracle(values):
    task = FuzzyLogic(**values)
    for split in (*task.splits, "all"):
        assert_equals_oracle(task, split, 0, 3)
        assert_equals_oracle(task, split, 2**40 + 7, 2)
        wanted = sorted(fuzzy_oracle.places(config(task), split), key=fuzzy_oracle.colex_number)
        assert list(map(tuple, task.combinations(split).tolist())) == wanted
        assert task.n_combinations(split) == len(wanted)


def test_large_splits_need_no_list(monkeypatch):
    """The same sequences come from a table of the combinations and without one."""
    import fuzzylogic.task

    task = FuzzyLogic(L=4, K=3, N=5)
    with_table = {split: task.sample(split, 0, 300) for split in (*task.splits, "all")}
    monkeypatch.setattr(fuzzylogic.task, "_TABLE_LIMIT", 0)
    without = FuzzyLogic(L=4, K=3, N=5)
    for split, batch in with_table.items():
        for a, b in zip(batch, without.sample(split, 0, 300), strict=True):
            assert np.array_equal(a, b)


def test_golden_function_worked_by_hand():
    # x1 = 0.25, x2 = 0.75. Terms: 3 is x1 and x2 = min(.25, .75) = .25; 0 is not x1 and not x2 =
    # min(.75, .25) = .25; 2 is not x1 and x2 = min(.75, .75) = .75.
    point = np.array([[[0.25, 0.75]]], np.float32)
    values = [evaluate_terms(point, np.array([terms]))[0, 0] for terms in ([0, 3], [2, 3], [0, 1])]
    assert values == [0.25, 0.75, 0.25]


@given(st.integers(1, 200), st.integers(1, 8), st.data())
def test_numbers_of_combinations_are_a_bijection(n_terms, K, data):
    if not 0 < comb(n_terms, K) < 2**50:
        return
    numbers = np.array(data.draw(st.lists(st.integers(0, comb(n_terms, K) - 1), max_size=20)), np.int64)
    rows = combinations_of(numbers, n_terms, K)
    assert np.array_equal(rank_all(rows, n_terms), numbers)
    assert [fuzzy_oracle.colex_number(row) for row in rows.tolist()] == numbers.tolist()


def test_points_and_combinations_are_uniform():
    task = FuzzyLogic(N=5)
    batch = task.sample("train", 0, 40_000)
    assert_uniform(np.bincount((batch.inputs * 64).astype(int).ravel(), minlength=64))
    for variable in range(4):
        assert_uniform(np.bincount((batch.inputs[:, 3, variable] * 64).astype(int), minlength=64))
    for split, count in {"train": 20, "test": 20, "ood": 46, "ood_terms": 6, "all": 120}.items():
        numbers = task.sample(split, 0, 40_000).combination
        assert_uniform(np.unique(numbers, return_counts=True)[1])
        assert len(np.unique(numbers)) == task.n_combinations(split) == count  # of the specification


@pytest.mark.parametrize("L", [2, 3, 8, 11])
@pytest.mark.parametrize(
    ("name", "word", "value", "split"),
    [
        ("holdout", "least", 1e-12, "ood"),
        ("unseen_terms", "least", 1e-9, "ood_terms"),
        ("unseen_terms", "most", 0.999999, "train"),
    ],
)
def test_shares_that_errors_advise_are_possible(L, name, word, value, split):
    shares = {"holdout": 0, "unseen_terms": 0}
    with pytest.raises(ConfigurationError) as refused:
        FuzzyLogic(L=L, K=2, **{**shares, name: value}).n_combinations(split)
    advised = float(re.search(rf"use at {word} ([0-9.]+)", str(refused.value))[1])
    found = FuzzyLogic(L=L, K=2, **{**shares, name: advised}).n_combinations(split)
    assert 1 <= found <= 1 + comb(2**L, 2) / 1000


@pytest.mark.parametrize(
    ("L", "K", "dtype", "total"), [(16, 2, np.uint16, 2_147_450_880), (8, 4, np.uint8, 174_792_640)]
)
def test_very_many_combinations(L, K, dtype, total):
    task = FuzzyLogic(L=L, K=K, N=3)
    batch = task.sample("ood", 2**41, 100)
    assert batch.terms.dtype == dtype and task.n_combinations("all") == total
    assert [fuzzy_oracle.colex_number(row) for row in batch.terms.tolist()] == batch.combination.tolist()
    assert set(batch.terms.ravel()) <= set(task.partition.seen)
    assert_refused("too many to list", task.combinations, "ood", error=CapacityError)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"L": 0}, "L=0: .* 1 .* 16"),
        ({"K": 9}, "K=9: .* 1 .* 8"),
        ({"N": 1}, "N=1: .* 2 "),
        ({"L": 16, "K": 3}, "int32 can number them"),
        ({"L": 1, "K": 3}, "0 combinations of 2 terms"),
        ({"holdout": 0.01}, "holds out none of the 66 combinations"),
        ({"holdout": 0.95}, "every one of the 12 seen terms must occur in train, which takes 6"),
        ({"unseen_terms": 0.1}, "use at least 0.125, or 0 for no ood_terms split"),
        ({"unseen_terms": 0.99}, "use at most 0.875"),
        ({"unseen": "first"}, "'drawn', 'last'"),
    ],
)
def test_bad_configurations_are_refused(values, message):
    assert_refused(message.replace("(", r"\("), FuzzyLogic, **values)


def test_splits_that_are_switched_off_are_refused():
    task = FuzzyLogic(holdout=0, unseen_terms=0)
    assert task.splits == ("train", "test")
    for split in ("ood", "ood_terms"):
        assert_refused(f"split='{split}': .*train, test, all", task.sample, split, 0, 1)


def test_the_papers_unknown_terms_are_the_last_and_others_keep_their_configuration():
    task = FuzzyLogic(unseen="last")
    assert sorted(set(task.combinations("ood_terms").ravel().tolist())) == [0b1100, 0b1101, 0b1110, 0b1111]
    assert task.combinations("train").max() < 0b1100
    assert "unseen" not in FuzzyLogic().config and task.config_name == "L4-K2-N32-last"


def test_formula_is_readable():
    assert formula(np.array([1, 6]), 3) == "(x₁ ∧ ¬x₂ ∧ ¬x₃) ∨ (¬x₁ ∧ x₂ ∧ x₃)"


# Exact identifiability against an exhaustive search


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


def test_more_than_64_points():
    task = FuzzyLogic(N=200)
    batch = task.sample("ood", 0, 50)
    found = identify(batch.inputs, batch.targets, 2)
    assert (found.agreeing == 1).all()
    assert np.array_equal(found.prediction.astype(np.float32), batch.targets[:, -1])


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
    assert_refused("use more points", identify, batch.inputs, batch.targets, 3, error=CapacityError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": np.zeros((3, 5), np.float32)}, r"inputs .*\[3, 5\]"),
        ({"targets": np.zeros((3, 4), np.float32)}, r"targets .*\[3, 4\].*\[3, 5\]"),
        ({"K": 0}, "K=0"),
        ({"inputs": np.zeros((3, 5, 16), np.float32), "K": 8}, "combinations of 65,536 terms"),
        ({"combinations": [[3, 1]]}, "ascending term ids below 16"),
        ({"combinations": [[3, 16]]}, "ascending term ids below 16"),
    ],
)
def test_bad_input_is_refused(change, message):
    arguments = {"inputs": np.zeros((3, 5, 4), np.float32), "targets": np.zeros((3, 5), np.float32), "K": 2}
    assert_refused(message, identify, **{**arguments, **change})
