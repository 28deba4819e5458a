"""The board of texts: what its file says is so, by means that share little with what made it."""

import hashlib

import numpy as np
import pytest

from helpers.submissions import only_boards
from helpers.text_board import BOARD, right_replies, text_board, text_contents
from sraven import SRAVEN, BoardError, ConfigurationError, make_task, text
from sraven.core.boards.board import Board, read_board
from sraven.core.tasks.families import rows_of
from sraven.text.ladder import COUNT, LADDER
from sraven.text.references import BABBLE
from sraven.text.task import Ladder

ID = "sraven-text-v1"


@pytest.fixture(scope="module")
def board():
    return read_board(ID)


def test_rungs_are_those_of_the_ladder(board):
    assert board.task.tasks == tuple(rung.task for rung in LADDER)
    assert [rung["settings"] for rung in board.rungs] == [{"M": rung.M, "K": rung.K} for rung in LADDER]
    assert {rung["instances"] for rung in board.rungs} == {COUNT}
    assert board.splits == {"ladder": COUNT * len(LADDER)} and board.is_text and board.is_ranked
    assert board.task == Ladder()


def test_questions_are_certified_and_of_combinations_that_are_held_out(board):
    batch = board.sample("ladder", 0, 16_000)
    held_out = set(board.held_out["ladder"])
    for number, rung in enumerate(LADDER):
        here = batch.rung == number
        M, asked = rung.M, rung.task.sample(rung.split, 0, COUNT)
        assert here.sum() == COUNT and (rung.task.count_answers(asked) == 1).all()
        assert np.array_equal(batch.context[here][:, :, :M], asked.context)
        assert np.array_equal(batch.target[here][:, :M], asked.target)
        assert (batch.context[here][:, :, M:] == 255).all() and (batch.target[here][:, M:] == 255).all()
        if M > 1:
            assert set(map(tuple, asked.rules.tolist())) <= held_out
            assert not set(map(tuple, rung.task.combinations("train").tolist())) & held_out


@pytest.mark.parametrize("form", ["told", "untold"])
@pytest.mark.parametrize("shots", [0, 4])
def test_prompts_are_pinned(board, form, shots):
    checksum = hashlib.sha256()
    for rung in LADDER:
        solved = rung.task.sample("train", 2**40, shots * COUNT) if shots else None
        asked = rung.task.sample(rung.split, 0, COUNT)
        for prompt in text.render(asked, rung.K, form, shots=solved):
            checksum.update(prompt.encode() + b"\0")
    assert board.prompts[f"{form}-{shots}-shot"] == checksum.hexdigest()


def test_floors_and_chance_are_those_of_the_replies(board):
    replies = board.task.references.predictors["copy-last-panel"].predict("ladder", 16_000, 0)
    scores = board.score("ladder", replies).metrics
    for rung in board.rungs:
        M, K = rung["settings"].values()
        assert scores[rung["metric"]].mean == rung["floors"]["copy-last-panel"]
        assert rung["chance"] == K**-M and rung["ceilings"]["board"] == {"value": 1.0, "standard_error": 0.0}
        assert rung["ceilings"]["any"]["value"] < 1
    assert board.chance == pytest.approx(np.mean([rung["chance"] for rung in board.rungs]))
    # M = 1 to 8 at K = 8, as other instances gave them.
    measured = [rung["ceilings"]["any"] for rung in board.rungs[:6]]
    for found, value in zip(measured, (0.994, 0.979, 0.957, 0.927, 0.849, 0.754), strict=True):
        assert found["value"] == pytest.approx(value, abs=4 * found["standard_error"] + 5e-4)


def test_board_without_its_prompts_is_told_of():
    changed = {**text_contents()[BOARD], "prompts": {"told-0-shot": "0" * 64}}
    with pytest.raises(BoardError, match="the prompts of form told-0-shot aren't those of the board"):
        Board.from_content(changed).check_all()
    text_board().check_all()
    for change in ({"prompts": {}}, {"rungs": []}, {"prediction": {"dtype": "uint8", "shape": [3]}}):
        with pytest.raises(BoardError, match=r"prompts|rungs"):
            Board.from_content({**text_contents()[BOARD], **change})


