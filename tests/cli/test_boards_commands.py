"""`sraven boards` and `sraven freeze`: what they print, and their exit codes."""

import json
import os
from copy import deepcopy
from functools import partial

import pytest
import yaml

from baselines.config import C4
from helpers.checkout import REPOSITORY
from helpers.submissions import DEFINITIONS, FUZZY_BOARD, SRAVEN_BOARD, small_contents, use_boards
from sraven.board.board import board_ids, read_board
from sraven.board.freeze import make_board


def test_boards_are_listed(done, refused):
    out = done("boards")
    found = json.loads(done("boards", "--json"))
    assert [(each["id"], each["digest"]) for each in found] == [
        (name, read_board(name).digest) for name in board_ids()
    ]
    assert all(each["id"] in out and each["digest"][:12] in out for each in found)
    assert out.index("sraven-v1") < out.index("fuzzylogic-v1") < out.index("(diagnostic)")
    for name in ("sraven-v1", "fuzzylogic-v1"):
        board = read_board(name)
        shown = json.loads(done("boards", name, "--json"))
        assert shown.pop("divergences", None) == (board.divergences and board.divergences._asdict())
        assert shown == {**board.content, "digest": board.digest}
    assert "there is no board 'sraven-v3'; did you mean sraven-v1" in refused("boards", "sraven-v3")
    told, page = refused("boards", C4.id), "docs/language-modelling.md"
    assert f"`sraven train {C4.id} --data TOKENS`" in told and page in told and (REPOSITORY / page).is_file()


@pytest.mark.parametrize("option", ["--levels", "--lines"])
def test_levels_are_measured_for_the_boards_that_are_named(done, monkeypatch, tmp_path, option):
    measured = {"board": "sraven-m8-v1", "lines": {}}
    monkeypatch.setattr("sraven.board.reference_levels.measure_board", lambda board: measured)
    path = tmp_path / "sraven" / "boards" / "levels.yaml"
    path.parent.mkdir(parents=True)
    defined = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"
    out = done("freeze", defined, "sraven-m8-v1", "sraven-text-v1", option, "--out", tmp_path)
    assert out == f"written: {path}\n"
    assert yaml.safe_load(path.read_text()) == {read_board("sraven-m8-v1").digest: measured}


def test_boards_are_checked(run, refused, small_boards, monkeypatch, tmp_path):
    code, _, err = run("boards", "--check")
    said = {f"{name}: every instance is the board's" for name in (SRAVEN_BOARD, FUZZY_BOARD)}
    assert code == 0 and set(err.splitlines()) == said
    changed = deepcopy(small_contents()[SRAVEN_BOARD])
    changed["splits"]["train"]["blocks"] = ["0" * 64]
    use_boards(monkeypatch, tmp_path, {SRAVEN_BOARD: changed})
    err = refused("boards", SRAVEN_BOARD, "--check")
    assert err.startswith(f"error: board {SRAVEN_BOARD}, split train: instances 0 to 4,095 aren't those of")


def test_boards_are_frozen_once(done, refused, monkeypatch, tmp_path):
    monkeypatch.setattr("sraven.board.freeze.make_board", partial(make_board, train_digested=4_096))
    wanted = {
        tmp_path / package / "boards" / f"{name}.json": content
        for package, (name, content) in zip(("sraven", "fuzzylogic"), small_contents().items(), strict=True)
    }
    for path in wanted:
        path.parent.mkdir(parents=True)
    definitions = tmp_path / "boards.yaml"
    definitions.write_text(yaml.safe_dump({"boards": DEFINITIONS}))
    out = done("freeze", definitions, "--out", tmp_path)
    assert out.splitlines() == [f"written: {path}" for path in wanted]
    assert {path: json.loads(path.read_text()) for path in wanted} == wanted
    out = done("freeze", definitions, SRAVEN_BOARD, "--out", tmp_path)
    assert out == f"as it was: {next(iter(wanted))}\n"
    definitions.write_text(yaml.safe_dump({"boards": [{**DEFINITIONS[0], "title": "Better"}]}))
    found = refused("freeze", definitions, "--out", tmp_path)
    assert "released boards never change: choose a new id and version" in found
    assert {path: json.loads(path.read_text()) for path in wanted} == wanted


def test_definitions_that_never_end_are_refused(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is no plain file" in refused("freeze", tmp_path / "pipe")
