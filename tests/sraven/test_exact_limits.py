"""All that is exact about contexts: memory, threads, shapes, and what may be asked."""

import re

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, guesses, small_board
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
    rule_posterior,
    symbol_marginals,
)
from sraven.certificates import explanations
from sraven.scoring.scores import SplitScores

PANELS = (is_answer, differs_everywhere)
OBSERVERS = (ideal_observer, rule_posterior, symbol_marginals)
ALL = (count_answers, is_unique, *PANELS, *OBSERVERS)


def ask(function, context, panel, K, combinations, **options):
    """Call any of the functions; return its arrays."""
    if function in PANELS:
        return [function(context, panel, K, **options)]
    found = function(context, K, *[combinations] * (function in OBSERVERS), **options)
    return found if isinstance(found, tuple) else [found]


def assert_same(one, other):
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize(("M", "K"), [(8, 4), (6, 3)])
def test_lattices_that_outgrow_their_memory_give_the_same(monkeypatch, M, K, function):
    task = SRAVEN(M=M, K=K, holdout=0)
    batch = task.sample("all", 0, 60)
    asked = function, batch.context, (batch.target + 1) % K, K, task.combinations("all")
    grown, listed = ask(*asked), list_answers(batch.context[0], K)
    for capacity in (1, 1 << 14):
        monkeypatch.setattr(explanations, "FIRST_CAPACITY", capacity)
        assert_same(grown, ask(*asked))
        assert np.array_equal(listed, list_answers(batch.context[0], K))


def test_a_lattice_that_outgrows_all_memory_is_one_error(monkeypatch):
    monkeypatch.setattr(explanations, "CAPACITY_LIMIT", explanations.FIRST_CAPACITY)
    batch = SRAVEN(M=8, K=4, holdout=0).sample("all", 0, 211)
    assert_refused("use a larger K or a smaller M", count_answers, batch.context, 4, error=CapacityError)


@pytest.mark.parametrize("function", ALL)
def test_any_number_of_threads_finds_the_same(function):
    task = SRAVEN(M=3, K=5)
    batch = task.sample("train", 0, 10_011)
    asked = function, batch.context, batch.target[::-1].copy(), 5, task.combinations("train")
    alone = ask(*asked, threads=1)
    for threads in (2, 3, None):
        assert_same(ask(*asked, threads=threads), alone)


@pytest.mark.parametrize("M", [6, 8, 12])
def test_large_instances_count_what_they_list(M):
    batch = SRAVEN(M=M, K=11, holdout=0, seed=3).sample("train", 0, 31)
    listed = [list_answers(context, 11) for context in batch.context]
    assert count_answers(batch.context, 11).tolist() == [len(answers) for answers in listed]
    for context, target, answers in zip(batch.context, batch.target, listed, strict=True):
        assert is_answer(np.repeat(context[None], len(answers), 0), answers, 11).all()
        assert target.tolist() in answers.tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64])
def test_any_integers_in_any_layout_will_do(dtype):
    batch = SRAVEN(M=3, K=5).sample("train", 0, 101)
    expected = count_answers(batch.context, 5)
    strided = np.asfortranarray(batch.context.astype(dtype))
    assert np.array_equal(count_answers(strided, 5), expected)
    assert np.array_equal(count_answers(batch.context.tolist(), 5), expected)
    assert np.array_equal(count_answers(batch.context[::-1], 5), expected[::-1])


@pytest.mark.parametrize("n", [5, 0])
def test_results_have_their_documented_shapes_and_types(n):
    panel, probability = (n, 3), (n,)
    expected = {
        count_answers: [(probability, np.int64)],
        is_unique: [(probability, np.bool_)],
        is_answer: [(probability, np.bool_)],
        differs_everywhere: [(probability, np.bool_)],
        ideal_observer: [(panel, np.uint8), (probability, np.float64)],
        rule_posterior: [((n, 3, 8), np.float64)],
        symbol_marginals: [((n, 3, 7), np.float64)],
    }
    for function, wanted in expected.items():
        found = ask(function, np.zeros((n, 8, 3), int), np.zeros((n, 3), int), 7, [[0, 0, 0]])
        assert [(each.shape, each.dtype) for each in found] == wanted


