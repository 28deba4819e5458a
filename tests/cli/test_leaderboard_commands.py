"""The commands about boards, submissions and the leaderboard: what they print, and their exit codes."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from helpers.example import all_bytes
from helpers.submissions import (
    DEFINITIONS,
    FUZZY_BOARD,
    SRAVEN_BOARD,
    description,
    edit,
    plant,
    predictions_file,
    small_board,
    small_contents,
    snapshot,
    truth,
    use_boards,
    write,
)
from sraven import SubmissionError, load_board, score_submission
from sraven.core.boards.board import board_ids, read_board


@pytest.fixture
def boards(monkeypatch, tmp_path_factory):
    """The small boards, in place of the packaged ones."""
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A submission; tests only read it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        return write(tmp_path_factory.mktemp("new") / "submission", SRAVEN_BOARD)


@pytest.fixture(scope="module")
def scored(original, tmp_path_factory):
    """What it scores."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        return score_submission(original)


@pytest.fixture
def leaderboard(tmp_path):
    (tmp_path / "leaderboard").mkdir()
    return tmp_path / "leaderboard"


@pytest.fixture
def filed(original, scored, leaderboard):
    """The submission as it lies in the leaderboard."""
    goal = leaderboard / "submissions" / SRAVEN_BOARD / "20261121-a-method"
    shutil.copytree(original, goal)
    (goal / "scores.json").write_text(json.dumps(scored))
    return goal


def file(run, submission, leaderboard):
    """File a submission; return where it lies."""
    code, out, err = run("submit", submission, "--leaderboard", leaderboard)
    assert (code, err) == (0, "")
    return Path(out.splitlines()[0])


# boards


def test_boards_are_listed(run):
    code, out, err = run("boards")
    assert (code, err) == (0, "")
    for name in board_ids():
        assert name in out
        assert read_board(name).digest[:12] in out
    assert out.index("sraven-v1") < out.index("fuzzylogic-v1") < out.index("(diagnostic)")


def test_boards_are_listed_for_programs(run):
    _, out, _ = run("boards", "--json")
    assert [(board["id"], board["digest"]) for board in json.loads(out)] == [
        (name, read_board(name).digest) for name in board_ids()
    ]


@pytest.mark.parametrize("name", ["sraven-v1", "fuzzylogic-v1", "sraven-features2-v1"])
def test_board_for_programs_is_its_file_and_digest(run, name):
    _, out, _ = run("boards", name, "--json")
    content = json.loads(out)
    assert content.pop("digest") == load_board(name).digest
    assert content == read_board(name).content


def test_board_is_shown(run, boards):
    code, out, _ = run("boards", SRAVEN_BOARD)
    board = small_board(SRAVEN_BOARD)
    assert code == 0
    for text in (board.digest, "M=3", "2,000 training instances", "by accuracy on ood", "first 4,096", "301"):
        assert text in out
    ceiling = board.content["ceiling"]["ood"]["knowing_split"]["accuracy"]["value"]
    assert f"accuracy {ceiling:.4f} ±" in out


def test_unknown_board_is_one_line(run):
    code, out, err = run("boards", "sraven-v3")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: there is no board 'sraven-v3'; did you mean sraven-v1, [^\n]*\n", err)


def test_boards_are_checked(run, boards, monkeypatch, tmp_path):
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


# score


def test_scores_are_printed(run, boards, original, scored):
    code, out, err = run("score", original)
    assert (code, err) == (0, "")
    scores = scored["splits"]
    for split, size in (("test", 301), ("ood", 199)):
        assert f"{split}: {size} instances, 3 seeds" in out
        for metric, score in scores[split]["metrics"].items():
            [line] = [line for line in out.splitlines() if line.startswith(f"│ {metric} ")]
            if score["mean"] is not None:
                assert f"{score['mean']:.4f} ± " in line
                assert "{:.4f} to {:.4f}".format(*score["interval"]) in line
    assert "gap of accuracy to the ceiling" in out