# Scores


def test_right_replies_score_one_and_a_babbler_nothing():
    scores = text_board().score("ladder", right_replies()).metrics
    assert {scores[name].mean for name in scores if name.startswith("accuracy")} == {1.0}
    babble = text_board().score("ladder", [BABBLE] * 44).metrics
    assert (babble["accuracy"].mean, babble["unparsed"].mean, babble["accuracy_parsed"].mean) == (0, 1, None)


def test_each_rung_is_scored_apart_and_what_is_unparsed_too():
    replies = right_replies()
    replies[0] = replies[12] = "Answer: [0]\nor so"
    replies[13] = "Answer: [0 0]" if "[0 0]" not in replies[13] else "Answer: [1 1]"
    replies[30] = None
    scores = text_board().score("ladder", replies).metrics
    found = {name: round(score.mean * (44 if "." not in name else 11)) for name, score in scores.items()}
    assert (found["accuracy"], found["unparsed"]) == (40, 3)
    assert scores["accuracy_parsed"].mean == pytest.approx(40 / 41)
    rungs = ("M1-K7", "M2-K7", "M3-K7", "M2-K9")
    assert [found[f"accuracy.{rung}"] for rung in rungs] == [10, 9, 10, 11]
    assert [found[f"unparsed.{rung}"] for rung in rungs] == [1, 1, 1, 0]


def test_symbols_of_another_rung_are_no_answer():
    """8 is a symbol of the last rung alone, and three features are a panel of the third alone."""
    replies = ["Answer: [8 8]"] * 22 + ["Answer: [8 8 8]"] * 11 + ["Answer: [8 8]"] * 11
    scores = text_board().score("ladder", replies).metrics
    assert scores["unparsed"].mean == 33 / 44 and scores["unparsed.M2-K9"].mean == 0


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ("Answer: [0]", "is a str; expected a list of texts"),
        (["Answer: [0]"], "has 1 texts; expected 44, one for each instance"),
        ([b"Answer: [0]"] * 44, "row 0 is a bytes; expected a text or None"),
        ([None] * 43 + ["x" * 40_000], "row 43 has 40,000 bytes; expected 32,768 or fewer: keep the end"),
        (["\ud800"] * 44, "row 0 has half of a surrogate pair"),
    ],
)
def test_what_is_no_reply_is_refused(replies, message):
    with pytest.raises(ConfigurationError, match=message):
        text_board().score("ladder", replies)


# The task


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rungs": ()}, "expected names of settings"),
        ({"rungs": ("M4",)}, "expected the name of a setting, such as M4-K8"),
        ({"rungs": ("M4-K256",)}, "K of M4-K256=256"),
        ({"rungs": ("M13-K8",)}, "M=13"),
        ({"size": 0}, "size=0"),
        ({"holdout": 1.5}, "holdout=1.5"),
    ],
)
def test_wrong_ladders_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        Ladder(**values)


def test_ladder_has_no_datasets_and_says_what_to_do():
    with pytest.raises(ConfigurationError, match="sraven-text has no datasets: `sraven text generate`"):
        rows_of(Ladder())
    with pytest.raises(ConfigurationError, match=r"task='sraven-text': .*sraven, fuzzylogic"):
        make_task(Ladder().config)


def test_the_same_puzzles_are_those_of_the_board_with_one_answer(board):
    """Whoever trains on sraven-unique-v1 has seen none of the questions of its setting."""
    assert board.task.tasks[3] == SRAVEN(M=4, K=8, holdout=0.25, seed=0, answers="unique", version="1")


@pytest.fixture(scope="module", autouse=True)
def _boards(tmp_path_factory):
    contents = {**text_contents(), ID: read_board(ID).content}
    with only_boards(tmp_path_factory.mktemp("boards"), contents):
        yield
