"""`sraven boards` and `sraven freeze`: what they print, and their exit codes."""

import json
import re
from functools import partial

import pytest
import yaml

from helpers.checkout import REPOSITORY
from helpers.corpus_submissions import CORPUS_BOARD, DEFINITION, corpus_board
from helpers.submissions import (
    DEFINITIONS,
    FUZZY_BOARD,
    SRAVEN_BOARD,
    small_board,
    small_contents,
    snapshot,
    use_boards,
)
from sraven import load_board
from sraven.core.boards.board import board_ids, read_board
from sraven.core.boards.freeze import make_board


def test_boards_are_listed(done):
    out = done("boards")
    for name in board_ids():
        assert name in out
        assert read_board(name).digest[:12] in out
    assert out.index("sraven-v1") < out.index("fuzzylogic-v1") < out.index("(diagnostic)")


def test_boards_are_listed_for_programs(run):
    _, out, _ = run("boards", "--json")
    assert [(board["id"], board["digest"]) for board in json.loads(out)] == [
        (name, read_board(name).digest) for name in board_ids()
    ]


@pytest.mark.parametrize("name", ["sraven-v1", "fuzzylogic-v1", "c4-v1"])
def test_board_for_programs_is_its_file_and_digest(run, name):
    _, out, _ = run("boards", name, "--json")
    content = json.loads(out)
    assert content.pop("digest") == load_board(name).digest
    assert content == read_board(name).content


def test_board_is_shown(run, small_boards):
    code, out, _ = run("boards", SRAVEN_BOARD)
    board = small_board(SRAVEN_BOARD)
    assert code == 0
    for text in (board.digest, "M=3", "2,000 training instances", "by accuracy on ood", "first 4,096", "301"):
        assert text in out
    ceiling = board.content["ceiling"]["ood"]["knowing_split"]["accuracy"]["value"]
    assert f"accuracy {ceiling:.4f} ±" in out


def test_what_scores_are_read_against_is_shown(done):
    out = done("boards", "sraven-v1")
    for line in read_board("sraven-v1").reference_levels("ood"):
        score = f"{line.value:.4f} ± {line.standard_error:.4f}"
        assert re.search(rf"\n{line.title}: accuracy [^\n]* on test, {score} on ood\n  {line.meaning}\n", out)
    assert out.endswith("chance: accuracy 0.0002441 on test, 0.0002441 on ood\n")


def test_lines_are_measured_for_the_boards_that_are_named(run, monkeypatch, tmp_path):
    measured = {"board": "sraven-m8-v1", "lines": {}}
    monkeypatch.setattr("sraven.core.boards.reference_levels.measure_board", lambda board: measured)
    (tmp_path / "sraven" / "boards").mkdir(parents=True)
    defined = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"
    code, out, _ = run("freeze", defined, "sraven-m8-v1", "c4-v1", "--lines", "--out", tmp_path)
    path = tmp_path / "sraven" / "boards" / "lines.yaml"
    assert (code, out) == (0, f"written: {path}\n")
    assert yaml.safe_load(path.read_text()) == {read_board("sraven-m8-v1").digest: measured}


def test_unknown_board_is_one_line(refused):
    err = refused("boards", "sraven-v3")
    assert re.fullmatch(r"error: there is no board 'sraven-v3'; did you mean sraven-v1, [^\n]*\n", err)


def test_boards_are_checked(run, small_boards, monkeypatch, tmp_path):
    code, _, err = run("boards", "--check")
    assert code == 0
    assert err.splitlines() == [
        f"{name}: every instance is the board's" for name in (SRAVEN_BOARD, FUZZY_BOARD)
    ]
    splits = small_contents()[SRAVEN_BOARD]["splits"]
    train = {**splits["train"], "blocks": ["0" * 64]}
    changed = {**small_contents()[SRAVEN_BOARD], "splits": {**splits, "train": train}}
    use_boards(monkeypatch, tmp_path, {SRAVEN_BOARD: changed})
    code, _, err = run("boards", SRAVEN_BOARD, "--check")
    assert code == 2
    assert err.startswith(f"error: board {SRAVEN_BOARD}, split train: instances 0 to 4,095 aren't those of")


def test_boards_are_frozen_once(run, monkeypatch, tmp_path):
    freeze = "sraven.core.boards.freeze.make_board"
    monkeypatch.setattr(freeze, partial(make_board, train_digested=4_096))
    wanted = {
        tmp_path / "sraven" / "boards" / f"{SRAVEN_BOARD}.json": small_contents()[SRAVEN_BOARD],
        tmp_path / "fuzzylogic" / "boards" / f"{FUZZY_BOARD}.json": small_contents()[FUZZY_BOARD],
        tmp_path / "baselines" / "lm" / "boards" / f"{CORPUS_BOARD}.json": corpus_board().content,
    }
    for path in wanted:
        path.parent.mkdir(parents=True)
    definitions = tmp_path / "boards.yaml"
    definitions.write_text(yaml.safe_dump({"boards": [*DEFINITIONS, DEFINITION]}))
    code, out, _ = run("freeze", definitions, "--out", tmp_path)
    assert (code, out.splitlines()) == (0, [f"written: {path}" for path in wanted])
    assert {path: json.loads(path.read_text()) for path in wanted} == wanted
    _, out, _ = run("freeze", definitions, SRAVEN_BOARD, "--out", tmp_path)
    assert out == f"as it was: {next(iter(wanted))}\n"
    before = snapshot(tmp_path)
    for changed in ({**DEFINITIONS[0], "title": "Better"}, {**DEFINITION, "train_budget": 1}):
        definitions.write_text(yaml.safe_dump({"boards": [changed]}))
        code, _, err = run("freeze", definitions, "--out", tmp_path)
        assert code == 2 and re.fullmatch(r"error: [^\n]*released boards never change[^\n]*\n", err)
    found = snapshot(tmp_path)
    assert all(found[name] == each for name, each in before.items() if name != "boards.yaml")
