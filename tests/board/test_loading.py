"""A board loads if this installation makes its instances; what it gives, and what it takes to score."""

import re
from collections import Counter
from copy import deepcopy
from dataclasses import FrozenInstanceError
from pickle import dumps, loads

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, small_contents, truth, use_boards
from sraven import SRAVEN, BoardError, load_board
from sraven.board.board import Board, read_board
from sraven.board.content import find_fault
from sraven.core.spec import digest

SMALL = (SRAVEN_BOARD, FUZZY_BOARD)


def change_instance(monkeypatch, split, index, array="target"):
    """Make the generator change one byte of one instance."""
    kind = SRAVEN if array == "target" else FuzzyLogic
    sample = kind.sample

    def changed(self, name, start, count, **options):
        batch = sample(self, name, start, count, **options)
        if name == split and start <= index < start + count:
            getattr(batch, array)[index - start].reshape(-1).view(np.uint8)[-1] ^= 1
        return batch

    monkeypatch.setattr(kind, "sample", changed)


@pytest.mark.parametrize(
    ("name", "split", "index", "array", "where"),
    [
        (SRAVEN_BOARD, "test", 300, "target", "0 to 300"),
        (SRAVEN_BOARD, "train", 4_095, "target", "0 to 4,095"),
        (FUZZY_BOARD, "test", 17, "targets", "0 to 210"),
        ("fuzzylogic-points96-holdout70-v1", "ood", 9_000, "targets", "8,192 to 16,383"),
    ],
)
def test_changed_label_is_found_on_loading(name, split, index, array, where, monkeypatch, tmp_path):
    if name in SMALL:
        use_boards(monkeypatch, tmp_path)
    change_instance(monkeypatch, split, index, array)
    named = "" if split == "train" else rf" \({array}\)"
    said = f"^board {name}, split {split}: instances {where} aren't those of the board{named};.* reinstall"
    assert_refused(said, load_board, name, error=BoardError)


def test_loading_checks_the_first_block_of_train_and_check_the_rest(monkeypatch):
    change_instance(monkeypatch, "train", 70_000)
    board = load_board("sraven-features2-v1")
    board.check("train", instances=65_536)
    said = "split train: instances 65,536 to 131,071 "
    assert_refused(rf"{said}.*\(target\)", board.check, "train", error=BoardError)
    assert_refused(said, board.check, "train", instances=65_537, error=BoardError)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "fault", [lambda rows: rows.pop(), lambda rows: rows.reverse(), lambda rows: rows[0].reverse()]
)
def test_changed_list_of_combinations_is_found_on_loading(name, fault, monkeypatch, tmp_path):
    contents = {name: deepcopy(small_contents()[name])}
    fault(contents[name]["held_out"]["ood"])
    if contents[name] == small_contents()[name]:  # a combination of equal rules
        contents[name]["held_out"]["ood"][0][0] += 1
    use_boards(monkeypatch, tmp_path, contents)
    assert_refused(f"board {name}: the combinations of ood aren't", load_board, name, error=BoardError)


@pytest.mark.parametrize("key", ["sha256", "arrays"])
def test_digests_that_contradict_each_other_are_found(key, monkeypatch, tmp_path):
    contents = deepcopy(small_contents())
    entry = contents[SRAVEN_BOARD]["splits"]["ood"]
    entry.update(
        {"sha256": "0" * 64} if key == "sha256" else {"arrays": {**entry["arrays"], "rules": "0" * 64}}
    )
    use_boards(monkeypatch, tmp_path, contents)
    assert_refused("contradict each other", load_board, SRAVEN_BOARD, error=BoardError)


@pytest.mark.parametrize("name", ["", "../sraven-v1", "zzz", 3, None, "sraven-v1.json", "sraven-v1\n"])
def test_what_is_no_name_of_a_board_is_refused(name):
    assert_refused("there is no board .*; did you mean .* `sraven boards` lists all", read_board, name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dev", 0, 1), "split='dev': "),
        (("ood", 0, 200), "ood of sraven-small-v1 has 199"),
        (("ood", 200, 0), "start=200"),
        (("test", -1, 1), "start=-1"),
    ],
)
def test_what_lies_beyond_a_split_is_refused(arguments, message):
    assert_refused(re.escape(message), small_board(SRAVEN_BOARD).sample, *arguments)


