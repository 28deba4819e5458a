"""Answers that are far off, sorted: against loops over the sequences."""

from collections import Counter

import numpy as np

from fuzzylogic import FuzzyLogic
from fuzzylogic.terms import formula
from helpers.fuzzy_oracle import function
from helpers.tallies import assert_tallied

TASK = FuzzyLogic(L=3, K=2, N=9, holdout=0.4, seed=1)


def slow_tallies(batch, predictions, answered):
    """Return the tallies as Counters of (row, column); a column None stands for what is right."""
    found = {name: Counter() for name in ("overall", "combinations", "known")}
    known = [tuple(row) for row in TASK.combinations("train").tolist()]
    for n, (inputs, ys, own, _) in enumerate(zip(*batch, strict=True)):
        ys, own = ys.astype(float), tuple(own.tolist())

        def misfit(terms, inputs=inputs, ys=ys):
            shown = zip(inputs[:-1].tolist(), ys[:-1], strict=True)
            return sum((function(terms, point) - y) ** 2 for point, y in shown)

        nearest = min((terms for terms in known if terms != own), key=misfit)
        towards = function(nearest, inputs[-1].tolist())
        error = abs(predictions[n] - ys[-1])
        kind = "none of these"
        if abs(predictions[n] - ys[:-1].mean()) < error - 1e-6:
            kind = "near a constant"
        if abs(predictions[n] - towards) < error - 1e-6:
            kind = "a known function"
        if error**2 <= 0.1 * ys.var():
            kind = None
        kind = kind if answered[n] else "missing"
        found["overall"]["all", kind] += 1
        found["combinations"][formula(own, 3), kind] += 1
        found["known"][formula(nearest, 3), kind] += 1
    return found


def test_tallies_equal_a_loop_over_the_sequences():
    random = np.random.default_rng(0)
    for split in ("test", "ood", "ood_terms"):
        batch = TASK.sample(split, 0, 150)
        predictions = (batch.targets[:, -1] + random.normal(0, 0.15, 150)).astype(np.float32)
        answered = random.random(150) < 0.9
        labels = TASK.scoring.labels(batch, None)
        tallies = TASK.diagnosis.tally(labels, predictions, answered, None)
        assert_tallied(tallies, slow_tallies(batch, predictions, answered))


def test_one_known_function_is_no_other():
    """Where the function is the only known one, none explains an answer."""
    task = FuzzyLogic(L=2, K=2, N=5, holdout=0, unseen_terms=0.5)
    assert task.n_combinations("train") == 1
    found = task.diagnose("test", np.full(20, 0.5))
    assert [row.name for row in found.tables["known"].rows] == ["none"]
    assert found.overall.of_wrong["a known function"].counts == (0,)
