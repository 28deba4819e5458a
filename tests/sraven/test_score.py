"""SRAVEN's metrics against plain Python, and what the reference predictors score."""

import statistics
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from helpers import oracle
from helpers.submissions import score_predictions
from sraven import RULES as PAPERS_RULES, SRAVEN

RULES = tuple(rule.name for rule in PAPERS_RULES)


# The oracle: one function that reads like the table of metrics


def known_answers(task, split, count):
    """Return, for each instance, all answers, by an exhaustive search."""
    contexts = task.sample(split, 0, count).context.tolist()
    return [oracle.answers(context, task.K, task.permute) for context in contexts]


def slow_scores(task, split, count, answers, predictions, answered):
    """Return the metrics of one seed, and the accuracy of each combination; loops over instances."""
    batch = task.sample(split, 0, count)
    right, of, apart = defaultdict(int), defaultdict(int), defaultdict(list)
    for n in range(count):
        target = batch.target[n].tolist()
        panel = [int(symbol) for symbol in predictions[n]] if answered[n] else [None] * task.M
        correct = panel == target
        ambiguous = len(answers[n]) > 1
        assert tuple(target) in answers[n]
        events = {
            "accuracy": (correct, True),
            "accuracy_ambiguous": (correct, ambiguous),
            "accuracy_unique": (correct, not ambiguous),
            "valid_alternatives": (tuple(panel) in answers[n], not correct),
        }
        for metric, (event, counts) in events.items():
            right[metric] += bool(event and counts)
            of[metric] += bool(counts)
        for place in range(task.M):
            rule = int(batch.rules[n][batch.permutations[n][2][place]])
            for metric in ("feature_accuracy", f"position.{place}", f"rule.{RULES[rule]}"):
                right[metric] += panel[place] == target[place]
                of[metric] += 1
        apart[int(batch.combination[n])].append(correct)
    metrics = {metric: right[metric] / of[metric] if of[metric] else None for metric in of}
    by_rule = [metrics.get(f"rule.{rule}") for rule in RULES]
    metrics["balanced_feature_accuracy"] = None if None in by_rule else statistics.fmean(by_rule)
    return metrics, {number: statistics.fmean(found) for number, found in apart.items()}


def mixed_predictions(task, split, answers, seed):
    """Return predictions right, wrong, wrong but valid, almost right, or missing."""
    random = np.random.default_rng(seed)
    right = task.sample(split, 0, len(answers)).target
    predictions, answered = right.copy(), np.ones(len(right), bool)
    for n, kind in enumerate(random.integers(0, 6, len(right))):
        others = sorted(answers[n] - {tuple(right[n].tolist())})
        if kind == 0:
            predictions[n] = random.integers(0, task.K, task.M)
        elif kind in (1, 2) and others:
            predictions[n] = others[random.integers(len(others))]
        elif kind == 3:
            predictions[n][random.integers(task.M)] = random.integers(task.K)
        elif kind == 4:
            answered[n] = False
            predictions[n] = random.choice([right[n], np.zeros(task.M)])
    return predictions, answered


TESTED_ELSEWHERE = {"sibling_answers"}
"""In `tests/sraven/test_siblings.py`."""

TASKS = {
    "any": (SRAVEN(M=3, K=5, holdout=0.25, seed=5), 199),
    "many answers": (SRAVEN(M=4, K=4, holdout=0.25, seed=3), 60),
    "unpermuted": (SRAVEN(M=5, K=6, holdout=0.25, seed=3, permute=False), 150),
    "unique": (SRAVEN(M=3, K=6, holdout=0.25, seed=3, answers="unique"), 100),
    "one feature": (SRAVEN(M=1, K=5, holdout=0.0, seed=3), 200),
}


@pytest.mark.parametrize("name", TASKS)
def test_metrics_are_the_oracles(name):
    task, count = TASKS[name]
    split = "ood" if task.holdout else "test"
    answers = known_answers(task, split, count)
    runs = {seed: mixed_predictions(task, split, answers, seed) for seed in (2, 5, 9)}
    found = score_predictions(task, split, count, runs.items())
    slow = [slow_scores(task, split, count, answers, *run) for run in runs.values()]
    wanted, apart = zip(*slow, strict=True)
    assert (found.instances, found.seeds) == (count, (2, 5, 9))
    assert found.missing == tuple(int((~answered).sum()) for _, answered in runs.values())
    for metric in set(found.metrics) - TESTED_ELSEWHERE:
        here, values = found.metrics[metric], [metrics.get(metric) for metrics in wanted]
        assert here.by_seed == tuple(
            value if value is None else pytest.approx(value, abs=1e-9) for value in values
        )
        if None in values:
            assert here.mean is here.standard_error is None
            continue
        assert here.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
        assert here.standard_error == pytest.approx(statistics.stdev(values) / sqrt(3), abs=1e-9)
        low, high = here.interval
        assert 0 <= low <= here.mean <= high <= 1
    assert set(found.by_combination) == {"accuracy"}
    combinations = found.by_combination["accuracy"]
    assert list(combinations.combination) == sorted(apart[0])
    for number, size, mean in zip(
        combinations.combination, combinations.instances, combinations.mean, strict=True
    ):
        assert size == (task.sample(split, 0, count).combination == number).sum()
        assert mean == pytest.approx(statistics.fmean(accuracy[number] for accuracy in apart), abs=1e-9)
    if task.answers == "unique":
        assert found.metrics["accuracy_ambiguous"].mean is None
        assert found.metrics["accuracy_unique"] == found.metrics["accuracy"]
    elif task.M > 1:
        assert found.metrics["valid_alternatives"].mean > 0.05, "some wrong answers have to be valid"


# References


