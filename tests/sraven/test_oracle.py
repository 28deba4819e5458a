"""The oracle and the chi-square check themselves, against still more literal definitions."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from math import factorial

import pytest

from helpers import oracle
from helpers.uniformity import assert_uniform

PANELS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]


def rows_of_feature(grid, columns, feature):
    """Return the rows of a feature, given the permutations of the columns."""
    return [[grid[panel][p.index(feature)] for panel, p in zip(row, columns, strict=True)] for row in PANELS]


def bayes(context, K, combinations, permute):
    """Return the posterior by Bayes' rule, word for word: no explanations and no n_r!.

    The probability of a whole grid is summed over all combinations and, for each of them, over all
    permutations of the three columns.
    """
    M = len(context[0])
    orders = list(permutations(range(M))) if permute else [tuple(range(M))]
    weights = defaultdict(Fraction)
    for panel in product(range(K), repeat=M):
        grid = [*context, panel]
        for columns in product(orders, repeat=3):
            rows = [rows_of_feature(grid, columns, feature) for feature in range(M)]
            for rules in combinations:
                probability = Fraction(1, len(combinations) * len(orders) ** 3)
                for rule, rows_here in zip(rules, rows, strict=True):
                    if not oracle.follows(rule, rows_here, K):
                        probability = Fraction(0)
                        break
                    probability *= oracle.likelihood(rule, K)
                weights[panel] += probability
    total = sum(weights.values())
    return {panel: weight / total for panel, weight in weights.items() if weight}


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K"), [(1, 3), (1, 7), (2, 3), (2, 5)])
def test_posterior_is_that_of_bayes_rule_over_the_whole_generator(M, K, permute):
    config = {"M": M, "K": K, "holdout": 0, "seed": 1, "answers": "any", "permute": permute}
    combinations = oracle.all_combinations(M)
    for index in range(3):
        context = oracle.instance(config, "all", index).context
        assert oracle.posterior(context, K, combinations, permute) == bayes(context, K, combinations, permute)


def test_posterior_is_that_of_bayes_rule_where_rules_repeat_and_many_are_ruled_out():
    combinations = [(0, 0, 5), (1, 1, 4), (1, 4, 7), (2, 3, 7), (5, 5, 6), (6, 6, 6), (7, 7, 7)]
    config = {"M": 3, "K": 3, "holdout": 0, "seed": 3, "answers": "any", "permute": True}
    several = 0
    for index in (0, 1, 10, 15):
        context = oracle.instance(config, "all", index).context
        expected = bayes(context, 3, combinations, True)
        assert oracle.posterior(context, 3, combinations, True) == expected
        several += len(set(expected.values())) > 1
    assert several >= 2


@pytest.mark.parametrize("K", [3, 4, 5])
def test_probabilities_of_all_grids_of_a_feature_sum_to_one(K):
    rows = list(product(range(K), repeat=3))
    for rule in oracle.RULES:
        fitting = [row for row in rows if oracle.follows(rule, [row], K)]
        grids = sum(oracle.follows(rule, grid, K) for grid in product(fitting, repeat=3))
        assert grids * oracle.likelihood(rule, K) == 1


@pytest.mark.parametrize("M", range(1, 8))
def test_permutations_cut_from_numbers_are_all_permutations_once(M):
    numbers = product(*map(range, oracle.permutation_ranges(M, permute=True)))
    made = Counter(oracle.make_permutation(choice, M) for choice in numbers)
    assert len(made) == factorial(M) and set(made.values()) == {1}


def test_uneven_counts_are_noticed():
    assert_uniform([1000, 1010, 990])
    with pytest.raises(AssertionError, match="chi-square"):
        assert_uniform([1000, 1200, 800])
    with pytest.raises(AssertionError, match="too few"):
        assert_uniform([4, 4, 4])
