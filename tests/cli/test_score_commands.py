"""`sraven score`: what it prints, its exit codes, and what it doesn't import."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.submissions import (
    FUZZY_BOARD,
    SRAVEN_BOARD,
    edit,
    plant,
    predictions_file,
    small_board,
    snapshot,
    truth,
    write,
)
from sraven.core.boards.scoring import interval_over_combinations


def test_scores_are_printed(done, small_boards, original, scored):
    out = done("score", original)
    scores = scored["splits"]
    for split, size in (("test", 301), ("ood", 199)):
        assert f"{split}: {size} instances, 3 seeds" in out
        for metric, score in scores[split]["metrics"].items():
            [line] = [line for line in out.splitlines() if line.startswith(f"│ {metric} ")]
            if score["mean"] is not None:
                assert f"{score['mean']:.4f} ± " in line
                over_combinations = interval_over_combinations(scores[split], metric)
                interval = over_combinations if metric == "accuracy" else score["interval"]
                assert "{:.4f} to {:.4f}".format(*interval) in line
    assert "(95 % intervals over combinations for accuracy, over instances for the others)" in out
    assert "gap of accuracy to the ceiling" in out
    [line] = [line for line in out.splitlines() if line.startswith("│ ceiling, joint, knowing the split ")]
    for split in ("test", "ood"):
        assert f"{small_board(SRAVEN_BOARD).ceiling(split, 'accuracy').value:.4f} ± " in line
    assert "accuracy is read against" in out and "│ chance " in out


def test_scores_for_programs_are_the_librarys(run, small_boards, original, scored, tmp_path):
    _, out, _ = run("score", original, "--json", "--out", tmp_path / "scores.json", "--threads", "1")
    assert json.loads(out) == {**scored, "ranked": True, "unranked_because": []}
    assert json.loads((tmp_path / "scores.json").read_text()) == scored


def test_missing_predictions_are_said(run, small_boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    plant(folder, predictions_file(truth(small_board(SRAVEN_BOARD), "test")[:300]))
    code, out, err = run("score", folder)
    assert code == 0 and "accuracy" in out
    assert err == "missing predictions, counted as wrong, by seed: {'test': [1, 0, 0]}\n"


def test_refused_submission_is_one_line(run, small_boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    (folder / "x.pkl").write_bytes(b"")
    before = snapshot(tmp_path)
    for options in ((), ("--json",), ("--check",), ("--out", tmp_path / "scores.json")):
        code, out, err = run("score", folder, *options)
        assert (code, out, err) == (2, "", "error: x.pkl: isn't part of a submission; remove it\n")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("place", "value"),
    [(("splits", "ood", "metrics", "accuracy", "mean"), 0.99), (("submission_digest",), "0" * 64)],
)
def test_changed_scores_are_found(run, small_boards, filed, place, value):
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


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_scores_that_can_not_be_read_are_refused(run, small_boards, original, tmp_path, text):
    folder = shutil.copytree(original, tmp_path / "submission")
    if text is not None:
        (folder / "scores.json").write_text(text)
    code, _, err = run("score", "--check", folder)
    assert code == 2
    assert re.fullmatch(r"error: [^\n]*scores\.json[^\n]*\n", err)


def test_work_imports_no_heavy_library_that_it_does_not_need(tmp_path):
    """On a packaged board, in a process that knows nothing of this one.

    Of the baselines, scoring imports only the packages that hold a board, and their check of the
    environment; preparing text imports what it needs, but no JAX.
    """
    (tmp_path / "words.txt").write_text(
        "".join(f"{one} {two} things\n" for one in "abcde" for two in "vwxyz")
    )
    code = f"""
