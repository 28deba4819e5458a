"""Rows or partners: siblings' answers, rows that tell and what partners say, in plain Python and by hand."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from helpers.error_oracle import SIBLING, by_sibling, features
from sraven import SRAVEN
from sraven.siblings import PARTNERS, partners_say

K = 8


@pytest.mark.parametrize("rule_set", ["paper", "ten"])
def test_siblings_answers_are_those_of_plain_python(rule_set):
    task = SRAVEN(M=3, K=K, holdout="ring", rule_set=rule_set)
    batch = task.sample("test", 0, 500)
    truth = task.scoring.labels(batch, None).arrays
    assert (truth["sibling_symbol"] >= 0).sum() > 50
    columns = zip(*(array.tolist() for array in tuple(batch)), strict=True)
    for n, (context, target, rules, permutations, _) in enumerate(columns):
        for p, feature in enumerate(features(context, rules, permutations)):
            alone = sum(rule in (feature.rule, SIBLING[feature.rule]) for rule in rules) == 1
            expected = by_sibling(feature, target[p], K) if alone else (-1, 0)
            assert (truth["sibling_symbol"][n, p], truth["telling_rows"][n, p]) == expected


def test_many_symbols_take_no_table_of_all_rows():
    task = SRAVEN(M=2, K=256, holdout="camps")
    target = task.sample("test", 0, 200).target
    assert task.score("test", target).metrics["sibling_answers"].mean == 0


@pytest.mark.parametrize("holdout", ["blocks", "camps", "ring", "pairs", 0.5])
def test_partners_say_what_training_has_beside_both(holdout):
    task = SRAVEN(M=3, K=K, holdout=holdout, seed=3)
    every = list(combinations_with_replacement(range(8), 3))
    known = set(map(tuple, task.combinations("train").tolist()))
    found = partners_say(task.combinations("all"), task.combination_indices("train"), task.rules)
    said = set()
    for n, combination in enumerate(every):
        for rule in set(combination):
            partners = list(combination)
            partners.remove(rule)
            has = combination in known, tuple(sorted([*partners, SIBLING[rule]])) in known
            names = {(1, 0): "tell", (1, 1): "fit both", (0, 0): "fit neither", (0, 1): "mislead"}
            assert list(PARTNERS)[found[n, rule]] == names[has]
            said.add(names[has])
    assert (
        said == {"fit both", "fit neither"} if holdout in ("camps", "ring") else said >= {"tell", "mislead"}
    )


def test_answers_by_partners_are_counted_by_what_partners_say():
    task = SRAVEN(M=3, K=K, holdout="blocks", answers="unique")
    batch = task.sample("ood", 0, 2_000)
    siblings_symbols = task.scoring.labels(batch, None).arrays["sibling_symbol"]
    predicted = np.where(siblings_symbols >= 0, siblings_symbols, batch.target).astype(np.uint8)
    table = task.diagnose(batch, predicted).tables["siblings"]
    assert {row.name.partition(",")[0] for row in table.rows} == {"partners fit neither", "partners mislead"}
    assert all(row.wrong.mean == row.of_wrong["the sibling's answer"].mean == 1 for row in table.rows)
    assert sum(row.total for row in table.rows) == (siblings_symbols >= 0).sum()
    scores = task.score(batch, predicted).metrics
    assert scores["sibling_answers"].mean == 1
    right = task.diagnose(batch, batch.target).tables["siblings"]
    assert all(row.wrong.mean == 0 for row in right.rows)
    assert task.score(batch, batch.target).metrics["sibling_answers"].mean == 0