def test_scores_for_programs_are_the_librarys(run, boards, original, scored, tmp_path):
    _, out, _ = run("score", original, "--json", "--out", tmp_path / "scores.json", "--threads", "1")
    assert json.loads(out) == scored
    assert json.loads((tmp_path / "scores.json").read_text()) == scored


def test_missing_predictions_are_said(run, boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    plant(folder, predictions_file(truth(small_board(SRAVEN_BOARD), "test")[:300]))
    code, out, err = run("score", folder)
    assert code == 0 and "accuracy" in out
    assert err == "missing predictions, counted as wrong, by seed: {'test': [1, 0, 0]}\n"


def test_refused_submission_is_one_line(run, boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    (folder / "x.pkl").write_bytes(b"")
    before = snapshot(tmp_path)
    for options in ((), ("--json",), ("--check",), ("--out", tmp_path / "scores.json")):
        code, out, err = run("score", folder, *options)
        assert (code, out, err) == (2, "", "error: x.pkl: isn't part of a submission; remove it\n")
    assert snapshot(tmp_path) == before


def test_right_scores_pass_the_check(run, boards, filed):
    before = snapshot(filed)
    code, _, err = run("score", "--check", filed)
    assert (code, err) == (0, "")
    assert snapshot(filed) == before


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("splits", "ood", "metrics", "accuracy", "mean"), 0.99),
        (("splits", "test", "metrics", "rule.addition", "interval"), [0.1, 0.2]),
        (("splits", "ood", "by_combination", "accuracy", "mean"), []),
        (("splits", "ood", "gap_to_ceiling", "accuracy"), 0.0),
        (("submission_digest",), "0" * 64),
    ],
)
def test_changed_scores_are_found(run, boards, filed, place, value):
    scores = at = json.loads((filed / "scores.json").read_text())
    for name in place[:-1]:
        at = at[name]
    assert at[place[-1]] != value
    at[place[-1]] = value
    (filed / "scores.json").write_text(json.dumps(scores))
    code, _, err = run("score", "--check", filed)
    assert code == 1
    assert re.fullmatch(
        rf"{filed}/scores\.json: {re.escape('.'.join(place))}\S* isn't what the pred[^\n]*\n", err
    )


def test_scores_of_another_form_are_no_scores(run, boards, filed):
    (filed / "scores.json").write_text('{"schema": 2}')
    code, _, err = run("score", "--check", filed)
    assert (code, err) == (1, f"{filed}/scores.json: schema isn't what the predictions score\n")


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_scores_that_can_not_be_read_are_refused(run, boards, original, tmp_path, text):
    folder = shutil.copytree(original, tmp_path / "submission")
    if text is not None:
        (folder / "scores.json").write_text(text)
    code, _, err = run("score", "--check", folder)
    assert code == 2
    assert re.fullmatch(r"error: [^\n]*scores\.json[^\n]*\n", err)


# submit and leaderboard


def test_submission_is_filed(run, boards, original, leaderboard):
    goal = file(run, original, leaderboard)
    assert goal.parent == leaderboard / "submissions" / SRAVEN_BOARD
    assert re.fullmatch(r"\d{8}-a-method", goal.name)
    assert set(all_bytes(goal)) == {*all_bytes(original), "scores.json"}
    code, out, err = run("submit", original, "--leaderboard", leaderboard)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]* exists; give the method another name[^\n]*\n", err)


