"""Predictions that are those of another entry, or of another seed, and those that only look so."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.corpus_submissions import corpus_board, losses
from helpers.evidence_example import make_evidence, random_predictions
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, truth
from sraven.core.boards.content import BoardSplit
from sraven.core.leaderboard.copies import equal_seeds, find_copies
from sraven.core.leaderboard.evidence import run_name

SPLITS, SEEDS = ("test", "ood"), range(3)


def found(*entries):
    """Return the copies among entries, by the names of their methods."""
    return find_copies({entry.content["method"]["name"]: entry for entry in entries})


def runs_of(evidence, change=lambda array: array, order=SEEDS):
    """Return the predictions of an entry as those of another one, changed, its seeds in another order."""
    return {
        run_name(split, seed): change(evidence.predictions[run_name(split, other)].copy())
        for split in evidence.board.splits
        for seed, other in zip(SEEDS, order, strict=True)
    }


def scored(board, accuracy):
    """Return scores by which all seeds are so often right on both splits."""
    return {split: {"accuracy": [accuracy] * 3} for split in board.splits}


@pytest.fixture
def entry():
    return make_evidence("honest")


def test_same_predictions_are_told_to_both_whatever_the_seeds_are_called(entry):
    for order in (SEEDS, (2, 0, 1)):
        copy = make_evidence("copy", predictions=runs_of(entry, order=order))
        copies = found(entry, make_evidence("other"), copy)
        assert copies == {"honest": ["copy"], "other": [], "copy": ["honest"]}


@pytest.mark.parametrize("name", [run_name(split, seed) for split in SPLITS for seed in SEEDS])
def test_one_copied_run_is_enough(entry, name):
    copy = make_evidence("copy", predictions={name: entry.predictions[name]})
    assert found(entry, copy)["copy"] == ["honest"]


@pytest.mark.parametrize(("changed", "is_copy"), [(1, True), (25, True), (26, False)])
def test_nearly_the_same_is_a_copy(changed, is_copy):
    """On 5,000 instances of which half are wrong, a hundredth of the errors are 25."""
    board = small_board(SRAVEN_BOARD)
    board = replace(board, covered={name: BoardSplit(5_000) for name in SPLITS})
    entry = make_evidence("honest", board)

    def change(array):
        array[:changed] = (array[:changed] + 1) % 5
        return array

    copy = make_evidence("copy", board, predictions=runs_of(entry, change))
    assert found(entry, copy)["copy"] == (["honest"] if is_copy else [])


def test_perfect_predictions_are_equal_of_necessity():
    board = small_board(SRAVEN_BOARD)
    right = {run_name(split, seed): truth(board, split) for split in SPLITS for seed in SEEDS}
    first, second = (
        make_evidence(name, predictions=right, scores=scored(board, 1.0)) for name in ("one", "two")
    )
    assert found(first, second) == {"one": [], "two": []} and equal_seeds(first) == ""


@pytest.mark.parametrize(("noise", "is_copy"), [(0.0, True), (1e-6, True), (0.05, False)])
def test_numbers_that_are_nudged_are_a_copy(noise, is_copy):
    board = small_board(FUZZY_BOARD)
    errors = {split: {"mse": [0.04] * 3} for split in SPLITS}
    entry = make_evidence("honest", board, scores=errors)

    def change(array):
        return array + np.float32(noise)

    copy = make_evidence("copy", board, scores=errors, predictions=runs_of(entry, change))
    assert found(entry, copy)["copy"] == (["honest"] if is_copy else [])


@pytest.mark.parametrize(
    ("factor", "is_copy"), [(1.0, True), (1 - 1e-9, True), (1 - 1e-5, True), (0.999, False)]
)
def test_losses_that_are_nudged_are_a_copy(factor, is_copy):
    board = corpus_board()

    def made(name, scale):
        arrays = [losses(seed, scale) for seed in SEEDS]
        means = [float(array[:, 0].sum() / array[:, 1].sum()) for array in arrays]
        predictions = {run_name("validation", seed): arrays[seed] for seed in SEEDS}
        return make_evidence(name, board, scores={"validation": {"loss": means}}, predictions=predictions)

    assert found(made("honest", 1.0), made("copy", factor))["copy"] == (["honest"] if is_copy else [])


def test_copies_are_seen_where_a_split_is_missing(entry):
    copy = make_evidence("copy", seeds={"test": (), "ood": (4,)})
    copy.predictions[run_name("ood", 4)] = entry.predictions[run_name("ood", 1)]
    assert found(entry, copy)["copy"] == ["honest"]


def test_seeds_with_the_same_predictions_are_told(entry):
    assert equal_seeds(entry) == ""
    for split in SPLITS:
        same = random_predictions(small_board(SRAVEN_BOARD), split, 7)
        predictions = {run_name(split, seed): same for seed in (0, 2)}
        message = f"seeds 0 and 2 predict the same on {split}"
        assert equal_seeds(make_evidence(predictions=predictions)) == message
