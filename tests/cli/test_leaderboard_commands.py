"""`sraven submit`, `reference` and `leaderboard`: what they print, and their exit codes."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from helpers.example import all_bytes
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, description, edit, small_board, snapshot, write
from sraven import SubmissionError
from sraven.core.boards.ceilings import MeasuredCeiling
from sraven.core.boards.scoring import interval_over_combinations


def file(done, submission, leaderboard):
    """File a submission; return where it lies."""
    return Path(done("submit", submission, "--leaderboard", leaderboard).splitlines()[0])


def test_submission_is_filed(refused, done, small_boards, original, leaderboard):
    goal = file(done, original, leaderboard)
    assert goal.parent == leaderboard / "submissions" / SRAVEN_BOARD
    assert re.fullmatch(r"\d{8}-a-method", goal.name)
    assert set(all_bytes(goal)) == {*all_bytes(original), "scores.json"}
    err = refused("submit", original, "--leaderboard", leaderboard)
    assert re.fullmatch(r"error: [^\n]* exists; give the method another name[^\n]*\n", err)


def test_submission_is_not_filed_elsewhere(run, small_boards, original, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("submit", original)
    assert (code, err) == (
        2,
        "error: docs/leaderboard isn't a directory; run this in a checkout, or name it\n",
    )
    assert snapshot(tmp_path) == {}


def test_standing_is_printed(done, small_boards, scored, filed, leaderboard):
    out = done("leaderboard", "--leaderboard", leaderboard)
    score = scored["splits"]["ood"]["metrics"]["accuracy"]
    [line] = [line for line in out.splitlines() if "A method" in line]
    cells = [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
    assert cells[:3] == ["1", "A method", "scored"] and cells[6:] == ["1,000", "1,500"]
    interval = interval_over_combinations(scored["splits"]["ood"], "accuracy")
    assert cells[4] == "{:.4f} to {:.4f}".format(*interval)
    assert cells[3].startswith(f"{score['mean']:.4f} ± ")
    [line] = [line for line in out.splitlines() if "as reported" in line]
    cells = [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
    assert cells[:4] == ["", "as reported", "reported", "0.5500 ± 0.0100"]
    assert cells[4] == "" and cells[6:] == ["402,824", "2,000"]


def test_title_says_what_scores_are_read_against(run, small_boards, scored, filed, leaderboard, monkeypatch):
    board = small_board(SRAVEN_BOARD)
    lines = {"independent": MeasuredCeiling(0.75, 0.01), "composition-blind": MeasuredCeiling(0.05, 0.001)}
    known = {"ood": {name: {"accuracy": line} for name, line in lines.items()}}
    monkeypatch.setattr("sraven.core.boards.reference_levels.read_levels", lambda: {board.digest: known})
    _, out, _ = run("leaderboard", "--leaderboard", leaderboard)
    best = board.ceiling("ood", "accuracy").value
    message = f"; ceiling {best:.4f} (joint); exact marginals, random ties 0.7500; composition-blind 0.0500"
    assert message in " ".join(out.split("┏")[0].split())


def test_standing_for_programs(run, small_boards, scored, filed, leaderboard):
    for arguments in (("leaderboard", SRAVEN_BOARD), ("leaderboard",)):
        _, out, _ = run(*arguments, "--json", "--leaderboard", leaderboard)
        found = json.loads(out)
        [standing] = found["boards"]
        assert (standing["note"], found["left_out"]) == ("", [])
        assert (standing["board"], standing["digest"]) == (SRAVEN_BOARD, small_board(SRAVEN_BOARD).digest)
        [entry] = [entry for entry in standing["entries"] if entry["badge"] == "scored"]
        assert (entry["id"], entry["rank"], entry["method"]) == (
            f"{SRAVEN_BOARD}/{filed.name}",
            1,
            "A method",
        )
        score = scored["splits"]["ood"]["metrics"]["accuracy"]
        assert (entry["value"], entry["interval"]) == (score["mean"], score["interval"])


@pytest.mark.parametrize("name", ["[/x]", "[link=https://x.org]\\[é∞😀:smile:"])
def test_name_of_a_method_is_printed_as_it_is(done, small_boards, scored, filed, leaderboard, name):
    edit(filed, lambda content: content["method"].update(name=name))
    digest = hashlib.sha256((filed / "submission.yaml").read_bytes()).hexdigest()
    (filed / "scores.json").write_text(json.dumps({**scored, "submission_digest": digest}))
    assert f" {name} " in done("leaderboard", "--leaderboard", leaderboard)


def test_bad_entry_is_told_and_hides_none(run, small_boards, filed, leaderboard, tmp_path):
    """Exit code 1: something there is wrong. The standing and the page are made all the same."""
    shutil.copytree(filed, filed.with_name("20261121-nudged"))
    (filed.with_name("20261121-nudged") / "submission.yaml").write_text("\x1b[2J")
    (filed.with_name("00010101-backdated")).mkdir()
    (leaderboard / "reproduced.yaml").write_text(yaml.safe_dump({f"{SRAVEN_BOARD}/{filed.name}": False}))
    places = [
        f"{SRAVEN_BOARD}/00010101-backdated",
        f"{SRAVEN_BOARD}/20261121-nudged",
        f"reproduced.yaml: {SRAVEN_BOARD}/{filed.name}",
    ]
    code, out, err = run("leaderboard", "--leaderboard", leaderboard)
    assert code == 1 and "A method" in out and err.isascii() and "\x1b" not in err
    for line, place in zip(err.splitlines(), places, strict=True):
        assert line.startswith(f"left out: {place}: ")
    code, out, _ = run("leaderboard", "--json", "--leaderboard", leaderboard)
    found = json.loads(out)
    assert code == 1 and [fault["place"] for fault in found["left_out"]] == places
    assert [entry["rank"] for entry in found["boards"][0]["entries"] if entry["badge"] == "scored"] == [1]
    code, out, _ = run("leaderboard", "--leaderboard", leaderboard, "--html", tmp_path / "page")
    page = Path(out.strip()).read_text()
    assert code == 1 and "A method" in page and all(place in page for place in places)


def test_entry_without_a_rank_is_told_why(run, done, small_boards, original, leaderboard, tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": "ood"})
    name = file(done, folder, leaderboard).name
    code, out, err = run("leaderboard", "--leaderboard", leaderboard)
    message = f"{SRAVEN_BOARD}/{name}: not ranked: chosen by its scores on held-out combinations"
    assert (code, err, out.splitlines()[-1]) == (0, "", message)


def test_scores_are_kept_unless_fresh_ones_are_asked_for(run, small_boards, filed, leaderboard, monkeypatch):
    assert run("leaderboard", "--leaderboard", leaderboard)[0] == 0

    def refuse(*arguments):
        raise SubmissionError("is scored again")

    monkeypatch.setattr("sraven.core.leaderboard.evidence._compute", refuse)
    assert run("leaderboard", "--leaderboard", leaderboard)[0] == 0
    code, _, err = run("leaderboard", "--fresh", "--leaderboard", leaderboard)
    assert (code, err) == (1, f"left out: {SRAVEN_BOARD}/{filed.name}: is scored again\n")


def test_without_a_leaderboard_there_is_no_standing(refused, tmp_path):
    err = refused("leaderboard", "--leaderboard", tmp_path / "nowhere")
    assert err.startswith(f"error: there is no {tmp_path / 'nowhere'}; run this in a checkout")


def test_empty_leaderboard_has_what_papers_report(done, small_boards, leaderboard):
    assert "as reported" in done("leaderboard", "--leaderboard", leaderboard)


@pytest.mark.parametrize(
    ("board", "name", "seeds"),
    [
        (SRAVEN_BOARD, "uniform-random", 3),
        (SRAVEN_BOARD, "ideal-observer", 1),
        (FUZZY_BOARD, "constant-mean", 1),
    ],
)
def test_reference_is_written_and_filed_without_rank(
    run, done, small_boards, leaderboard, tmp_path, board, name, seeds
):
    out = done("reference", board, name, "--out", tmp_path / "reference")
    assert out.startswith(str(tmp_path / "reference"))
    content = description(tmp_path / "reference")
    assert content["method"]["name"] == name and content["method"]["family"] == "reference"
    assert len(content["runs"]) == 2 * seeds
    file(done, tmp_path / "reference", leaderboard)
    _, out, _ = run("leaderboard", board, "--json", "--leaderboard", leaderboard)
    [entry] = [entry for entry in json.loads(out)["boards"][0]["entries"] if entry["badge"] == "scored"]
    assert (entry["rank"], entry["seeds"], entry["method"]) == (None, seeds, name)
    assert entry["remark"].startswith("a reference, not a model")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SRAVEN_BOARD, "oracle"), "the reference='oracle': "),
        ((FUZZY_BOARD, "uniform-random"), "the reference='uniform-random': "),
        (("sraven-v9", "ideal-observer"), "there is no board 'sraven-v9'"),
    ],
)
def test_unknown_reference_is_refused(refused, small_boards, tmp_path, arguments, message):
    assert refused("reference", *arguments, "--out", tmp_path / "reference").startswith(f"error: {message}")
    assert snapshot(tmp_path) == {}