# What is given, and what the error says of it


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize(
    ("context", "K", "part"),
    [
        (np.zeros((5, 9, 3), int), 7, "[5, 9, 3]"),
        (np.zeros((8, 3), int), 7, "[8, 3]"),
        (np.zeros((5, 8, 3)), 7, "float64"),
        (np.full((5, 8, 3), 7), 7, "7"),
        (np.full((5, 8, 3), -1), 7, "-1"),
        (np.zeros((5, 8, 13), int), 7, "13"),
        (np.zeros((5, 8, 0), int), 7, "0"),
        (np.zeros((5, 8, 3), int), 2, "2"),
    ],
)
def test_bad_contexts_are_refused(function, context, K, part):
    M = context.shape[-1]
    with pytest.raises(ConfigurationError, match=f"(context|M|K).*{re.escape(part)}.*expected"):
        ask(function, context, np.zeros((5, M), int), K, np.zeros((1, M), int))


@pytest.mark.parametrize(
    ("context", "K"),
    [
        (np.zeros((1, 8, 3), int), 7),
        (np.zeros((8, 3)), 7),
        (np.full((8, 3), 7), 7),
        (np.ones((8, 2), int), 2),
    ],
)
def test_bad_contexts_are_not_listed(context, K):
    assert_refused("context .*expected|K=2: expected", list_answers, context, K)


@pytest.mark.parametrize("function", PANELS)
@pytest.mark.parametrize(
    "panel", [np.zeros((5, 2), int), np.zeros((4, 3), int), np.zeros((5, 3)), np.full((5, 3), 7)]
)
def test_bad_panels_are_refused(function, panel):
    assert_refused(r"panel|target", function, np.zeros((5, 8, 3), int), panel, 7)


@pytest.mark.parametrize("function", OBSERVERS)
@pytest.mark.parametrize(
    ("combinations", "part"),
    [
        ([[0, 0]], "[1, 2]"),
        ([0, 0, 0], "[3]"),
        ([[0.5, 0, 0]], "float64"),
        ([[0, 0, 8]], "8"),
        (np.zeros((0, 3), int), "empty"),
    ],
)
def test_bad_combinations_are_refused(function, combinations, part):
    assert_refused(f"combinations .*{re.escape(part)}", function, np.zeros((5, 8, 3), int), 7, combinations)


# A task's own methods on its instances, and scores off boards


TASKS = {
    "plain": SRAVEN(M=3, K=7, holdout=0.3),
    "unique": SRAVEN(M=3, K=7, holdout=0.3, answers="unique"),
    "unpermuted": SRAVEN(M=4, K=5, holdout=0.3, permute=False),
}
FUZZY = FuzzyLogic(L=3, K=2, N=5, holdout=0.5)


@pytest.mark.parametrize("name", TASKS)
def test_task_is_counted_and_observed_with_its_own_settings(name):
    task = TASKS[name]
    batch = task.sample("ood", 0, 100)
    counts = task.count_answers(batch)
    assert np.array_equal(counts, count_answers(batch.context, task.K, permute=task.permute))
    assert (counts == 1).all() == (name == "unique")
    for function, prior in ((ideal_observer, "ood"), (rule_posterior, "all"), (symbol_marginals, "ood")):
        found = getattr(task, function.__name__)(batch, prior)
        wanted = function(batch.context, task.K, task.combinations(prior), permute=task.permute)
        assert_same(found, wanted)


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


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_scores_are_those_of_the_boards(name):
    board = small_board(name)
    guessed = guesses(board, "ood", 0)
    assert board.task.score("ood", guessed) == board.score("ood", guessed)


@pytest.mark.parametrize(
    ("instances", "predictions", "message"),
    [
        ("ood", [], "the number of instances=0"),
        ("dev", np.zeros((5, 3), int), "split='dev'"),
        ({"context": 1}, np.zeros((5, 3), int), "instances is a dict; expected the name of a split"),
        (FUZZY.sample("ood", 0, 5), np.zeros((5, 3), int), "instances is a Batch; expected"),
        ("ood", np.zeros((5, 4), int), r"predictions .*\[5, 4\]"),
    ],
)
def test_what_can_not_be_scored_is_refused(instances, predictions, message):
    assert_refused(message, TASKS["plain"].score, instances, predictions)
