"""`sraven submit`, `reference` and `leaderboard`: what they print, and their exit codes."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from cli.commands.compare import _families
from helpers.example import all_bytes
from helpers.leaderboard_example import make_entry, make_reference
from helpers.repositories import commit, git
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, snapshot, write
from sraven.leaderboard.export import COLUMNS
from sraven.leaderboard.snapshot import parse_snapshot
from sraven.scoring.scores import interval_over_combinations


def test_standing_is_printed(done, small_boards, scored, filed, leaderboard, monkeypatch):
    board, score = small_board(SRAVEN_BOARD), scored["splits"]["ood"]["metrics"]["accuracy"]
    values = {"independent": 0.75, "composition-blind": 0.05}
    lines = {name: {"value": value, "standard_error": 0.01} for name, value in values.items()}
    known = {"ood": {name: {"accuracy": line} for name, line in lines.items()}}
    monkeypatch.setattr("sraven.board.reference_levels.read_levels", lambda: {board.digest: known})
    out = done("leaderboard", "--leaderboard", leaderboard)
    best = board.ceiling("ood", "accuracy").value
    message = f"; ceiling {best:.4f} (joint); exact marginals, random ties 0.7500; composition-blind 0.0500"
    assert message in " ".join(out.split("┏")[0].split())

    def cells(word):
        [line] = [line for line in out.splitlines() if word in line]
        return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]

    entry, reported = cells("A method"), cells("as reported")
    assert entry[:3] == ["1", "A method", "scored"] and entry[-2:] == ["1,000", "1,500"]
    assert entry[4] == "{:.4f} to {:.4f}".format(
        *interval_over_combinations(scored["splits"]["ood"], "accuracy")
    )
    assert entry[3].startswith(f"{score['mean']:.4f} ± ")
    assert reported[:5] == ["", "as reported", "reported", "0.5500 ± 0.0100", ""]
    assert reported[-2:] == ["402,824", "2,000"]


def test_a_submission_is_compared_with_one_and_with_all(
    done, refused, small_boards, filed, leaderboard, tmp_path
):
    other = write(tmp_path / "other", SRAVEN_BOARD, seeds=1, training={"instances": 900})
    options = ("--leaderboard", leaderboard)
    out = done("compare", other, filed.name, *options)
    assert "budgets differ: 900 and 1,500 training instances" in out and "one seed: how far" in out
    assert out.count("accuracy_unique") == 2
    found = json.loads(done("compare", other, "--against", "all", "--json", *options))
    [difference] = found["differences"]
    assert (found["metric"], difference["entry"]) == ("accuracy", f"{SRAVEN_BOARD}/{filed.name}")
    assert difference["p"] == difference["corrected"] and difference["family"] == "other networks"
    assert filed.name in done("compare", other, "--against", "all", *options)
    # An entry isn't compared with itself.
    assert "nothing on" in refused("compare", filed.name, "--against", "all", *options)
    assert "leave --threads out" in refused("compare", other, "--against", "all", "--threads", 1, *options)
    for line in ((other,), (other, filed.name, "--against", "all"), (other, "--against", "some")):
        assert "name a second submission, or give --against all, and not both" in refused("compare", *line)


def test_other_entries_are_compared_by_what_they_are():
    mine, near, far = (make_entry("a", 0.5, train_instances=number) for number in (1_400, 1_500, 900))
    reference, told = make_reference("b", 0.1), make_entry("c", 0.9, family="learnt ceiling")
    assert _families(mine, [told, far, near, reference]) == {
        "networks that saw as many instances": [near],
        "other networks": [far],
        "references and learnt ceilings": [told, reference],
    }


def test_bad_entry_is_told_and_hides_none(run, small_boards, filed, leaderboard, tmp_path):
    """Exit code 1: something there is wrong. The standing and the page are made all the same."""
    shutil.copytree(filed, filed.with_name("20261121-nudged"))
    (filed.with_name("20261121-nudged") / "submission.yaml").write_text("\x1b[2J")
    (filed.with_name("00010101-backdated")).mkdir()
    pins = {"reproduced": {"nobody": "0" * 64}}
    (leaderboard / "confirmed.yaml").write_text(yaml.safe_dump(pins))
    places = [f"{SRAVEN_BOARD}/00010101-backdated", f"{SRAVEN_BOARD}/20261121-nudged"]
    places.append("confirmed.yaml: reproduced: nobody")
    code, out, err = run("leaderboard", "--leaderboard", leaderboard)
    assert code == 1 and "A method" in out and err.isascii() and "\x1b" not in err
    for line, place in zip(err.splitlines(), places, strict=True):
        assert line.startswith(f"left out: {place}: ")
    code, out, _ = run("leaderboard", "--leaderboard", leaderboard, "--html", tmp_path / "page")
    page = Path(out.strip()).read_text()
    assert code == 1 and "A method" in page and all(place in page for place in places)
    found = json.loads((tmp_path / "page" / "leaderboard.json").read_text())
    assert [fault["place"] for fault in found["left_out"]] == places


# Without a checkout, with one's own submission, as tables


@pytest.fixture
def packaged(small_boards, run, filed, leaderboard, tmp_path, monkeypatch):
    """Make what is filed the standing that the package brings, and go where no checkout is."""
    path = tmp_path / "snapshot" / "standing.json"
    assert run("leaderboard", "--leaderboard", leaderboard, "--snapshot", path) == (0, f"{path}\n", "")
    monkeypatch.setattr("sraven.leaderboard.ranking.packaged", lambda: parse_snapshot(path.read_bytes()))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


NOTE = "the leaderboard of 2026-11-21, as it came with sraven "


def test_the_standing_is_the_packages(run, done, packaged, leaderboard):
    code, out, err = run("leaderboard")
    assert code == 0 and err.startswith(NOTE) and err.count("\n") == 1
    assert out == run("leaderboard", "--leaderboard", leaderboard)[1] and "A method" in out
    code, out, err = run("leaderboard", "--html", "page")
    assert (code, out) == (0, "page/index.html\n") and err.startswith(NOTE)
    assert set(all_bytes("page")) == {"index.html", "leaderboard.json"}
    content = json.loads(Path("page/leaderboard.json").read_text())
    assert content == json.loads(done("leaderboard", "--json", "--leaderboard", leaderboard))
    rows = content["rows"]
    assert list(rows[0]) == list(COLUMNS) and [row["badge"] for row in rows].count("scored") == 1


def test_ones_own_stands_among_the_others(run, done, packaged, original, leaderboard, tmp_path):
    name = "[/x][b]\\[é∞:smile:"
    mine = write(tmp_path / "mine", SRAVEN_BOARD, seeds=2, method={"name": name})
    before = snapshot(tmp_path)
    code, out, err = run("leaderboard", "--add", mine)
    [line] = [line for line in out.splitlines() if f" {name} " in line]
    assert code == 0 and " yours " in line and "compared with for copies" in err
    message = f"{mine}: yours, not filed; wouldn't be ranked: fewer than 3 seeds on test, ood"
    assert out.splitlines()[-1].startswith(message)
    assert snapshot(tmp_path) == before
    _, out, _ = run("leaderboard", "--add", original)
    assert "yours, not filed; would have rank 1 (1–2) among those trained on up to 2,000 instances" in out
    out = done("leaderboard", "--add", original, "--leaderboard", leaderboard)
    assert "wouldn't be ranked: predicts the same as sraven-small-v1/20261121-a-method, or nearly so" in out


def test_only_its_board_is_printed_but_programs_get_all(run, packaged, originals):
    mine = originals[FUZZY_BOARD]
    _, out, _ = run("leaderboard", "--add", mine)
    assert FUZZY_BOARD in out and SRAVEN_BOARD not in out and f"{mine}: yours, not filed" in out
    found = json.loads(run("leaderboard", "--add", mine, "--json")[1])
    assert {row["board"] for row in found["rows"]} == {FUZZY_BOARD, SRAVEN_BOARD}
    assert [row["entry"] for row in found["rows"] if row["own"]] == [str(mine)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("submit MINE", "docs/leaderboard isn't a directory; run this in a checkout, or name it"),
        ("leaderboard --leaderboard nowhere", "there is no nowhere; run this in a checkout"),
        (f"leaderboard {FUZZY_BOARD} --add MINE", "MINE is for sraven-small-v1, not fuzzylogic-small-v1; "),
        ("leaderboard --snapshot file --leaderboard . --json", "--snapshot writes all that is filed"),
        ("leaderboard --check-change main --html page", "--check-change looks at a change; leave --html out"),
        ("leaderboard --check-change main --leaderboard x", "--check-change looks at a change; leave --lead"),
        ("leaderboard sraven-v1 --checkout .", "--checkout is for --check-change; leave --checkout out"),
        ("leaderboard --snapshot file", "--snapshot needs --leaderboard"),
    ],
)
def test_bad_usage_is_one_line_and_writes_nothing(
    refused, small_boards, original, line, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    found = refused(*line.replace("MINE", str(original)).split())
    assert found.startswith(f"error: {message.replace('MINE', str(original))}")
    assert snapshot(tmp_path) == {}


# Changes of a checkout


def test_a_change_of_one_new_entry_may_be_merged(run, done, refused, small_boards, original, tmp_path):
    project = tmp_path / "project"
    folder = project / "docs" / "leaderboard"
    folder.mkdir(parents=True)
    (folder / "boards.yaml").write_text("boards: []\n")
    git(project, "init", "--quiet", "--initial-branch", "main")
    commit(project)
    assert run("submit", original, "--leaderboard", folder)[0] == 0
    commit(project)
    check = ("leaderboard", "--checkout", project, "--check-change")
    [line] = done(*check, "HEAD^").splitlines()
    assert line.startswith(f"docs/leaderboard/submissions/{SRAVEN_BOARD}/")
    assert line.endswith("-a-method: one new entry, and nothing else is touched")
    found = json.loads(done(*check, "HEAD^", "--json"))
    assert line.startswith(found["folder"]) and set(found["scores"]["splits"]) == {"test", "ood"}
    assert done(*check, "HEAD") == "nothing that decides ranks is changed\n"
    assert "git rev-parse" in refused(*check, "nowhere")
