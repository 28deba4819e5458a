"""A board loads if this installation makes its instances; what it gives, and what it takes to score."""

import re
from copy import deepcopy

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, small_contents, truth, use_boards
from sraven import SRAVEN, BoardError, ConfigurationError, load_board
from sraven.core.boards.board import read_board
from sraven.core.tasks.families import make_task

SMALL = (SRAVEN_BOARD, FUZZY_BOARD)


@pytest.mark.parametrize("name", [*SMALL, "sraven-v1", "fuzzylogic-points16-holdout30-v1"])
def test_board_that_is_right_loads(name, monkeypatch, tmp_path):
    if name in SMALL:
        use_boards(monkeypatch, tmp_path)
    board = load_board(name)
    assert board.id == name and board.task == make_task(board.content["config"])


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
        (FUZZY_BOARD, "train", 1, "terms", "0 to 4,095"),
        ("fuzzylogic-points96-holdout70-v1", "ood", 9_000, "targets", "8,192 to 16,383"),
    ],
)
def test_changed_label_is_found_on_loading(name, split, index, array, where, monkeypatch, tmp_path):
    if name in SMALL:
        use_boards(monkeypatch, tmp_path)
    change_instance(monkeypatch, split, index, array)
    with pytest.raises(BoardError) as error:
        load_board(name)
    message = str(error.value)
    assert message.startswith(f"board {name}, split {split}: instances {where} aren't those of the board")
    assert array in message or split == "train"
    assert "\n" not in message and "reinstall" in message


def test_loading_checks_the_first_block_of_train_and_check_the_rest(monkeypatch):
    change_instance(monkeypatch, "train", 70_000)
    board = load_board("sraven-features2-v1")
    board.check("train", instances=65_536)
    with pytest.raises(BoardError, match=r"split train: instances 65,536 to 131,071 .*\(target\)"):
        board.check("train")
    with pytest.raises(BoardError, match="split train: instances 65,536 to 131,071"):
        board.check("train", instances=65_537)


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
    with pytest.raises(BoardError, match=f"board {name}: the combinations of ood aren't"):
        load_board(name)


@pytest.mark.parametrize("key", ["sha256", "arrays"])
def test_digests_that_contradict_each_other_are_found(key, monkeypatch, tmp_path):
    contents = deepcopy(small_contents())
    entry = contents[SRAVEN_BOARD]["splits"]["ood"]
    entry.update(
        {"sha256": "0" * 64} if key == "sha256" else {"arrays": {**entry["arrays"], "rules": "0" * 64}}
    )
    use_boards(monkeypatch, tmp_path, contents)
    with pytest.raises(BoardError, match="contradict each other"):
        load_board(SRAVEN_BOARD)


@pytest.mark.parametrize(("name", "meant"), [("sraven-v2", "sraven-v1"), ("fuzzy-v1", "fuzzylogic-v1")])
def test_unknown_board_names_the_nearest(name, meant):
    with pytest.raises(ConfigurationError, match=rf"no board '{name}'; did you mean .*{meant}") as error:
        load_board(name)
    assert "sraven boards" in str(error.value)


@pytest.mark.parametrize("name", ["", "../sraven-v1", "zzz", 3, None, "sraven-v1.json", "sraven-v1\n"])
def test_what_is_no_name_of_a_board_is_refused(name):
    with pytest.raises(ConfigurationError, match="there is no board") as error:
        read_board(name)
    assert "\n" not in str(error.value)


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
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        small_board(SRAVEN_BOARD).sample(*arguments)


@pytest.mark.parametrize(
    ("name", "split", "change", "message"),
    [
        (SRAVEN_BOARD, "train", lambda array: array, "split='train': "),
        (SRAVEN_BOARD, "ood", lambda array: array[:-1], "[198, 3]"),
        (SRAVEN_BOARD, "ood", lambda array: array.astype(float), "float64"),
        (SRAVEN_BOARD, "ood", lambda array: array.astype(int) - 9, "a value outside 0 to 255"),
        (SRAVEN_BOARD, "ood", lambda array: array.astype(int) + 256, "a value outside 0 to 255"),
        (SRAVEN_BOARD, "ood", lambda array: 0 * array + 5, "row 0 has the symbol 5; symbols are 0 to 4"),
        (FUZZY_BOARD, "ood", lambda array: array.astype(int), "int64"),
        (FUZZY_BOARD, "ood", lambda array: array[:, None], "[157, 1]"),
        (FUZZY_BOARD, "ood", lambda array: np.where(np.arange(157) == 3, np.nan, array), "row 3 is nan"),
        (FUZZY_BOARD, "ood", lambda array: array + 1e300, "row 0 is inf; expected a finite number"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(name, split, change, message):
    board = small_board(name)
    array = truth(board, "ood").astype(float if name == FUZZY_BOARD else np.uint8)
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        board.score(split, change(array))


@pytest.mark.parametrize("kind", ["uint8", "int64", "uint64", "int8", "float32", "float64", "float16"])
def test_numbers_of_the_right_kind_are_predictions_whatever_their_width(kind):
    board = small_board(FUZZY_BOARD if kind.startswith("float") else SRAVEN_BOARD)
    scores = board.score("ood", truth(board, "ood").astype(kind))
    assert scores.metrics[board.metric].mean == pytest.approx(1, abs=1e-4)
