"""The text boards of version 2: levels in turn, plainer words, replies read leniently."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.text_board import BOARD, SECOND, right_replies, text_board
from sraven import ConfigurationError, text
from sraven.core.boards.board import read_board
from sraven.core.submissions.submit import reference_predictors
from sraven.core.tasks.families import scoring_of, wording_of
from sraven.text.ladder import LEVELS
from sraven.text.questions import SHOTS_START
from sraven.text.task import Ladder

WHOLE, LITE = "sraven-text-v2", "sraven-text-lite-v2"
SIZES = {WHOLE: 2000, LITE: 100}


@pytest.fixture(scope="module")
def drawn():
    """Questions and examples of each level, without what puts them in order."""
    return [
        (level, level.task.sample("ood", 0, 2000), level.task.sample("train", SHOTS_START, 8000))
        for level in LEVELS
    ]


@pytest.mark.parametrize("name", SIZES)
def test_levels_take_turns(name, drawn):
    board, size = read_board(name), SIZES[name]
    assert board.task.tasks == tuple(level.task for level in LEVELS)
    assert board.splits == {"ladder": 8 * size} and board.metric == "accuracy" and board.is_ranked
    batch = board.sample("ladder", 0, 8 * size)
    assert batch.rung.tolist() == [0, 1, 2, 3, 4, 5, 6, 7] * size
    for number, (level, asked, _) in enumerate(drawn):
        assert np.array_equal(batch.context[number::8, :, : level.M], asked.context[:size])
        assert np.array_equal(batch.target[number::8, : level.M], asked.target[:size])
        assert (batch.target[number::8, level.M :] == 255).all()
    assert [(rung["settings"]["M"], rung["settings"]["K"]) for rung in board.rungs] == [
        *((M, 8) for M in (2, 3, 4, 5, 6, 8)),
        *((4, K) for K in (10, 16)),
    ]


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("form", ["told", "untold"])
@pytest.mark.parametrize("shots", [0, 4])
def test_prompts_are_pinned(name, form, shots, drawn):
    size = SIZES[name]
    levels = [
        text.render(asked[:size], level.K, f"{form}2", shots=solved[: shots * size] if shots else None)
        for level, asked, solved in drawn
    ]
    checksum = hashlib.sha256()
    for index in range(size):
        for prompts in levels:
            checksum.update(prompts[index].encode() + b"\0")
    assert read_board(name).prompts[f"{form}-{shots}-shot"] == checksum.hexdigest()


def test_no_question_is_asked_twice_or_shown_solved(drawn):
    """From M=2 on it might happen by chance, as some rows fit two rules; in these questions it doesn't."""
    for _, asked, solved in drawn:
        puzzles = {context.tobytes() for context in asked.context}
        assert len(puzzles) == 2000
        assert not puzzles & {context.tobytes() for context in solved.context}


def test_lite_asks_the_first_questions():
    for form in ("told-0-shot", "untold-4-shot"):
        whole, lite = (wording_of(read_board(name).task).prompts("ladder", 800, form) for name in SIZES)
        assert list(whole) == list(lite)


@pytest.mark.parametrize("name", [BOARD, SECOND])
@given(start=st.integers(0, 44), count=st.integers(0, 44))
def test_any_range_is_the_same_and_balanced(name, start, count):
    task, count = text_board(name).task, min(count, 44 - start)
    whole, part = task.sample("ladder", 0, 44), task.sample("ladder", start, count)
    for one, every in zip(part, whole, strict=True):
        assert np.array_equal(one, every[start : start + count])
    found = Counter(part.rung.tolist())
    if name == SECOND:
        assert max(found.values(), default=0) - min((found[rung] for rung in range(4)), default=0) <= 1
    assert [task.rung_of(index) for index in range(start, start + count)] == part.rung.tolist()
    chosen = [40, 3, 3]
    assert np.array_equal(task.take("ladder", chosen).context, whole.context[chosen])


@pytest.mark.parametrize(
    ("split", "start", "count"), [("ladder", 45, 0), ("ladder", 0, 45), ("ladder", -1, 1), ("train", 0, 1)]
)
def test_questions_that_there_are_not_are_refused(split, start, count):
    with pytest.raises(ConfigurationError, match=r"the ladder has 44 questions|split"):
        text_board().task.sample(split, start, count)


def test_places_of_a_level_are_where_its_questions_are():
    for task in (text_board(SECOND).task, text_board().task):
        places = [[task.place(rung, index) for index in range(11)] for rung in range(4)]
        assert sorted(place for own in places for place in own) == list(range(44))
        assert [task.rung_of(place) for own in places for place in own] == np.repeat(range(4), 11).tolist()


# Scores


def test_the_lenient_reading_ranks_and_the_strict_one_stands_beside():
    right = right_replies(SECOND)
    replies = [f"{reply}, I think." if row % 2 else reply for row, reply in enumerate(right)]
    replies[1] = "I don't know."
    replies[2] = "Answer: [0 0 0 0 0]"
    scores = text_board(SECOND).score("ladder", replies).metrics
    found = {name: round(score.mean * (44 if "." not in name else 11)) for name, score in scores.items()}
    assert (found["accuracy"], found["unparsed"]) == (42, 2)
    assert (found["accuracy_strict"], found["unparsed_strict"]) == (21, 23)
    assert found["accuracy.M3-K7"] == 10 and found["unparsed.M3-K7"] == 1
    assert "accuracy_strict" not in text_board().metrics


def test_writing_answers_otherwise_makes_no_other_run():
    board, right = text_board(SECOND), right_replies(SECOND)
    one, other = (board.read("ladder", replies) for replies in (right, [f"{each}." for each in right]))
    assert (one[:, -1] == 1).all() and (other[:, -1] == 0).all()
    assert scoring_of(board.task).comparison.distance(one, other) == 0


def test_who_never_answers_is_unparsed_by_both_readings():
    board = text_board(SECOND)
    replies = reference_predictors(board)["babbler"].predict("ladder", 44, 0)
    scores = board.score("ladder", replies).metrics
    assert scores["unparsed"].mean == scores["unparsed_strict"].mean == 1


@pytest.mark.parametrize("name", SIZES)
def test_floors_are_those_of_the_replies(name):
    board = read_board(name)
    replies = board.task.references.predictors["copy-last-panel"].predict("ladder", 8 * SIZES[name], 0)
    scores = board.score("ladder", replies).metrics
    for rung in board.rungs:
        assert scores[rung["metric"]].mean == rung["floors"]["copy-last-panel"]
    assert scores["accuracy_strict"].mean == scores["accuracy"].mean and scores["unparsed"].mean == 0


@pytest.mark.parametrize("edition", [0, 3])
def test_other_editions_are_refused(edition):
    with pytest.raises(ConfigurationError, match=f"edition={edition}"):
        Ladder(edition=edition)


def test_the_first_edition_is_left_out_of_configurations():
    assert "edition" not in Ladder().config and Ladder(edition=2).config["edition"] == 2