import sys
from cli.main import main
for arguments in (
    [*"generate --M 2 --train 5 --test 5 --ood 5 --out".split(), {str(tmp_path / "raven")!r}],
    ["reference", "fuzzylogic-points16-holdout30-v1", "constant-mean", "--out", {str(tmp_path / "s")!r}],
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
try:
    line = "c4 prepare --tokenizer train --vocab-size 278 --processes 1 --source"
    main([*line.split(), {str(tmp_path / "words.txt")!r}, "--out", {str(tmp_path / "tokens")!r}])
except SystemExit as stop:
    print(stop.code, heavy & set(sys.modules), file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = [
        "baselines",
        *("baselines.lm", "baselines.lm.family"),
        *("baselines.training", "baselines.training.compilation_cache"),
    ]
    assert (result.returncode, result.stderr) == (0, f"set() {expected}\n0 {{'sentencepiece'}}\n")


def test_many_submissions_have_a_row_each(run, small_boards, original, originals, tmp_path):
    one = write(tmp_path / "one", SRAVEN_BOARD, seeds=1)
    code, out, err = run("score", original, one, tmp_path / "none", originals[FUZZY_BOARD])
    assert (code, err) == (1, "")
    rows = [line for line in out.splitlines() if line.startswith("│ ")]
    assert rows[0].rstrip(" │").endswith("yes")
    named = "".join(line.split("│")[1].strip() for line in rows)
    assert str(original) in named and str(tmp_path / "none") in named  # folded, and not cut
    assert "no: fewer than 3 seeds on test, ood" in out and "no: fuzzylogic-small-v1 is a diagnostic" in out
    assert "refused: " in out and "isn't the directory of a submission" in " ".join(out.split())


def test_many_scores_for_programs_are_a_list(run, refused, small_boards, original, scored, tmp_path):
    code, out, err = run("score", original, tmp_path / "none", original, "--json", "--threads", "1")
    assert (code, err) == (1, "")
    right = {"submission": str(original), **scored, "ranked": True, "unranked_because": []}
    reason = f"{tmp_path / 'none'} isn't the directory of a submission"
    assert json.loads(out) == [right, {"submission": str(tmp_path / "none"), "refused": reason}, right]
    found = refused("score", original, original, "--out", tmp_path / "scores.json")
    assert "--out takes the scores of one submission" in found


def test_many_filed_scores_are_checked_each(run, small_boards, original, filed, tmp_path):
    before = snapshot(filed)
    assert run("score", "--check", filed)[::2] == (0, "")
    assert snapshot(filed) == before
    changed = shutil.copytree(filed, tmp_path / "changed")
    (changed / "scores.json").write_text('{"schema": 2}')
    code, out, err = run("score", "--check", filed, changed, original)
    assert (code, err) == (1, f"{changed}/scores.json: schema isn't what the predictions score\n")
    assert "refused: scores.json" in out


def test_what_will_not_be_ranked_is_said_at_once(run, done, small_boards, leaderboard, tmp_path):
    one = write(tmp_path / "one", SRAVEN_BOARD, seeds=1)
    line = (
        "not ranked: fewer than 3 seeds on test, ood; predict every split with that many models, "
        "each trained with a seed of its own"
    )
    assert done("score", one).splitlines()[-1] == line
    code, out, err = run("submit", one, "--leaderboard", leaderboard)
    folder, message, _, last = out.splitlines()
    assert (code, err, message) == (0, "", line) and last == "Commit this folder and open a pull request."
    assert (leaderboard / "submissions" / SRAVEN_BOARD).samefile(Path(folder).parent)
    shutil.rmtree(folder)
    _, out, _ = run("submit", one, "--leaderboard", leaderboard, "--json")
    found = json.loads(out)
    assert (found["folder"], found["ranked"], found["pull_request"]) == (folder, False, None)
    assert [reason["rule"] for reason in found["unranked_because"]] == ["seeds"]


def test_trained_model_is_asked_how_many_settings_were_tried(run, done, small_boards, tmp_path):
    message = "note: training.tuning_trials is missing: say how many settings were tried, the chosen one"
    folder = write(tmp_path / "one", SRAVEN_BOARD)
    assert message not in run("score", folder)[1]
    edit(folder, lambda content: content["training"].pop("tuning_trials"))
    assert done("score", folder).splitlines()[-1].startswith(message)
    edit(folder, lambda content: content["training"].update(instances=0))
    assert message not in run("score", folder)[1]


def test_pull_request_without_a_client_files_nothing(
    refused, small_boards, original, leaderboard, monkeypatch
):
    monkeypatch.setenv("PATH", "")
    found = refused("submit", original, "--leaderboard", leaderboard, "--pr")
    assert "--pr needs GitHub's command-line client" in found
    assert not (leaderboard / "submissions").exists() or not list(
        (leaderboard / "submissions").rglob("*.yaml")
    )
