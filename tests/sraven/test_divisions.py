"""Divisions: which combinations each holds out, and that every rule is as frequent on both sides."""

from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from helpers import oracle
from helpers.error_oracle import SIBLING
from helpers.refusals import assert_refused
from sraven import SRAVEN, ConfigurationError, rules
from sraven.divisions import DIVISIONS

SEEDS = st.integers(0, 2**63 - 1)
SETTINGS = {"M": st.integers(2, 6), "seed": SEEDS, "rule_set": st.sampled_from(["paper", "ten"])}
OF_FAMILIES = ("camps", "ring", "scattered", "scattered-ring")


def skip_undivided(holdout, M, rule_set):
    """Leave out settings that a division refuses, and those that take long to draw."""
    assume(M in (3, 4) or not holdout.startswith("scattered"))
    assume(rule_set == "paper" or holdout not in ("camps", "scattered"))


def sides(holdout, **settings):
    """Return the known and the held-out combinations, as sets of tuples."""
    task = SRAVEN(K=8, holdout=holdout, **settings)
    return [set(map(tuple, task.combinations(split).tolist())) for split in ("train", "ood")]


@pytest.mark.parametrize("holdout", DIVISIONS)
@given(**SETTINGS)
def test_every_rule_is_as_frequent_in_training_as_in_what_is_held_out(holdout, M, seed, rule_set):
    skip_undivided(holdout, M, rule_set)
    task = SRAVEN(M=M, holdout=holdout, seed=seed, rule_set=rule_set)
    for split in ("train", "ood"):
        counts = np.bincount(task.combinations(split).ravel(), minlength=len(task.rules))
        assert counts.min() == counts.max() > 0
    both = np.concatenate([task.combination_indices("train"), task.combination_indices("ood")])
    assert np.array_equal(np.sort(both), task.combination_indices("all"))


@pytest.mark.parametrize("holdout", [name for name in DIVISIONS if not name.startswith("scattered")])
@given(**SETTINGS)
def test_combinations_are_divided_as_the_oracle_divides_them(holdout, M, seed, rule_set):
    skip_undivided(holdout, M, rule_set)
    assert_divided_as_the_oracle_does(holdout, M, seed, rule_set)


# The oracle draws slowly, and these are drawn again and again.
@pytest.mark.parametrize(("holdout", "M"), [("scattered", 3), ("scattered-ring", 3), ("scattered", 4)])
@settings(max_examples=5)
@given(seed=SEEDS)
def test_scattered_classes_are_those_of_the_oracle(holdout, M, seed):
    assert_divided_as_the_oracle_does(holdout, M, seed, "paper")


def assert_divided_as_the_oracle_does(holdout, M, seed, rule_set):
    task = SRAVEN(M=M, holdout=holdout, seed=seed, rule_set=rule_set)
    known, held_out = oracle.partition(M, holdout, seed, oracle.RULE_SETS[rule_set])
    assert task.combination_indices("train").tolist() == known
    assert task.combination_indices("ood").tolist() == held_out


# Within two blocks, or camps, of four rules there are 2 C(M + 3, M), of different rules C(8, M). In a ring,
# each of four pairs of neighbours has C(M + 3, M), and each family's M + 1 belong to two of them.
@pytest.mark.parametrize(
    ("holdout", "M", "known"),
    [
        ("pairs", 4, 192),
        ("repeats", 4, comb(8, 4)),
        *((name, 4, 70) for name in ("blocks", "camps", "scattered")),
        *((name, 3, 40) for name in ("blocks", "camps", "scattered")),
        ("camps", 2, 20),
        ("ring", 2, 28),
        *((name, M, known) for name in ("ring", "scattered-ring") for M, known in ((3, 64), (4, 120))),
    ],
)
def test_counts_of_known_combinations(holdout, M, known):
    assert list(map(len, sides(holdout, M=M))) == [known, comb(M + 7, M) - known]


def test_seeds_draw_all_balanced_blocks_and_all_matchings():
    # 2 * 2 * C(4, 2) / 2; 7 * 5 * 3; the family of +1 is beside constant's or addition's; rings of four.
    for holdout, expected in (("blocks", 12), ("pairs", 105), ("camps", 2), ("ring", 3)):
        found = {frozenset(sides(holdout, M=2, seed=seed)[0]) for seed in range(10 * expected)}
        assert len(found) == expected


@pytest.mark.parametrize("holdout", OF_FAMILIES)
@settings(max_examples=20)
@given(M=st.integers(3, 4), seed=SEEDS)
def test_siblings_are_on_one_side_and_a_scattered_division_knows_all_pairs_of_rules(holdout, M, seed):
    known, held_out = sides(holdout, M=M, seed=seed)
    for combination in combinations_with_replacement(range(8), M):
        for n, rule in enumerate(combination):
            exchanged = (*combination[:n], SIBLING[rule], *combination[n + 1 :])
            assert (combination in known) == (tuple(sorted(exchanged)) in known)
    pairs = {pair for combination in known for pair in combinations(combination, 2)}
    knows_all = pairs == set(combinations_with_replacement(range(8), 2))
    assert held_out and knows_all == holdout.startswith("scattered")


def test_what_can_not_be_divided_is_refused(monkeypatch):
    assert_refused("M=1", SRAVEN, M=1, holdout="blocks", error=ConfigurationError)
    assert_refused("up to 8", SRAVEN, M=9, holdout="repeats", error=ConfigurationError)
    assert_refused("pairs, blocks, repeats", SRAVEN, holdout="block", error=ConfigurationError)
    assert_refused("M from 3", SRAVEN, M=2, holdout="scattered", error=ConfigurationError)
    for holdout in ("camps", "scattered"):
        assert_refused("has 5", SRAVEN, M=3, holdout=holdout, rule_set="ten", error=ConfigurationError)
    monkeypatch.setitem(rules.RULE_SETS, "nine", rules.RULE_SETS["ten"][:9])
    assert_refused("2, 2, 2, 2, 1", SRAVEN, holdout="ring", rule_set="nine", error=ConfigurationError)
    assert_refused("even number", SRAVEN, holdout="pairs", rule_set="nine", error=ConfigurationError)