@pytest.mark.parametrize(
    ("name", "split", "change", "message"),
    [
        (SRAVEN_BOARD, "train", lambda array: array, "split='train': "),
        (SRAVEN_BOARD, "ood", lambda array: array[:-1], "[198, 3]"),
        (SRAVEN_BOARD, "ood", lambda array: array.astype(float), "float64"),
        (SRAVEN_BOARD, "ood", lambda array: array.astype(int) - 9, "a value outside 0 to 255"),
        (SRAVEN_BOARD, "ood", lambda array: 0 * array + 5, "row 0 has the symbol 5; symbols are 0 to 4"),
        (FUZZY_BOARD, "ood", lambda array: array.astype(int), "int64"),
        (FUZZY_BOARD, "ood", lambda array: np.where(np.arange(157) == 3, np.nan, array), "row 3 is nan"),
        (FUZZY_BOARD, "ood", lambda array: array + 1e300, "row 0 is inf; expected a finite number"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(name, split, change, message):
    board = small_board(name)
    array = truth(board, "ood").astype(float if name == FUZZY_BOARD else np.uint8)
    assert_refused(re.escape(message), board.score, split, change(array))


@pytest.mark.parametrize("kind", ["uint8", "int64", "uint64", "int8", "float32", "float64", "float16"])
def test_numbers_of_the_right_kind_are_predictions_whatever_their_width(kind):
    board = small_board(FUZZY_BOARD if kind.startswith("float") else SRAVEN_BOARD)
    scores = board.score("ood", truth(board, "ood").astype(kind))
    assert scores.metrics[board.metric].mean == pytest.approx(1, abs=1e-4)


# A board as a typed value


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"series": "best"}, "series is 'best'; expected one of 'ranked', 'controls', 'holdout', 'features'"),
        ({"beauty": 1}, "has 'beauty'; expected only schema, id, "),
        ({"task": "fuzzylogic"}, "config.task is 'sraven'; expected 'fuzzylogic', as task says"),
        ({"ceiling": {"ood": {"guessing": {}}}}, "has a ceiling of an observer 'guessing'; expected knowing"),
        ({"held_out": {"ood": [[0, True]]}}, "held_out.ood[0][1] is True; expected an integer"),
        ({"held_out": {"ood": [[0, -1]]}}, "held_out.ood[0][1] is -1; expected 0"),
        ({"ceiling_definition": 1}, "has ceiling_definition: 1, which goes without saying"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_in_a_line(changes, message):
    fault = find_fault({**small_contents()[SRAVEN_BOARD], **changes})
    assert message in fault and "\n" not in fault


def test_what_is_missing_is_named():
    content = dict(small_contents()[SRAVEN_BOARD])
    del content["metric"]
    assert find_fault(content) == "lacks 'metric'" and "expected names and values" in find_fault([])


@pytest.mark.parametrize(
    ("board", "curriculum", "expected"),
    [
        ("sraven-camps3-v1", SRAVEN(M=2, holdout="camps"), 0),
        ("sraven-ring3-v1", SRAVEN(M=2, holdout="ring"), 0),
        ("sraven-camps3-v1", SRAVEN(M=2, holdout=0.25), 12),  # of 16
        ("sraven-camps3-v1", SRAVEN(M=2, holdout="camps", seed=2), 8),
        ("sraven-v1", SRAVEN(M=3, holdout=0.25), 0),  # each triple is in training
        ("sraven-v1", SRAVEN(M=4, holdout=0.25, seed=1), 62),
    ],
)
def test_what_a_curriculum_shows_of_what_is_held_out(board, curriculum, expected):
    leaks = read_board(board).leaks(curriculum)
    assert len(leaks) == expected
    held_out = {tuple(row) for row in read_board(board).task.combinations("ood").tolist()}
    assert all(any(not Counter(part) - Counter(row) for row in held_out) for part in leaks)


def test_a_curriculum_of_other_parts_is_refused():
    board = read_board("sraven-camps3-v1")
    assert_refused("holds out combinations of sraven with rule_set='paper'", board.leaks, FuzzyLogic())
    assert_refused("sraven-text-v2 holds nothing out", read_board("sraven-text-v2").leaks, SRAVEN())
