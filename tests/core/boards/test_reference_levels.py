"""Reference levels beside a board's file: complete, measured, and tied to the file."""

from dataclasses import replace

import pytest
import yaml

from helpers.checkout import REPOSITORY
from sraven.core.base.errors import BoardError, ConfigurationError, OutputError
from sraven.core.boards import reference_levels
from sraven.core.boards.board import board_ids, read_board
from sraven.core.boards.reference_levels import (
    LEVELS_FILE,
    measure_board,
    parse_levels,
    read_levels,
    write_levels,
)
from sraven.core.tasks.families import find_family

WITH_LINES = [name for name in board_ids() if find_family(read_board(name).family).reference_levels]

OF_SRAVEN = [name for name in WITH_LINES if read_board(name).family == "sraven"]

STORED = {
    digest: entry
    for path in REPOSITORY.glob(f"*/boards/{LEVELS_FILE}")
    for digest, entry in yaml.safe_load(path.read_text()).items()
}


def test_every_board_of_a_family_with_lines_has_them_on_each_split():
    assert {entry["board"] for entry in STORED.values()} == set(WITH_LINES), "run `sraven freeze --lines`"
    for name in WITH_LINES:
        board = read_board(name)
        for split in board.splits:
            found = board.reference_levels(split)
            assert [line.name for line in found] == list(find_family(board.family).reference_levels)
            assert all(line.value <= 1 for line in found)


def test_lines_are_measured_again_the_same():
    name = "sraven-features2-v1"  # the smallest of those that this function measures, one split of it
    board = read_board(name)
    found, stored = measure_board(replace(board, covered={"ood": board.covered["ood"]})), STORED[board.digest]
    assert found["board"] == stored["board"] == name
    for line, metrics in stored["lines"]["ood"].items():
        assert found["lines"]["ood"][line]["accuracy"] == pytest.approx(metrics["accuracy"], abs=2e-6)


# Measured independently of this code: the observer's 0.051 on 51,200 instances.
def test_lines_agree_with_what_was_measured_elsewhere():
    [independent, blind] = read_board("sraven-v1").reference_levels("ood")
    assert abs(blind.value - 0.051) < 0.0005 + 3 * blind.standard_error
    assert abs(independent.value - 0.915) < 3 * 0.005
    assert (independent.is_baseline, blind.is_baseline) == (False, True)
    assert (independent.title, blind.title) == ("exact marginals, random ties", "composition-blind")


def test_lower_lines_lie_below_ceilings_on_held_out_splits():
    for board in map(read_board, OF_SRAVEN):
        joint = board.ceiling("ood", "accuracy").value
        [independent, blind] = board.reference_levels("ood")
        assert board.chance <= blind.value < joint
        assert independent.value <= joint + 4 * independent.standard_error


def test_a_board_has_its_lines_by_its_digest_alone(monkeypatch):
    board = read_board("sraven-v1")
    monkeypatch.setattr(reference_levels, "read_levels", lambda: {"0" * 64: read_levels()[board.digest]})
    assert board.reference_levels("ood") == ()
    assert read_board("c4-v1").reference_levels("validation") == ()
    assert board.reference_levels("ood", "feature_accuracy") == ()
    with pytest.raises(ConfigurationError, match="split='train'"):
        board.reference_levels("train")


@pytest.mark.parametrize(
    "text", [b"a: [", b"\xff", b"- 1", b"a: 3", b"a: {}", b"a: {lines: {ood: {x: {accuracy: 0.5}}}}"]
)
def test_damaged_file_of_lines_is_one_line(text):
    with pytest.raises(BoardError, match=r"^lines\.yaml of the boards is damaged; reinstall sraven$"):
        parse_levels(text)
    assert parse_levels(b"") == {}


def test_lines_are_written_beside_those_of_other_boards(monkeypatch, tmp_path):
    monkeypatch.setattr(reference_levels, "measure_board", lambda board: {"board": board.id, "lines": {}})
    one, other, text = map(read_board, ("sraven-v1", "sraven-m8-v1", "c4-v1"))
    with pytest.raises(OutputError, match=r"boards doesn't exist; run this in a checkout"):
        list(write_levels(tmp_path, [one]))
    path = tmp_path / "sraven" / "boards" / LEVELS_FILE
    path.parent.mkdir(parents=True)
    assert list(write_levels(tmp_path, [one, text])) == [path]
    assert list(write_levels(tmp_path, [other])) == [path]
    assert list(parse_levels(path.read_bytes())) == [one.digest, other.digest]
    assert list(write_levels(tmp_path, [text])) == []
