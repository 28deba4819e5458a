"""Rows or partners: siblings' answers, rows that tell and what partners say, in plain Python and by hand."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from sraven import SRAVEN
from sraven.features import symbols_by_asked_feature
from sraven.siblings import PARTNERS, partners_say, sibling_answers

K = 8
SIBLING = {0: 7, 7: 0, 1: 3, 3: 1, 2: 4, 4: 2, 5: 6, 6: 5, 8: 9, 9: 8}
OPERATION = {5: lambda x, y: (x + y) % K, 6: lambda x, y: (x - y) % K, 8: min, 9: max}


def plainly(rows, shown):
    """Return what the sibling of one feature gives and how many rows tell, given ``[row][column]``."""
    if (give := OPERATION.get(SIBLING[shown])) is None:
        return -1, 0
    answer = give(*rows[2][:2])
    if answer == rows[2][2]:
        return -1, 0
    return answer, sum(give(*row[:2]) != row[2] for row in rows[:2])


@pytest.mark.parametrize("rule_set", ["paper", "ten"])
def test_siblings_answers_are_those_of_plain_python(rule_set):
    task = SRAVEN(M=3, K=K, holdout="ring", rule_set=rule_set)
    batch = task.sample("test", 0, 500)
    rows = symbols_by_asked_feature(batch.context, batch.target, batch.permutations)
    shown = np.take_along_axis(batch.rules, batch.permutations[:, 2].astype(np.int64), axis=1).astype(
        np.int64
    )
    symbols, telling_rows = sibling_answers(rows, shown, K, task.rules)
    assert (symbols >= 0).sum() > 50
    for n, of_puzzle in enumerate(shown.tolist()):
        for p, rule in enumerate(of_puzzle):
            symbol, telling = plainly(rows[n, :, :, p].tolist(), rule)
            alone = sum(other in (rule, SIBLING[rule]) for other in of_puzzle) == 1
            assert symbols[n, p] == (symbol if alone else -1)
            assert telling_rows[n, p] == (telling if alone and symbol >= 0 else 0)


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
