"""Distances of tasks, against integrals, drawn rows and loops over all pairings."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from baselines.analysis import distances
from baselines.analysis.distances import functional, multisets, rule_disagreement, term_sets, zero_one
from helpers.oracle import follows
from sraven import SRAVEN
from sraven.rules import RULES


def on_a_grid(terms, points):
    """Evaluate a disjunction of conjunctions at points ``[n, L]``, as the paper writes it."""
    literals = [
        [x if term >> bit & 1 else 1 - x for bit, x in enumerate(points.T)] for term in map(int, terms)
    ]
    return np.max([np.min(each, axis=0) for each in literals], axis=0)


def test_distances_by_hand():
    # x - (1 - x) = 2x - 1 has the mean square 1/3; min(x, y) - min(1 - x, 1 - y) = x + y - 1 has 1/6.
    assert functional(np.array([[0], [1]]), L=1)[0, 1] == pytest.approx(1 / 3, abs=1e-15)
    assert functional(np.array([[0], [3]]), L=2)[0, 1] == pytest.approx(1 / 6, abs=1e-15)
    assert term_sets(np.array([[0, 1], [1, 3], [2, 5]])).tolist() == [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    alike = multisets(np.array([[0, 1, 1, 5], [0, 1, 5, 5], [2, 3, 4, 6]]), zero_one(8))
    assert alike.tolist() == [[0, 1, 4], [1, 0, 4], [4, 4, 0]]


def mean_squares(terms, points):
    values = np.stack([on_a_grid(each, points) for each in terms])
    return np.square(values[:, None] - values[None]).mean(axis=-1)


@pytest.mark.parametrize(("L", "side"), [(2, 300), (3, 48)])
def test_functional_distances_are_integrals(L, side):
    middles = (np.arange(side) + 0.5) / side
    points = np.stack([each.ravel() for each in np.meshgrid(*[middles] * L)], axis=1)
    terms = np.array([(one, other) for other in range(1 << L) for one in range(other)])[:12]
    np.testing.assert_allclose(functional(terms, L), mean_squares(terms, points), atol=1.5 / side**2)


def test_functional_distances_of_many_variables_are_of_random_cases():
    random = np.random.default_rng(0)
    terms, points = random.integers(1 << 7, size=(4, 3)), random.random((100_000, 7))
    np.testing.assert_allclose(functional(terms, 7), mean_squares(terms, points), rtol=0.1)


@pytest.mark.parametrize("rule", range(len(RULES)))
def test_the_law_of_rows_is_that_of_drawn_ones(rule):
    batch = SRAVEN(M=1, K=5, holdout=0, permute=False).sample("train", 0, 40_000)
    drawn = batch.context[batch.rules[:, 0] == rule][:, :3, 0]
    law = distances.row_law(5, rule)
    assert law.sum() == pytest.approx(1)
    counts = np.zeros(law.shape)
    np.add.at(counts, tuple(drawn.T), 1)
    assert ((counts > 0) == (law > 0)).all()
    spread = np.sqrt(law * (1 - law) / len(drawn))
    assert (np.abs(counts / len(drawn) - law) <= 5 * spread).all()


@pytest.mark.parametrize("K", [5, 8])
def test_disagreement_by_counting_all_rows(K):
    symbols, expected = range(K), np.zeros((8, 8))
    third = {  # the symbols that may be third, by rule and the first two
        (rule, x, y): {z for z in symbols if follows(rule, [(x, y, z)], K)}
        for rule, x, y in product(range(8), symbols, symbols)
    }
    for drawing, answering in permutations(range(8), 2):
        both = [(third[drawing, x, y], third[answering, x, y]) for x, y in product(symbols, symbols)]
        agree = [Fraction(len(a & b), max(1, len(a) * len(b))) for a, b in both if a]
        for pair in ((drawing, answering), (answering, drawing)):
            expected[pair] += float(1 - sum(agree) / len(agree)) / 2
    found = rule_disagreement(K)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found == found.T).all() and (found[:5, :5] == zero_one(5)).all()  # to the last bit


def test_multisets_pair_their_rules_off_as_cheaply_as_can_be():
    random = np.random.default_rng(0)
    between = random.random((8, 8))
    between += between.T
    combinations = random.integers(8, size=(6, 3))
    found = multisets(combinations, between)
    for one, mine in enumerate(combinations):
        for other, theirs in enumerate(combinations):
            pairings = (
                sum(between[rule, theirs[j]] for rule, j in zip(mine, order, strict=True))
                for order in permutations(range(3))
            )
            assert found[one, other] == pytest.approx(min(pairings) if one != other else 0)
