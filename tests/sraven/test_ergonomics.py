"""A task's own methods on its instances, and scores off boards."""

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic, identify
from sraven import SRAVEN, ConfigurationError, count_answers, ideal_observer, rule_posterior, symbol_marginals
from sraven.core.boards.scoring import SplitScores

TASKS = {
    "plain": SRAVEN(M=3, K=7, holdout=0.3),
    "unique": SRAVEN(M=3, K=7, holdout=0.3, answers="unique"),
    "unpermuted": SRAVEN(M=4, K=5, holdout=0.3, permute=False),
}
FUZZY = FuzzyLogic(L=3, K=2, N=5, holdout=0.5)


@pytest.mark.parametrize("name", TASKS)
def test_task_counts_the_answers_of_its_instances(name):
    task = TASKS[name]
    batch = task.sample("ood", 0, 300)
    found = task.count_answers(batch)
    assert np.array_equal(found, count_answers(batch.context, task.K, permute=task.permute))
    assert np.array_equal(found[10:20], task.count_answers(batch[10:20], threads=1))
    assert (found == 1).all() == (name == "unique")


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("prior", ["all", "ood"])
@pytest.mark.parametrize("function", [ideal_observer, rule_posterior, symbol_marginals])
def test_task_is_observed_with_its_own_combinations(name, prior, function):
    task = TASKS[name]
    batch = task.sample("ood", 0, 100)
    found = getattr(task, function.__name__)(batch, prior)
    wanted = function(batch.context, task.K, task.combinations(prior), permute=task.permute)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_observer_of_a_split_that_there_is_not_is_refused():
    with pytest.raises(ConfigurationError, match="split='train2'"):
        TASKS["plain"].ideal_observer(TASKS["plain"].sample("test", 0, 2), "train2")


@pytest.mark.parametrize("prior", ["all", "ood"])
def test_sequences_are_identified_with_the_tasks_terms(prior):
    batch = FUZZY.sample("ood", 0, 200)
    combinations = None if prior == "all" else FUZZY.combinations("ood")
    wanted = identify(batch.inputs, batch.targets, FUZZY.K, combinations)
    for found, expected in zip(FUZZY.identify(batch, prior), wanted, strict=True):
        assert np.array_equal(found, expected)


# Scores off boards

PREDICTIONS = {
    "sraven": (TASKS["plain"], lambda batch: np.concatenate([batch.target[:150], batch.context[150:, -1]])),
    "fuzzylogic": (FUZZY, lambda batch: batch.targets[:, -2]),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_split_view_and_batch_score_alike(name):
    task, predict = PREDICTIONS[name]
    batch = task.sample("test", 0, 200)
    found = task.score("test", predict(batch))
    assert isinstance(found, SplitScores) and found.instances == 200
    assert list(found.metrics) == list(task.scoring.metrics)
    assert task.score(batch, predict(batch)) == task.score(task.split("test", 200), predict(batch)) == found
    part = task.score(batch[50:150], predict(batch)[50:150])
    assert part == task.score(task.split("test", 200)[50:150], predict(batch)[50:150]) != found


@pytest.mark.parametrize(
    ("instances", "predictions", "message"),
    [
        ("ood", [], "the number of instances=0"),
        ("ood", 3, "the number of instances=0"),
        ("dev", np.zeros((5, 3), int), "split='dev'"),
        ({"context": 1}, np.zeros((5, 3), int), "instances is a dict; expected the name of a split"),
        (FUZZY.sample("ood", 0, 5), np.zeros((5, 3), int), "instances is a Batch; expected"),
        ("ood", np.zeros((5, 4), int), r"predictions .*\[5, 4\]"),
        ("ood", np.zeros((5, 3)), "predictions .*float64"),
        ("ood", np.full((5, 3), 7), "predictions: row 0 has the symbol 7"),
        ("ood", np.full((5, 3), -1), "predictions has a value outside 0 to 255"),
    ],
)
def test_what_can_not_be_scored_is_refused(instances, predictions, message):
    with pytest.raises(ConfigurationError, match=message):
        TASKS["plain"].score(instances, predictions)
