"""A board is what its file says, as a typed value: nothing more, nothing less, and the same file again."""

import re
from copy import deepcopy
from dataclasses import FrozenInstanceError
from pickle import dumps, loads

import pytest

from helpers.submissions import SRAVEN_BOARD, small_contents
from sraven.core.base.errors import BoardError
from sraven.core.base.spec import digest
from sraven.core.boards.board import Board, read_board
from sraven.core.boards.content import DEFAULTS, BoardSplit, Reported
from sraven.core.tasks.task import Column
from sraven.core.untrusted.schemas import read_schema


def test_fields_are_typed():
    board = read_board("sraven-v1")
    assert board.config["M"] == 4 and board.family == board.task.name == "sraven"
    assert board.is_ranked and not board.is_corpus and not read_board("sraven-features2-v1").is_ranked
    assert board.prediction == Column("prediction", "uint8", (4,), "what is predicted")
    assert board.train_budget in board.train_budgets and board.budget_unit == "instances"
    assert isinstance(board.covered["ood"], BoardSplit) and board.covered["ood"].instances == 51_200
    assert isinstance(board.reported[0], Reported) and board.reported[0].notes
    assert board.held_out["ood"][0] == tuple(board.task.combinations("ood")[0].tolist())
    assert board.ceilings["ood"]["split"]["accuracy"].value == board.ceiling("ood", "accuracy").value


def test_corpus_has_no_digests():
    board = read_board("c4-v1")
    assert board.is_corpus and board.budget_unit == "tokens" and board.held_out == board.ceilings == {}
    assert board.covered == {"validation": BoardSplit(board.splits["validation"])}


def test_board_is_frozen_and_its_content_a_copy():
    board = read_board("sraven-v1")
    with pytest.raises(FrozenInstanceError):
        board.title = "Better"
    content = board.content
    content["config"]["M"] = content["held_out"]["ood"][0][0] = 99
    content["splits"]["ood"]["blocks"].clear()
    assert digest(board.content) == board.digest != digest(content)


def test_changed_board_is_another():
    board = read_board("sraven-v1")
    other = Board.from_content({**board.content, "title": "Better"})
    assert other != board and other.digest != board.digest and other.title == "Better"
    assert loads(dumps(board)) == board and hash(loads(dumps(board))) == hash(board)
    size = "accuracy on ood; 51,200 of test, 51,200 of ood"
    assert repr(board) == f"<Board sraven-v1 ({board.digest[:12]}): {size}>"


@pytest.mark.parametrize("name", sorted(read_schema("board")["required"]))
def test_what_is_missing_is_named(name):
    content = {key: value for key, value in small_contents()[SRAVEN_BOARD].items() if key != name}
    with pytest.raises(BoardError, match=f"^the file of board .*: lacks '{name}'$"):
        Board.from_content(content)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"series": "best"},
            "series is 'best'; expected one of 'ranked', 'holdout', 'features', 'points', 'splits', 'twins'",
        ),
        ({"beauty": 1}, "has 'beauty'; expected only schema, id, "),
        ({"task": "fuzzylogic"}, "config.task is 'sraven'; expected 'fuzzylogic', as task says"),
        (
            {"ceiling": {"ood": {"guessing": {}}}},
            "has a ceiling of an observer 'guessing'; expected knowing_split",
        ),
        *(
            ({name: value}, f"has {name}: {value}, which goes without saying")
            for name, value in DEFAULTS.items()
        ),
    ],
)
def test_what_is_wrong_is_named_in_a_line(changes, message):
    content = {**deepcopy(small_contents()[SRAVEN_BOARD]), **changes}
    with pytest.raises(BoardError) as raised:
        Board.from_content(content)
    assert message in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (True, "is True; expected an integer"),
        ("2", "is '2'; expected an integer"),
        (-1, "is -1; expected 0"),
    ],
)
def test_one_wrong_count_among_thousands_is_found(count, message):
    content = read_board("sraven-v1").content
    content["held_out"]["ood"][40][3] = count
    with pytest.raises(BoardError, match=re.escape(f"held_out.ood[40][3] {message}")):
        Board.from_content(content)


@pytest.mark.parametrize("content", [[], "sraven-v1", None])
def test_what_is_no_file_is_refused(content):
    with pytest.raises(BoardError, match="expected names and values"):
        Board.from_content(content)
