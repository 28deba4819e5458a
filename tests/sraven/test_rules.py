"""Rules are one object each: an incomplete one generates nothing, and a new one is all that it takes."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest

import sraven
from helpers import oracle
from sraven import (
    SRAVEN,
    CapacityError,
    ConfigurationError,
    count_answers,
    differs_everywhere,
    ideal_observer,
    is_answer,
    is_unique,
    list_answers,
)
from sraven.core.dataset.write import write_dataset
from sraven.core.tasks.families import make_task
from sraven.core.verification.verify import verify_dataset
from sraven.counting import count
from sraven.kernels import make_tables
from sraven.rules import (
    DISTRIBUTE_THREE,
    RULE_SETS,
    RULES,
    Rule,
    check_rules,
    completions,
    likelihoods,
    row_table,
    rules_of,
)
from sraven.show import make_puzzle, to_json
from sraven.splits import rule_combinations

DOUBLING = Rule(
    "doubling",
    "x, y, 2x+y",
    outcomes=lambda K: K**6,
    fits=lambda x, y, z, K: ((2 * x + y - z) % K == 0).all(axis=0),
    draw=lambda x, y, K: (x, y, (2 * x + y) % K),
)
LEAPING = Rule(
    "progression +3",
    "x, x+3, x+6",
    outcomes=lambda K: K**3,
    fits=lambda x, y, z, K: (((y - x - 3) % K == 0) & ((z - x - 6) % K == 0)).all(axis=0),
    draw=lambda x, y, K: (x, (x + 3) % K, (x + 6) % K),
)
ROWS = {8: lambda x, y: (x, y, 2 * x + y), 9: lambda x, y: (x, x + 3, x + 6)}
"""What they are, for the oracle."""


# The eight rules


@pytest.mark.parametrize("K", [3, 5, 8])
@pytest.mark.parametrize("number", range(8))
def test_a_rule_says_what_the_oracle_says(number, K):
    rule = RULES[number]
    rows = np.array(list(product(range(K), repeat=3)))
    thrice = [np.stack([rows[:, place]] * 3) for place in range(3)]
    expected = [oracle.follows(number, [row] * 3, K) for row in rows.tolist()]
    assert rule.fits(*thrice, K).tolist() == expected
    drawn = {tuple(row) for row in (row_table(K)[number][:, None] >> [0, 8, 16] & 255).tolist()}
    if number != DISTRIBUTE_THREE:
        assert drawn == {tuple(row) for row, fits in zip(rows.tolist(), expected, strict=True) if fits}
    assert Fraction(1, rule.outcomes(K)) == oracle.likelihood(number, K)
    assert likelihoods(K)[number] == 1 / rule.outcomes(K)


@pytest.mark.parametrize("number", range(8))
def test_rows_of_a_feature_fit_together_or_not_as_the_oracle_says(number):
    random = np.random.default_rng(number)
    features = random.integers(0, 3, (3, 3, 20_000))  # [row, column, feature]
    followed = RULES[number].fits(*features.swapaxes(0, 1), 3)
    expected = [oracle.follows(number, rows, 3) for rows in features.transpose(2, 0, 1).tolist()]
    assert followed.tolist() == expected and 0 < followed.sum() < 2_000


@pytest.mark.parametrize("K", [3, 4, 5, 8, 31, 256])
def test_tables_are_tied_to_the_rules(K):
    assert row_table(K).shape == (len(RULES), K * K) and likelihoods(K).shape == (len(RULES),)
    assert max((row_table(K) >> shift & 255).max() for shift in (0, 8, 16)) < K
    assert completions(K).shape == (0, K * K)
    assert count(1, K).instances == sum(rule.outcomes(K) for rule in RULES)
    assert count(1, K).instances == 5 * K**3 + 2 * K**6 + comb(K, 3) * factorial(3) ** 3


# Incomplete ones


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            'Rule("doubling", "x, y, 2x+y")',
            "missing 3 required positional arguments: 'outcomes', 'fits', and",
        ),
        ('Rule("doubling", "x, y, 2x+y", lambda K: K**6, _adds, None)', "rule 'doubling' lacks draw"),
        (
            'Rule("doubling", "x, y, 2x+y", lambda K: K**6, _adds, lambda x, y, K: (x, y, 2 * x + y))',
            "rule 'doubling' draws a symbol beyond 0 to 4 at K=5",
        ),
    ],
)
def test_incomplete_rule_is_an_error_on_import(source, message, tmp_path):
    shutil.copytree(Path(sraven.__file__).parent, tmp_path / "sraven", ignore=lambda *_: ["boards"])
    file = tmp_path / "sraven" / "rules.py"
    text = file.read_text()
    assert text.count("RULES = _EIGHT\n") == 1
    file.write_text(text.replace("RULES = _EIGHT\n", f"RULES = (*_EIGHT, {source})\n"))
    found = subprocess.run(
        [sys.executable, "-c", "from sraven import SRAVEN"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1 and message in found.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draw": None}, "lacks draw, and no kernel draws its rows"),
        (
            {"outcomes": lambda K: K**3},
            r"names 125 equally probable outcomes at K=5, but draws 25 rows, 1 to 1",
        ),
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
        (
            {"fits": lambda x, y, z, K: (z == (2 * x + y) % K).any(axis=0)},
            "rows that fit it aren't those that it draws",
        ),
        ({"name": "addition"}, "9 rules: expected 15 at most, each with its own name"),
    ],
)
def test_rule_that_contradicts_itself_generates_nothing(change, message, second_version, monkeypatch):
    rules = (*RULES, replace(DOUBLING, **change))
    monkeypatch.setitem(RULE_SETS, "2", rules)
    asks = (
        lambda: check_rules(rules),
        lambda: SRAVEN(M=3),
        lambda: row_table(8, rules),
        lambda: count_answers(np.zeros((1, 8, 3), int), 8, rules=rules),
    )
    for ask in asks:
        with pytest.raises(ConfigurationError, match=message):
            ask()
    assert SRAVEN(M=3, version="1").sample("train", 0, 10).rules.max() < 8


def test_the_papers_rules_come_first_and_there_are_few():
    for rules in (RULES[:7], (DOUBLING, *RULES), (*RULES[1:], RULES[0])):
        with pytest.raises(ConfigurationError, match="the first eight rules aren't the paper's"):
            check_rules(rules)
    many = tuple(replace(DOUBLING, name=f"doubling {number}") for number in range(8))
    assert len(check_rules((*RULES, *many[:7]))) == 15
    with pytest.raises(ConfigurationError, match="16 rules: expected 15 at most"):
        check_rules((*RULES, *many))


def test_kernels_get_no_rule_that_they_have_no_table_for():
    combinations = rule_combinations(2, (*RULES, DOUBLING))
    with pytest.raises(ConfigurationError, match="a combination has rule 8, but there are 8"):
        make_tables(8, combinations, np.arange(len(combinations), dtype=np.int32), True)


def test_more_combinations_than_a_draw_chooses_from_are_refused(second_version, monkeypatch):
    monkeypatch.setitem(RULE_SETS, "2", (*RULES, DOUBLING))
    assert len(SRAVEN(M=10, holdout=0).combinations("all")) == comb(18, 10)
    with pytest.raises(CapacityError, match=r"M=11: 75,582 combinations of 9 rules, .* 65,536 at most"):
        SRAVEN(M=11, holdout=0)
    assert len(SRAVEN(M=12, holdout=0, version="1").combinations("all")) == comb(19, 12)


# New ones


@pytest.fixture
def ten_rules(second_version, monkeypatch):
    """Publish a version with two more rules, and tell the oracle what they are."""
    monkeypatch.setitem(RULE_SETS, "2", (*RULES, DOUBLING, LEAPING))
    draw_rows, follows, likelihood = oracle.draw_rows, oracle.follows, oracle.likelihood

    def draw_more(draws, number, rule, K):
        if rule < 8:
            return draw_rows(draws, number, rule, K)
        codes = draws.numbers(number, [K * K] * 3)
        return [tuple(symbol % K for symbol in ROWS[rule](*divmod(code, K))) for code in codes]

    def follow_more(rule, rows, K):
        if rule < 8:
            return follows(rule, rows, K)
        return all((x, y, z) == tuple(symbol % K for symbol in ROWS[rule](x, y)) for x, y, z in rows)

    monkeypatch.setattr(oracle, "RULES", range(10))
    monkeypatch.setattr(oracle, "VERSION", "2")
    monkeypatch.setattr(oracle, "draw_rows", draw_more)
    monkeypatch.setattr(oracle, "follows", follow_more)
    monkeypatch.setattr(
        oracle, "likelihood", lambda rule, K: likelihood(rule if rule < 8 else {8: 5, 9: 1}[rule], K)
    )
    caches = oracle.all_combinations, oracle.shuffled_combinations
    for cached in caches:
        cached.cache_clear()
    yield rules_of("2")
    for cached in caches:
        cached.cache_clear()


TASKS = [
    {"M": 2, "K": 7, "holdout": 0.25, "permute": True},
    {"M": 3, "K": 8, "holdout": 0.25, "permute": True},
    {"M": 3, "K": 11, "holdout": 0.5, "permute": False},
    {"M": 2, "K": 3, "holdout": 0.25, "permute": True},
]


@pytest.mark.parametrize("change", TASKS)
@pytest.mark.parametrize("answers", ["any", "unique"])
def test_new_rules_are_drawn_and_certified_as_by_the_oracle(change, answers, ten_rules):
    task = SRAVEN(seed=3, answers=answers, **change)
    assert task.version == "2" and task.rules == ten_rules
    assert len(task.combinations("all")) == comb(9 + task.M, task.M)
    config = {name: value for name, value in task.config.items() if name not in ("task", "version")}
    batch = task.sample("ood", 0, 40)
    for index in range(40):
        expected = oracle.instance(config, "ood", index)
        for name, array in batch._asdict().items():
            assert array[index].tolist() == np.array(getattr(expected, name)).tolist(), name
    assert {8, 9} <= set(batch.rules.ravel().tolist())
    context, K, M = batch.context, task.K, task.M
    options = {"permute": task.permute, "rules": task.rules}
    answered = [oracle.answers(panels, K, task.permute) for panels in context.tolist()]
    assert count_answers(context, K, **options).tolist() == [len(found) for found in answered]
    assert is_unique(context, K, **options).tolist() == [len(found) == 1 for found in answered]
    assert is_answer(context, batch.target, K, **options).all()
    apart = [
        any(all(symbol != right for symbol, right in zip(panel, target, strict=True)) for panel in found)
        for found, target in zip(answered, batch.target.tolist(), strict=True)
    ]
    assert differs_everywhere(context, batch.target, K, **options).tolist() == apart
    assert {tuple(panel) for panel in list_answers(context[0], K, **options).tolist()} == answered[0]
    for rows in (task.combinations("ood"), task.combinations("all")):
        best, probability = ideal_observer(context, K, rows, **options)
        for n in range(12):
            posterior = oracle.posterior(context[n].tolist(), K, rows.tolist(), task.permute)
            assert probability[n] == pytest.approx(float(max(posterior.values())), abs=1e-12)
            assert posterior[tuple(best[n].tolist())] == max(posterior.values())
    assert context.shape == (40, 8, M)


@pytest.mark.parametrize("K", [3, 4, 5, 8, 256])
def test_no_symbol_is_beyond_K_whatever_the_rules(K, ten_rules):
    batch = SRAVEN(M=4, K=K).sample("all", 0, 20_000)
    assert max(batch.context.max(), batch.target.max()) < K and set(np.unique(batch.rules)) == set(range(10))


def test_explanations_by_a_new_rule_are_only_found_with_it(ten_rules):
    batch = SRAVEN(M=1, K=11, holdout=0).sample("train", 0, 2_000)
    by_doubling = (batch.rules[:, 0] == 8) & (batch.context[:, 0, 0] != batch.context[:, 3, 0])
    found = [count_answers(batch.context[by_doubling], 11, rules=rules) for rules in (RULES, ten_rules)]
    assert (found[0] == 0).mean() > 0.9 and (found[1] >= 1).all()


@pytest.mark.parametrize(("M", "K"), [(1, 3), (2, 5), (4, 8)])
def test_counts_follow_from_the_rules(M, K, ten_rules):
    found, outcomes = count(M, K, ten_rules), 5 * K**3 + 2 * K**6 + comb(K, 3) * 6**3 + K**6 + K**3
    assert found.multisets == comb(9 + M, M) and found.tasks == factorial(M) ** 2 * 10**M
    assert found.instances == factorial(M) ** 2 * outcomes**M


def test_everything_else_knows_a_new_rule(ten_rules, tmp_path):
    task = SRAVEN(M=3, K=8, seed=4)
    write_dataset(task, {"train": 2_000, "ood": 300}, tmp_path / "raven")
    report = verify_dataset(tmp_path / "raven", make_task)
    assert report.faults == []
    card = (tmp_path / "raven" / "README.md").read_text()
    assert "one of ten rules" in card and "| 8 | doubling | x, y, 2x+y |" in card
    batch = task.sample("ood", 0, 300)
    labels = task.scoring.labels(batch, None)
    outcomes = task.scoring.outcomes(labels, batch.target, np.ones(300, bool), None)
    assert (outcomes["right.doubling"] == labels.summands["features.doubling"]).all()
    assert labels.summands["features.doubling"].sum() > 0
    assert {"rule.doubling", "rule.progression +3"} <= set(task.scoring.metrics)
    place = int(np.flatnonzero((batch.rules == 8).any(axis=1))[0])
    shown = to_json(make_puzzle(task, "ood", place))
    assert "doubling" in shown["rules"] and shown["target"] in shown["answers"]
    assert set(task.references.ceilings("ood", 50, None)["knowing_split"]) == {"accuracy"}
