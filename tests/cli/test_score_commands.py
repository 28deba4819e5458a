"""`sraven score`: what it prints, its exit codes, and what it doesn't import."""

import json
import shutil
from pathlib import Path

from helpers.python import python
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


def test_refused_submission_is_one_line(run, small_boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    (folder / "x.pkl").write_bytes(b"")
    before = snapshot(tmp_path)
    for options in ((), ("--json",), ("--check",), ("--out", tmp_path / "scores.json")):
        code, out, err = run("score", folder, *options)
        assert (code, out, err) == (2, "", "error: x.pkl: isn't part of a submission; remove it\n")
    assert snapshot(tmp_path) == before


def test_missing_predictions_are_said(run, small_boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    plant(folder, predictions_file(truth(small_board(SRAVEN_BOARD), "test")[:300]))
    code, _, err = run("score", folder)
    assert (code, err) == (0, "missing predictions, counted as wrong, by seed: {'test': [1, 0, 0]}\n")


def test_many_submissions_have_a_row_each(run, refused, small_boards, original, originals, scored, tmp_path):
    folders = original, tmp_path / "none", originals[FUZZY_BOARD]
    code, out, err = run("score", *folders)
    assert (code, err) == (1, "")
    rows = [line for line in out.splitlines() if line.startswith("│ ")]
    assert rows[0].rstrip(" │").endswith("yes")
    named = "".join(line.split("│")[1].strip() for line in rows)
    assert str(original) in named and str(tmp_path / "none") in named  # folded, and not cut
    assert "no: fuzzylogic-small-v1 is a diagnostic" in out and "refused: " in out
    right, nothing, _ = json.loads(run("score", *folders, "--json", "--threads", "1")[1])
    assert right == {"submission": str(original), **scored, "ranked": True, "unranked_because": []}
    reason = f"{tmp_path / 'none'} isn't the directory of a submission"
    assert nothing == {"submission": str(tmp_path / "none"), "refused": reason}
    found = refused("score", original, original, "--out", tmp_path / "scores.json")
    assert "--out takes the scores of one submission" in found


def test_filed_scores_are_checked(run, small_boards, original, filed, tmp_path):
    before = snapshot(filed)
    assert run("score", "--check", filed)[::2] == (0, "")
    assert snapshot(filed) == before
    code, _, err = run("score", "--check", original)
    assert code == 2 and err.startswith("error: scores.json: ")
    changed = shutil.copytree(filed, tmp_path / "changed")
    scores = json.loads((filed / "scores.json").read_text())
    scores["splits"]["ood"]["metrics"]["accuracy"]["mean"] = 0.99
    (changed / "scores.json").write_text(json.dumps(scores))
    message = f"{changed}/scores.json: splits.ood.metrics.accuracy.mean isn't what the predictions score\n"
    assert run("score", "--check", changed)[::2] == (1, message)
    code, out, err = run("score", "--check", filed, changed, original)
    assert (code, err) == (1, message) and "refused: scores.json" in out


def test_what_will_not_be_ranked_is_said_at_once(run, done, small_boards, leaderboard, tmp_path):
    one = write(tmp_path / "one", SRAVEN_BOARD, seeds=1)
    reason = "not ranked: fewer than 3 seeds on test, ood"
    assert done("score", one).splitlines()[-1].startswith(f"{reason}; ")
    folder, line, _, last = done("submit", one, "--leaderboard", leaderboard).splitlines()
    assert line.startswith(f"{reason}; ") and last == "Commit this folder and open a pull request."
    assert (leaderboard / "submissions" / SRAVEN_BOARD).samefile(Path(folder).parent)
    standing = done("leaderboard", "--leaderboard", leaderboard)
    assert standing.splitlines()[-1] == f"{SRAVEN_BOARD}/{Path(folder).name}: {reason}"
    shutil.rmtree(folder)
    found = json.loads(done("submit", one, "--leaderboard", leaderboard, "--json"))
    assert (found["folder"], found["ranked"], found["pull_request"]) == (folder, False, None)
    assert [each["rule"] for each in found["unranked_because"]] == ["seeds"]


def test_trained_model_is_asked_how_many_settings_were_tried(done, small_boards, tmp_path):
    message = "note: training.tuning_trials is missing"
    folder = write(tmp_path / "one", SRAVEN_BOARD)
    assert message not in done("score", folder)
    edit(folder, lambda content: content["training"].pop("tuning_trials"))
    assert done("score", folder).splitlines()[-1].startswith(message)
    edit(folder, lambda content: content["training"].update(instances=0))
    assert message not in done("score", folder)


def test_pull_request_without_a_client_files_nothing(
    refused, small_boards, original, leaderboard, monkeypatch
):
    monkeypatch.setenv("PATH", "")
    found = refused("submit", original, "--leaderboard", leaderboard, "--pr")
    assert "--pr needs GitHub's command-line client" in found and snapshot(leaderboard) == {}


WORK = """
import sys
from cli.main import main
heavy = {"jax", "torch", "matplotlib", "datasets", "tensorflow", "grain", "sentencepiece"}
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as stop:
        assert stop.code == 0, line
    baselines = {name for name in sys.modules if name.startswith("baselines")}
    print(heavy & set(sys.modules), sorted(baselines), file=sys.stderr)
"""


def test_work_imports_no_heavy_library_that_it_does_not_need(tmp_path):
    """On a packaged board, in a process that knows nothing of this one.

    Of the baselines, scoring imports only the packages that hold a board, and their check of the
    environment; preparing text imports what it needs, but no JAX.
    """
    words = "".join(f"{one} {two} things\n" for one in "abcde" for two in "vwxyz")
    (tmp_path / "words.txt").write_text(words)
    result = python(
        *("-c", WORK, "generate --M 2 --train 5 --test 5 --ood 5 --out raven"),
        *("reference fuzzylogic-points16-holdout30-v1 constant-mean --out s", "score s --json"),
        *("leaderboard --leaderboard .", "boards"),
        "c4 prepare --tokenizer train --vocab-size 278 --processes 1 --source words.txt --out tokens",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    *_, scoring, preparing = result.stderr.splitlines()
    expected = ["baselines", "baselines.lm", "baselines.lm.family", "baselines.training"]
    assert scoring == f"set() {[*expected, 'baselines.training.compilation_cache']}"
    assert preparing.startswith("{'sentencepiece'} ")
