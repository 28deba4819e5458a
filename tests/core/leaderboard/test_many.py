"""Many submissions at once: the scores that each has alone, whatever is beside it."""

import shutil
from collections import Counter

import pytest

from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, write
from sraven import score_submission
from sraven.core.boards.board import Board
from sraven.core.leaderboard import many
from sraven.core.leaderboard.filed import Fault
from sraven.core.leaderboard.many import SharedBoards, score_folder, score_folders

pytestmark = pytest.mark.usefixtures("small_boards")


def test_scores_are_those_that_each_has_alone(originals, tmp_path):
    folders = [
        originals[SRAVEN_BOARD],
        tmp_path / "nothing",
        originals[FUZZY_BOARD],
        originals[SRAVEN_BOARD],
    ]
    alone = {folder: score_submission(folder) for folder in originals.values()}
    for threads in (1, 3):
        found = list(score_folders(folders, threads=threads))
        fault = found.pop(1)
        assert fault == Fault(str(folders[1]), f"{folders[1]} isn't the directory of a submission")
        assert [one.folder for one in found] == [folders[0], *folders[2:]]
        assert all(one.scores == alone[one.folder] for one in found)
    assert [one.unranked == () for one in found] == [True, False, True]


def test_what_breaks_is_told_and_hides_nothing(originals, tmp_path, monkeypatch):
    folder = shutil.copytree(originals[SRAVEN_BOARD], tmp_path / "broken")

    def open_or_break(path, *rest):
        if path == folder:
            raise RecursionError("deep")
        return opens(path, *rest)

    opens = many.open_submission
    monkeypatch.setattr(many, "open_submission", open_or_break)
    broken, right = score_folders([folder, originals[SRAVEN_BOARD]])
    assert broken == Fault(str(folder), "RecursionError: deep") and not isinstance(right, Fault)


def test_labels_of_a_board_are_rebuilt_once(originals, monkeypatch):
    checked = Counter()

    def check(board, split, instances=None):
        checked[board.id, split] += 1
        return checks(board, split, instances)

    checks = Board.check
    monkeypatch.setattr(Board, "check", check)
    list(score_folders([originals[SRAVEN_BOARD], originals[FUZZY_BOARD]] * 2, threads=2))
    assert set(checked.values()) == {1} and len(checked) == 4
    boards = SharedBoards()
    board = boards(SRAVEN_BOARD)
    assert boards(SRAVEN_BOARD) is board and board.labels("ood") is board.labels("ood")


def test_what_is_not_ranked_is_told_with_what_to_do(tmp_path):
    found = score_folder(write(tmp_path / "submission", SRAVEN_BOARD, seeds=2))
    assert [each.rule for each in found.unranked] == ["seeds"]
    assert found.content["ranked"] is False
    assert found.content["unranked_because"] == [each._asdict() for each in found.unranked]