def test_simple_references_are_what_they_say():
    task = TASKS["any"][0]
    references, context = task.references.predictors, task.sample("ood", 0, 80).context.tolist()
    copied = references["copy-last-panel"].predict("ood", 80, 0).tolist()
    majority = references["majority-symbol"].predict("ood", 80, 0).tolist()
    for panels, last, most in zip(context, copied, majority, strict=True):
        assert last == panels[7]
        shown = [[panel[place] for panel in panels] for place in range(task.M)]
        assert most == [max(range(task.K), key=lambda s, row=row: (row.count(s), -s)) for row in shown]
    blind = references["context-blind"].predict("ood", 5, 0).tolist()
    targets = task.sample("train", 0, 1 << 16).target
    assert blind == [[int(np.bincount(targets[:, place]).argmax()) for place in range(task.M)]] * 5


@pytest.mark.parametrize("split", ["test", "ood"])
@pytest.mark.parametrize("name", ["uniform-random", "context-blind"])
def test_guessing_scores_chance(name, split):
    """At M=2, K=5 a panel is right with probability 1 / 25, whatever the rules; so is a fixed panel."""
    task, count, chance = SRAVEN(M=2, K=5, holdout=0.25), 20_000, 5.0**-2
    run = task.references.predictors[name].predict(split, count, 0), np.ones(count, bool)
    found = score_predictions(task, split, count, [(0, run)]).metrics
    assert abs(found["accuracy"].mean - chance) < 4 * sqrt(chance * (1 - chance) / count)
    assert abs(found["feature_accuracy"].mean - 1 / 5) < 4 * sqrt(0.16 / (2 * count))


# References of both tasks; the composition-blind observer by the oracle


TASK = SRAVEN(M=2, K=4, holdout=0.5, seed=1)

OF_BOTH = (
    SRAVEN(M=3, K=5, seed=5),
    SRAVEN(M=7, K=5, holdout=0.1),
    FuzzyLogic(L=3, K=2, N=7, holdout=0.5, seed=5),
    FuzzyLogic(L=2, K=1, N=2, holdout=0.0, seed=5),
    FuzzyLogic(L=4, K=2, N=9, holdout=0.5, seed=5, query="fixed_query"),
)


@pytest.mark.parametrize("task", OF_BOTH, ids=lambda task: task.config_name)
def test_references_give_predictions_that_can_be_scored_and_are_reproducible(task):
    scored, split = task.scoring.prediction, task.splits[-1]
    for name, reference in task.references.predictors.items():
        first, again, other = (reference.predict(split, 40, seed) for seed in (0, 0, 1))
        assert (first.dtype, first.shape) == (scored.dtype, (40, *scored.shape)), name
        assert task.scoring.find_fault(first) is None
        assert np.array_equal(first, again) and reference.random == (not np.array_equal(first, other)), name
        assert np.array_equal(reference.predict(split, 50, 0)[:40], first)
        assert reference.description.endswith(".")


def believed(split, count):
    """Return what the oracle thinks of each context, if only combinations of training are possible."""
    known = TASK.combinations("train").tolist()
    contexts = TASK.sample(split, 0, count).context.tolist()
    return [oracle.posterior(context, TASK.K, known, True) for context in contexts]


def share_right(task, posterior, target):
    """Return how probably the first of the most probable panels is right, or a guess where none is."""
    if not posterior:
        return Fraction(1, task.K**task.M)
    return min(each for each in posterior if posterior[each] == max(posterior.values())) == tuple(target)


@pytest.mark.parametrize("split", ["test", "ood"])
def test_composition_blind_observer_believes_in_training_and_else_guesses(split):
    predictor = TASK.references.predictors["composition-blind"]
    found = predictor.predict(split, 300, 0)
    assert found.dtype == np.uint8 and found.max() < TASK.K
    impossible = 0
    for panel, posterior in zip(found.tolist(), believed(split, 300), strict=True):
        ties = [each for each, share in posterior.items() if share == max(posterior.values())]
        assert not ties or tuple(panel) == min(ties)
        impossible += not ties
    assert impossible == 0 if split == "test" else 50 < impossible < 250


def test_observer_of_order_two_believes_what_the_oracle_says():
    task, count = SRAVEN(M=3, K=4, holdout=0.7, seed=0), 100
    pairs = {pair for row in task.combinations("train").tolist() for pair in combinations(row, 2)}
    believed = [row for row in task.combinations("all").tolist() if set(combinations(row, 2)) <= pairs]
    assert len(task.combinations("train")) < len(believed) < len(task.combinations("all"))
    batch, right = task.sample("ood", 0, count), Fraction()
    for context, target in zip(batch.context.tolist(), batch.target.tolist(), strict=True):
        right += share_right(task, oracle.posterior(context, task.K, believed, True), target)
    found = task.references.levels("ood", count, None)["order-2"]["accuracy"]
    assert found.value == pytest.approx(float(right / count))


def test_lines_are_what_the_oracle_expects():
    count = 200
    batch, combinations = TASK.sample("ood", 0, count), TASK.combinations("ood").tolist()
    beliefs = zip(believed("ood", count), batch.target.tolist(), strict=True)
    blind = sum(share_right(TASK, posterior, panel) for posterior, panel in beliefs)
    independent = Fraction()
    for panel, context in zip(batch.target.tolist(), batch.context.tolist(), strict=True):
        right = Fraction(1)
        for symbol, shares in zip(
            panel, oracle.marginals(context, TASK.K, combinations, True)[1], strict=True
        ):
            best = [each for each in shares if shares[each] == max(shares.values())]
            right *= Fraction(symbol in best, len(best))
        independent += right
    found = TASK.references.levels("ood", count, None)
    assert found["composition-blind"]["accuracy"].value == pytest.approx(float(blind / count))
    assert found["independent"]["accuracy"].value == pytest.approx(float(independent / count))