def test_submission_is_not_filed_elsewhere(run, boards, original, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("submit", original)
    assert (code, err) == (
        2,
        "error: docs/leaderboard isn't a directory; run this in a checkout, or name it\n",
    )
    assert snapshot(tmp_path) == {}


def test_standing_is_printed(run, boards, scored, filed, leaderboard):
    code, out, err = run("leaderboard", "--leaderboard", leaderboard)
    assert (code, err) == (0, "")
    score = scored["splits"]["ood"]["metrics"]["accuracy"]
    [line] = [line for line in out.splitlines() if "A method" in line]
    cells = [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
    assert cells[:3] == ["1", "A method", "scored"] and cells[5:] == ["1,000", "1,500"]
    assert cells[3].startswith(f"{score['mean']:.4f} ± ")
    [line] = [line for line in out.splitlines() if "as reported" in line]
    cells = [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
    assert cells[:4] == ["", "as reported", "reported", "0.5500 ± 0.0100"] and cells[5:] == [
        "402,824",
        "2,000",
    ]


def test_standing_for_programs(run, boards, scored, filed, leaderboard):
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


@pytest.mark.parametrize(
    "name", ["[/x]", "[bold]b[/bold]", "[link=https://x.org]y[/link]", "\\[", "é∞😀", ":smile:"]
)
def test_name_of_a_method_is_printed_as_it_is(run, boards, scored, filed, leaderboard, name):
    edit(filed, lambda content: content["method"].update(name=name))
    digest = hashlib.sha256((filed / "submission.yaml").read_bytes()).hexdigest()
    (filed / "scores.json").write_text(json.dumps({**scored, "submission_digest": digest}))
    code, out, _ = run("leaderboard", "--leaderboard", leaderboard)
    assert code == 0 and f" {name} " in out


def test_page_is_written(run, boards, filed, leaderboard, tmp_path):
    code, out, _ = run("leaderboard", "--leaderboard", leaderboard, "--html", tmp_path / "page")
    assert code == 0
    assert out.strip() == str(tmp_path / "page" / "index.html")
    assert "A method" in (tmp_path / "page" / "index.html").read_text()


def test_bad_entry_is_told_and_hides_none(run, boards, filed, leaderboard, tmp_path):
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


def test_entry_without_a_rank_is_told_why(run, boards, original, leaderboard, tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": "ood"})
    name = file(run, folder, leaderboard).name
    code, out, err = run("leaderboard", "--leaderboard", leaderboard)
    told = f"{SRAVEN_BOARD}/{name}: not ranked: chosen by its scores on held-out combinations"
    assert (code, err, out.splitlines()[-1]) == (0, "", told)


def test_scores_are_kept_unless_fresh_ones_are_asked_for(run, boards, filed, leaderboard, monkeypatch):
    assert run("leaderboard", "--leaderboard", leaderboard)[0] == 0

    def refuse(*arguments):
        raise SubmissionError("is scored again")

    monkeypatch.setattr("sraven.core.leaderboard.evidence._compute", refuse)
    assert run("leaderboard", "--leaderboard", leaderboard)[0] == 0
    code, _, err = run("leaderboard", "--fresh", "--leaderboard", leaderboard)
    assert (code, err) == (1, f"left out: {SRAVEN_BOARD}/{filed.name}: is scored again\n")


def test_without_a_leaderboard_there_is_no_standing(run, tmp_path):
    code, out, err = run("leaderboard", "--leaderboard", tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: there is no {tmp_path / 'nowhere'}; run this in a checkout")


def test_empty_leaderboard_has_what_papers_report(run, boards, leaderboard):
    code, out, _ = run("leaderboard", "--leaderboard", leaderboard)
    assert code == 0 and "as reported" in out


# reference and freeze


@pytest.mark.parametrize(
    ("board", "name", "seeds"),
    [
        (SRAVEN_BOARD, "uniform-random", 3),
        (SRAVEN_BOARD, "ideal-observer", 1),
        (FUZZY_BOARD, "constant-mean", 1),
    ],
)
def test_reference_is_written_and_filed_without_rank(run, boards, leaderboard, tmp_path, board, name, seeds):
    code, out, err = run("reference", board, name, "--out", tmp_path / "reference")
    assert (code, err) == (0, "") and out.startswith(str(tmp_path / "reference"))
    content = description(tmp_path / "reference")
    assert content["method"]["name"] == name and content["method"]["family"] == "reference"
    assert len(content["runs"]) == 2 * seeds
    file(run, tmp_path / "reference", leaderboard)
    _, out, _ = run("leaderboard", board, "--json", "--leaderboard", leaderboard)
    [entry] = [entry for entry in json.loads(out)["boards"][0]["entries"] if entry["badge"] == "scored"]
    assert (entry["rank"], entry["seeds"], entry["method"]) == (None, seeds, name)
    assert entry["remark"].startswith("a reference, not a model")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (SRAVEN_BOARD, "oracle"),
            "the reference='oracle': expected one of 'uniform-random', 'copy-last-panel'",
        ),
        ((FUZZY_BOARD, "uniform-random"), "the reference='uniform-random': expected one of 'constant-mean'"),
        (("sraven-v9", "ideal-observer"), "there is no board 'sraven-v9'"),
    ],
)
def test_unknown_reference_is_refused(run, boards, tmp_path, arguments, message):
    code, out, err = run("reference", *arguments, "--out", tmp_path / "reference")
    assert (code, out) == (2, "") and err.startswith(f"error: {message}")
    assert snapshot(tmp_path) == {}


def test_boards_are_frozen_once(run, monkeypatch, tmp_path):
    monkeypatch.setattr("sraven.core.boards.freeze.TRAIN_DIGESTED", 4_096)
    for family in ("sraven", "fuzzylogic"):
        (tmp_path / family / "boards").mkdir(parents=True)
    definitions = tmp_path / "boards.yaml"
    definitions.write_text(yaml.safe_dump({"boards": list(DEFINITIONS)}))
    code, out, _ = run("freeze", definitions, "--out", tmp_path)
    paths = [tmp_path / "sraven" / "boards" / f"{SRAVEN_BOARD}.json"]
    paths.append(tmp_path / "fuzzylogic" / "boards" / f"{FUZZY_BOARD}.json")
    assert (code, out.splitlines()) == (0, [f"written: {path}" for path in paths])
    assert [json.loads(path.read_text()) for path in paths] == list(small_contents().values())
    _, out, _ = run("freeze", definitions, SRAVEN_BOARD, "--out", tmp_path)
    assert out == f"as it was: {paths[0]}\n"
    before = snapshot(tmp_path)
    definitions.write_text(yaml.safe_dump({"boards": [{**DEFINITIONS[0], "title": "Better"}]}))
    code, _, err = run("freeze", definitions, "--out", tmp_path)
    assert code == 2 and re.fullmatch(r"error: [^\n]*released boards never change[^\n]*\n", err)
    assert all(snapshot(tmp_path)[name] == found for name, found in before.items() if name != "boards.yaml")


# What is imported


def test_scoring_imports_no_heavy_library(tmp_path):
    """On a packaged board, in processes that know nothing of this one.

    Of the baselines, only the packages are imported that hold a board, and their check of the environment.
    """
    code = f"""
import sys
from cli.main import main
for arguments in (
    ["reference", "fuzzylogic-points16-holdout30-v1", "nearest-neighbour", "--out", {str(tmp_path / "s")!r}],
    ["score", {str(tmp_path / "s")!r}, "--json"],
    ["leaderboard", "--leaderboard", {str(tmp_path)!r}],
    ["boards"],
):
    try:
        main(arguments)
    except SystemExit as stop:
        assert stop.code == 0, arguments
heavy = {{"jax", "torch", "matplotlib", "datasets", "tensorflow", "grain", "sentencepiece"}}
baselines = {{name for name in sys.modules if name.startswith("baselines")}}
print(heavy & set(sys.modules), sorted(baselines), file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = ["baselines", "baselines.compilation_cache", "baselines.lm"]
    assert (result.returncode, result.stderr) == (0, f"set() {expected}\n")
