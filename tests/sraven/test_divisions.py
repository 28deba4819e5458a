"""Divisions: which combinations each holds out, and that every rule is as frequent on both sides."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

from helpers import oracle
from helpers.refusals import assert_refused
from sraven import SRAVEN, ConfigurationError, rules
from sraven.divisions import DIVISIONS

SEEDS = st.integers(0, 2**63 - 1)
SETTINGS = {"M": st.integers(2, 6), "seed": SEEDS, "rule_set": st.sampled_from(["paper", "ten"])}


def sides(holdout, **settings):
    """Return the known and the held-out combinations, as sets of tuples."""
    task = SRAVEN(K=8, holdout=holdout, **settings)
    return [set(map(tuple, task.combinations(split).tolist())) for split in ("train", "ood")]


@pytest.mark.parametrize("holdout", DIVISIONS)
@given(**SETTINGS)
def test_every_rule_is_as_frequent_in_training_as_in_what_is_held_out(holdout, M, seed, rule_set):
    task = SRAVEN(M=M, holdout=holdout, seed=seed, rule_set=rule_set)
    for split in ("train", "ood"):
        counts = np.bincount(task.combinations(split).ravel(), minlength=len(task.rules))
        assert counts.min() == counts.max() > 0
    both = np.concatenate([task.combination_indices("train"), task.combination_indices("ood")])
    assert np.array_equal(np.sort(both), task.combination_indices("all"))


@pytest.mark.parametrize("holdout", DIVISIONS)
@given(**SETTINGS)
def test_combinations_are_divided_as_the_oracle_divides_them(holdout, M, seed, rule_set):
    task = SRAVEN(M=M, holdout=holdout, seed=seed, rule_set=rule_set)
    known, held_out = oracle.partition(M, holdout, seed, oracle.RULE_SETS[rule_set])
    assert task.combination_indices("train").tolist() == known
    assert task.combination_indices("ood").tolist() == held_out


# composition.md has the counts: within two blocks of four rules 2 C(7, 4), of four different rules C(8, 4).
@pytest.mark.parametrize(("holdout", "known"), [("pairs", 192), ("blocks", 2 * comb(7, 4)), ("repeats", 70)])
def test_counts_of_the_papers_setting(holdout, known):
    assert list(map(len, sides(holdout, M=4))) == [known, 330 - known]


@given(seed=SEEDS)
def test_pairs_are_a_matching_of_the_rules_none_of_which_is_together_in_training(seed):
    _, held_out = sides("pairs", M=2, seed=seed)
    assert len(held_out) == 4 and {rule for pair in held_out for rule in pair} == set(range(8))
    for combination in sides("pairs", M=4, seed=seed)[1]:
        assert any(pair in held_out for pair in combinations(combination, 2))


@given(seed=SEEDS)
def test_blocks_have_half_of_each_kind_and_are_the_same_at_every_number_of_features(seed):
    known, _ = sides("blocks", M=2, seed=seed)
    block = {rule for combination in known if 0 in combination for rule in combination}
    kinds = {"symbols": {0, 7}, "progression": {1, 2, 3, 4}, "arithmetic": {5, 6}}
    assert [len(block & members) for members in kinds.values()] == [1, 2, 1]
    assert kinds == {
        kind: {number for number, rule in enumerate(rules.RULES) if rule.kind == kind} for kind in kinds
    }
    for combination in sides("blocks", M=4, seed=seed)[0]:
        assert len({rule in block for rule in combination}) == 1


def test_seeds_draw_all_balanced_blocks_and_all_matchings():
    for holdout, expected in (("blocks", 12), ("pairs", 105)):  # 2 * 2 * C(4, 2) / 2; 7 * 5 * 3
        found = {frozenset(sides(holdout, M=2, seed=seed)[0]) for seed in range(1_000)}
        assert len(found) == expected


def test_a_division_names_the_configuration():
    assert SRAVEN(holdout="blocks").config_name == "M4-K8-blocks"
    assert SRAVEN(holdout="pairs").config["holdout"] == "pairs"
    assert SRAVEN(holdout="blocks").splits == ("train", "test", "ood")


def test_what_can_not_be_divided_is_refused(monkeypatch):
    assert_refused("M=1", SRAVEN, M=1, holdout="blocks", error=ConfigurationError)
    assert_refused("up to 8", SRAVEN, M=9, holdout="repeats", error=ConfigurationError)
    assert_refused("pairs, blocks, repeats", SRAVEN, holdout="block", error=ConfigurationError)
    monkeypatch.setitem(rules.RULE_SETS, "nine", rules.RULE_SETS["ten"][:9])
    assert_refused("even number", SRAVEN, holdout="pairs", rule_set="nine", error=ConfigurationError)
