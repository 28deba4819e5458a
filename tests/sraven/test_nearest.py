"""The nearest combination, and each position by itself, against all explanations in plain Python."""

from itertools import combinations, permutations, product
from math import prod

import numpy as np
import pytest

from helpers import oracle
from helpers.refusals import assert_refused
from sraven import SRAVEN, ConfigurationError
from sraven.certificates.nearest import each_by_itself, nearest_combination

RATE = 0.05
K = 4


def seen(symbol, other):
    return 1 - RATE if symbol == other else RATE / (K - 1)


def rows_of(rule):
    """Return all rows of a rule, each as probable; of distribute three by the set of its symbols."""
    if rule == oracle.DISTRIBUTE_THREE:
        return [list(permutations(three)) for three in combinations(range(K), 3)]
    return [[row for row in product(range(K), repeat=3) if oracle.follows(rule, [row], K)]]


ROWS = {rule: rows_of(rule) for rule in oracle.RULES}


def weight(triple, rule, answer):
    """Return how probable the eight symbols of a triple are under a rule that ends with an answer."""
    total = 0.0
    for rows in ROWS[rule]:
        whole = [sum(prod(map(seen, row, found)) for row in rows) / len(rows) for found in triple[:2]]
        ends = [row for row in rows if row[2] == answer]
        total += prod(whole) * sum(prod(map(seen, row, triple[2])) for row in ends) / len(rows)
    return total / len(ROWS[rule])


def weights(context, M):
    """Return the weight of each triple (i, j, k), rule and answer of a context ``[8, M]``."""
    found = {}
    for i, j, k in product(range(M), repeat=3):
        symbols = [context[n][p] for n, p in enumerate((i, j, k) * 3) if n < 8]
        triple = symbols[:3], symbols[3:6], symbols[6:]
        for rule, answer in product(range(8), range(K)):
            found[i, j, k, rule, answer] = weight(triple, rule, answer)
    return found


def panels_of(context, M, known):
    """Return the panels of the heaviest explanations."""
    weighed, best, panels = weights(context, M), 0.0, set()
    orders = {order for row in known for order in permutations(row)}
    for first, second, rules in product(permutations(range(M)), permutations(range(M)), orders):
        parts = list(zip(first, second, range(M), rules, strict=True))
        for answer in product(range(K), repeat=M):
            found = prod(weighed[*part, symbol] for part, symbol in zip(parts, answer, strict=True))
            if found > best * (1 + 1e-9):
                best, panels = found, set()
            if found >= best * (1 - 1e-9):
                panels.add(answer)
    return panels


@pytest.mark.parametrize(("split", "holdout"), [("test", "camps"), ("ood", "camps"), ("ood", "pairs")])
def test_nearest_combination_is_the_heaviest_of_all_explanations(split, holdout):
    task = SRAVEN(M=2, K=K, holdout=holdout, seed=1)
    batch, known = task.sample(split, 0, 6), task.combinations("train")
    found = nearest_combination(batch.context, batch.target, K, known, error_rate=RATE)
    for n, (context, target) in enumerate(zip(batch.context.tolist(), batch.target.tolist(), strict=True)):
        panels = panels_of(context, 2, known.tolist())
        assert tuple(found.panels[n].tolist()) == min(panels)
        assert found.right[n] == pytest.approx((tuple(target) in panels) / len(panels))
        hits = sum(symbol == right for panel in panels for symbol, right in zip(panel, target, strict=True))
        assert found.features_right[n] == pytest.approx(hits / (2 * len(panels)))


def test_each_position_by_itself_takes_its_heaviest_triple_and_rule():
    task = SRAVEN(M=2, K=K, holdout="camps", seed=1)
    batch = task.sample("ood", 0, 6)
    found = each_by_itself(batch.context, batch.target, K, error_rate=RATE)
    for n, (context, target) in enumerate(zip(batch.context.tolist(), batch.target.tolist(), strict=True)):
        weighed, hits = weights(context, 2), []
        for k in range(2):
            by_answer = [
                max(w for (_, _, p, _, s), w in weighed.items() if (p, s) == (k, a)) for a in range(K)
            ]
            likely = [a for a, w in enumerate(by_answer) if w >= max(by_answer) * (1 - 1e-9)]
            assert found.panels[n, k] == likely[0]
            hits.append((target[k] in likely) / len(likely))
        assert found.right[n] == pytest.approx(prod(hits))
        assert found.features_right[n] == pytest.approx(np.mean(hits))


def test_where_a_known_combination_explains_the_context_the_answer_is_right():
    task = SRAVEN(M=3, K=8, holdout="camps", answers="unique")
    batch = task.sample("test", 0, 200)
    found = nearest_combination(batch.context, batch.target, 8, task.combinations("train"))
    assert found.right.min() == 1 and np.array_equal(found.panels, batch.target)


def test_without_permutations_features_stay_at_their_positions():
    task = SRAVEN(M=3, K=8, holdout="ring", permute=False)
    batch = task.sample("test", 0, 200)
    everything = task.combinations("all")
    found = nearest_combination(batch.context, batch.target, 8, everything, permute=False)
    assert found.right.mean() == pytest.approx(task.ideal_observer(batch)[1].mean(), abs=0.02)


def test_threads_change_nothing_and_too_many_symbols_are_refused():
    task = SRAVEN(M=3, K=8, holdout="camps")
    batch, known = task.sample("ood", 0, 600), task.combinations("train")
    one, two = (nearest_combination(batch.context, batch.target, 8, known, threads=n) for n in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    task = SRAVEN(M=2, K=17, holdout="camps")
    batch = task.sample("test", 0, 2)
    assert_refused("up to 16", each_by_itself, batch.context, batch.target, 17, error=ConfigurationError)
