"""`sraven leaderboard` without a checkout, with one's own submission, and as tables for programs."""

import csv
import io
import json

import pytest

from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, snapshot, write
from sraven.core.leaderboard.export import COLUMNS
from sraven.core.leaderboard.snapshot import parse_snapshot


@pytest.fixture
def packaged(small_boards, run, filed, leaderboard, tmp_path, monkeypatch):
    """Make what is filed the standing that the package brings, and go where no checkout is."""
    path = tmp_path / "snapshot" / "standing.json"
    assert run("leaderboard", "--leaderboard", leaderboard, "--snapshot", path) == (0, f"{path}\n", "")
    monkeypatch.setattr(
        "sraven.core.leaderboard.snapshot._packaged", lambda: parse_snapshot(path.read_bytes())
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


NOTE = "the standing of 2026-11-21, as it came with sraven "


def test_without_a_checkout_the_standing_is_the_packages(run, packaged, leaderboard, tmp_path):
    code, out, err = run("leaderboard")
    assert code == 0 and err.startswith(NOTE) and err.count("\n") == 1
    assert out == run("leaderboard", "--leaderboard", leaderboard)[1] and "A method" in out
    code, out, err = run("leaderboard", "--html", "page")
    assert (code, out) == (0, "page/index.html\n") and err.startswith(NOTE)
    assert sorted(snapshot(tmp_path / "elsewhere" / "page")) == [
        "index.html",
        "leaderboard.csv",
        "leaderboard.json",
    ]


def test_in_a_checkout_the_standing_is_its_own(done, packaged, leaderboard, tmp_path):
    (tmp_path / "elsewhere" / "docs").mkdir()
    leaderboard.rename(tmp_path / "elsewhere" / "docs" / "leaderboard")
    assert "A method" in done("leaderboard")


def test_ones_own_stands_among_the_others(run, packaged, original, leaderboard, tmp_path):
    mine = write(tmp_path / "mine", SRAVEN_BOARD, seeds=2, method={"name": "[bold]mine"})
    before = snapshot(tmp_path)
    for arguments in ((), ("--leaderboard", leaderboard)):
        code, out, err = run("leaderboard", "--add", mine, *arguments)
        [line] = [line for line in out.splitlines() if " [bold]mine " in line]
        assert code == 0 and " yours " in line
        message = f"{mine}: yours, not filed; wouldn't be ranked: fewer than 3 seeds on test, ood"
        assert out.splitlines()[-1].startswith(message)
        assert err == "" if arguments else "compared with for copies" in err
    assert snapshot(tmp_path) == before


def test_its_rank_is_told_and_copies_are_known_in_a_checkout_alone(run, packaged, original, leaderboard):
    _, out, _ = run("leaderboard", "--add", original)
    assert "yours, not filed; would have rank 1 among those trained on up to 2,000 instances" in out
    _, out, _ = run("leaderboard", "--add", original, "--leaderboard", leaderboard)
    assert "wouldn't be ranked: predicts the same as sraven-small-v1/20261121-a-method, or nearly so" in out


def test_only_its_board_is_printed_but_programs_get_all(run, packaged, originals):
    mine = originals[FUZZY_BOARD]
    _, out, _ = run("leaderboard", "--add", mine)
    assert FUZZY_BOARD in out and SRAVEN_BOARD not in out and f"{mine}: yours, not filed" in out
    _, out, _ = run("leaderboard", "--add", mine, "--json")
    found = json.loads(out)
    assert {row["board"] for row in found["rows"]} == {FUZZY_BOARD, SRAVEN_BOARD}
    assert [row["entry"] for row in found["rows"] if row["own"]] == [str(mine)]


def test_table_is_printed_as_csv(done, packaged, leaderboard):
    out = done("leaderboard", "--csv", "--leaderboard", leaderboard)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == list(COLUMNS) and [row["badge"] for row in rows].count("scored") == 1


def test_snapshot_of_a_faulty_folder_is_refused(run, small_boards, filed, leaderboard, tmp_path):
    (leaderboard / "submissions" / "junk").write_text("")
    code, out, err = run(
        "leaderboard", "--leaderboard", leaderboard, "--snapshot", tmp_path / "standing.json"
    )
    assert (code, out) == (2, "") and err.startswith(
        "error: a snapshot has all that is filed, but junk is left"
    )
    assert not (tmp_path / "standing.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--add", "nowhere"), "nowhere isn't the directory of a submission"),
        (("--csv", "--json"), "--csv goes with neither --json nor --html"),
        (("--csv", "--html", "page"), "--csv goes with neither --json nor --html"),
        (("--snapshot", "file", "--json"), "--snapshot writes all that is filed"),
        (("--snapshot", "file", SRAVEN_BOARD), "--snapshot writes all that is filed"),
        (("--check-change", "main", "--csv"), "--check-change takes no board, and none of --add"),
    ],
)
def test_bad_usage_is_one_line_and_writes_nothing(
    refused, small_boards, arguments, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    assert refused("leaderboard", *arguments).startswith(f"error: {message}")
    assert snapshot(tmp_path) == before


def test_submission_to_another_board_is_refused(run, packaged, original):
    code, out, err = run("leaderboard", FUZZY_BOARD, "--add", original)
    message = f"error: {original} is for {SRAVEN_BOARD}, not {FUZZY_BOARD}; name that board, or none"
    assert (code, out) == (2, "") and err.startswith(message)
