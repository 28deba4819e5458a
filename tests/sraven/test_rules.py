"""Rules are one object each, and sets of them: one that contradicts itself generates nothing."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np
import pytest

from helpers import oracle
from helpers.refusals import assert_refused
from sraven import SRAVEN, CapacityError, count_answers
from sraven.counting import count
from sraven.data.write import write_dataset
from sraven.rules import (
    DISTRIBUTE_THREE,
    RULE_SETS,
    RULES,
    Rule,
    check_rules,
    row_table,
    rules_of,
)
from sraven.show import make_puzzle, to_json

TEN = rules_of("ten")
DOUBLING = Rule(
    "doubling",
    "x, y, 2x+y",
    outcomes=lambda K: K**6,
    fits=lambda x, y, z, K: ((2 * x + y - z) % K == 0).all(axis=0),
    draw=lambda x, y, K: (x, y, (2 * x + y) % K),
)


SETS = [(name, number) for name, numbers in oracle.RULE_SETS.items() for number in numbers if name != "paper"]
"""Sets of rules, each of which begins with the paper's, and the numbers of their rules."""


@pytest.mark.parametrize("K", [3, 5, 8])
@pytest.mark.parametrize(("rule_set", "number"), SETS)
def test_a_rule_says_what_the_oracle_says(rule_set, number, K):
    rules = rules_of(rule_set)
    rule = rules[number]
    rows = np.array(list(product(range(K), repeat=3)))
    thrice = [np.stack([rows[:, place]] * 3) for place in range(3)]
    expected = [oracle.follows(number, [row] * 3, K) for row in rows.tolist()]
    assert rule.fits(*thrice, K).tolist() == expected
    drawn = {tuple(row) for row in (row_table(K, rules)[number][:, None] >> [0, 8, 16] & 255).tolist()}
    if number != DISTRIBUTE_THREE:
        assert drawn == {tuple(row) for row, fits in zip(rows.tolist(), expected, strict=True) if fits}
    assert Fraction(1, rule.outcomes(K)) == oracle.likelihood(number, K)


@pytest.mark.parametrize(("rule_set", "number"), SETS)
def test_rows_of_a_feature_fit_together_or_not_as_the_oracle_says(rule_set, number):
    random = np.random.default_rng(number)
    features = random.integers(0, 3, (3, 3, 4_000))  # [row, column, feature]
    followed = rules_of(rule_set)[number].fits(*features.swapaxes(0, 1), 3)
    expected = [oracle.follows(number, rows, 3) for rows in features.transpose(2, 0, 1).tolist()]
    assert followed.tolist() == expected and 0 < followed.sum() < 400


@pytest.mark.parametrize("rules", [RULES, TEN])
@pytest.mark.parametrize("K", [3, 8, 256])
def test_counts_are_those_of_the_formulas(K, rules):
    outcomes = 5 * K**3 + (len(rules) - 6) * K**6 + comb(K, 3) * factorial(3) ** 3
    for M in (1, 2, 4):
        found = count(M, K, rules)
        assert found.multisets == comb(len(rules) + M - 1, M)
        assert found.tasks == factorial(M) ** 2 * len(rules) ** M
        assert found.instances == factorial(M) ** 2 * outcomes**M


@pytest.mark.parametrize("name", ["paper", "ten"])
def test_instances_of_one_feature_are_as_many_as_the_oracle_finds(name):
    grids = product(product(range(3), repeat=3), repeat=3)
    found = sum(oracle.follows(rule, grid, 3) for grid in grids for rule in oracle.RULE_SETS[name])
    assert count(1, 3, rules_of(name)).instances == found


# What is no set of rules


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draw": None}, "lacks draw, and no kernel draws its rows"),
        ({"outcomes": lambda K: K**3}, "names 125 equally probable outcomes at K=5, but draws 25 rows"),
        ({"draw": lambda x, y, K: (x, y, 2 * x + y)}, "draws a symbol beyond 0 to 4 at K=5"),
        ({"draw": lambda x, y, K: (x, y, -x)}, "draws a symbol beyond 0 to 4 at K=5"),
        ({"draw": lambda x, y, K: (x, y, (x + 2 * y) % K)}, "rows that fit it aren't those that it draws"),
        ({"draw": lambda x, y, K: (x, x * y % K, x)}, "draws 21 rows, 1 to 5 times each"),
        (
            {
                "draw": lambda x, y, K: (x * y % K, y, x),
                "fits": lambda x, y, z, K: (x == z * y % K).all(axis=0),
            },
            "with some x and y, several symbols z fit it",
        ),
        ({"fits": lambda x, y, z, K: (z == (2 * x + y) % K).any(axis=0)}, "rows that fit it aren't those"),
        ({"name": "addition"}, "9 rules: expected 15 at most, each with its own name"),
    ],
)
def test_rule_that_contradicts_itself_generates_nothing(change, message, monkeypatch):
    rules = (*RULES, replace(DOUBLING, **change))
    monkeypatch.setitem(RULE_SETS, "mine", rules)
    asks = (
        lambda: SRAVEN(M=3, rule_set="mine"),
        lambda: row_table(8, rules),
        lambda: count_answers(np.zeros((1, 8, 3), int), 8, rules=rules),
    )
    for ask in asks:
        assert_refused(message, ask)


def test_the_papers_rules_come_first_and_there_are_few():
    for rules in (RULES[:7], (DOUBLING, *RULES), (*RULES[1:], RULES[0])):
        assert_refused("the first eight rules aren't the paper's", check_rules, rules)
    many = tuple(replace(DOUBLING, name=f"doubling {number}") for number in range(8))
    assert len(check_rules((*RULES, *many[:7]))) == 15
    assert_refused("16 rules", check_rules, (*RULES, *many))


@pytest.mark.parametrize("name", ["no such set", "", None, 8, ["ten"]])
def test_a_set_that_there_is_not_is_refused(name):
    assert_refused(r"rule_set=.*'paper', 'ten'", SRAVEN, rule_set=name)


def test_more_combinations_than_a_draw_chooses_from_are_refused():
    assert len(SRAVEN(M=9, holdout=0, rule_set="ten").combinations("all")) == comb(18, 9)
    with pytest.raises(CapacityError, match=r"M=10: 92,378 combinations of 10 rules, .* 65,536 at most"):
        SRAVEN(M=10, holdout=0, rule_set="ten")


# Ten rules


def test_everything_else_knows_ten_rules(tmp_path):
    """Besides what every task keeps, of which one has ten rules."""
    task = SRAVEN(M=3, K=8, seed=4, rule_set="ten")
    write_dataset(task, {"train": 200}, tmp_path / "raven")
    card = (tmp_path / "raven" / "README.md").read_text()
    assert "one of ten rules" in card and "| 8 | minimum | x, y, min(x, y) |" in card
    batch = task.sample("ood", 0, 300)
    scores = task.score(batch, batch.target).metrics
    assert scores["rule.minimum"].mean == scores["rule.maximum"].mean == 1
    place = int(np.flatnonzero((batch.rules == 9).any(axis=1))[0])
    shown = to_json(make_puzzle(task, "ood", place))
    assert "maximum" in shown["rules"] and shown["target"] in shown["answers"]
    assert set(task.references.ceilings("ood", 50, None)["knowing_split"]) == {"accuracy"}
    found = task.diagnose(batch, np.roll(batch.target, 1, axis=0))
    assert {"minimum", "maximum"} <= set(found.tables["rules"].rows[0].of_wrong)
