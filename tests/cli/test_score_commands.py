"""`sraven score` and `sraven errors`: what they print, their exit codes, and what scoring doesn't import."""

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path

from baselines.lm.tokenizer import train_tokenizer
from helpers.python import python
from helpers.submissions import SRAVEN_BOARD, small_board, snapshot, write
from sraven.core.escape import with_error
from sraven.mistakes import KINDS
from sraven.scoring.scores import interval_over_combinations


def test_scores_are_printed(done, small_boards, original, scored, tmp_path):
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
    printed = done("score", original, "--json", "--out", tmp_path / "scores.json", "--threads", "1")
    report = json.loads(printed)
    composing, siblings = report["composing"], report["siblings"]
    assert composing | {"parts": None} == json.loads(
        json.dumps(asdict(small_board(SRAVEN_BOARD).composing(scores)))
    )
    assert re.search(rf"│ kept: held out / known +│ {composing['kept']['value']:.4f} ", out)
    lost = composing["parts"]["lost"]["value"]
    assert re.search(rf"│ +lost: known less held out +│ {lost:.4f} ", out) and "rows or partners" in out
    found = {"composing": composing, "siblings": siblings, "ranked": True, "unranked_because": []}
    assert report == scored | found and set(siblings) == {"test", "ood"}
    assert json.loads((tmp_path / "scores.json").read_text()) == scored


def test_a_link_that_leads_back_to_itself_is_no_submission(refused, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for out in ((), ("--out", tmp_path / "scores.json")):
        assert "isn't the directory of a submission" in refused("score", tmp_path / "loop", *out)
    assert not (tmp_path / "scores.json").exists()


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


def test_what_will_not_be_ranked_is_said_at_once(run, done, small_boards, leaderboard, tmp_path):
    one = write(tmp_path / "one", SRAVEN_BOARD, seeds=1)
    reason = "not ranked: fewer than 3 seeds on test, ood"
    assert done("score", one).splitlines()[-1].startswith(f"{reason}; ")
    folder, line, _, _, last = done("submit", one, "--leaderboard", leaderboard).splitlines()
    command = f"git add {folder} && git commit -m 'sraven-small-v1: A method' && gh pr create --fill"
    assert line.startswith(f"{reason}; ") and last == command
    assert (leaderboard / "submissions" / SRAVEN_BOARD).samefile(Path(folder).parent)
    assert re.fullmatch(r"\d{8}-a-method", Path(folder).name)
    standing = done("leaderboard", "--leaderboard", leaderboard)
    assert standing.splitlines()[-1] == f"{SRAVEN_BOARD}/{Path(folder).name}: {reason}"
    shutil.rmtree(folder)
    found = json.loads(done("submit", one, "--leaderboard", leaderboard, "--json"))
    assert (found["folder"], found["ranked"], found["pull_request"]) == (folder, False, command)
    assert [each["rule"] for each in found["unranked_because"]] == ["seeds"]


WORK = """
import sys
import sraven.leaderboard.columns
from cli.main import main
heavy = {"jax", "torch", "matplotlib", "datasets", "tensorflow", "grain", "sentencepiece", "jinja2"}
heavy |= {"sraven.harness", "inspect_ai", "lm_eval", "transformers", "sklearn"}
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as stop:
        assert stop.code == 0, line
    baselines = {name for name in sys.modules if name.startswith("baselines")}
    print(heavy & set(sys.modules), sorted(baselines), file=sys.stderr)
"""


def test_work_imports_no_heavy_library_that_it_does_not_need(tmp_path):
    """Scoring imports nothing of the baselines; preparing text, and drawing a log of other code, no JAX."""
    words = "".join(f"{one} {two} things\n" for one in "abcde" for two in "vwxyz")
    (tmp_path / "words.txt").write_text(words)
    (tmp_path / "own.model").write_bytes(train_tokenizer(words.splitlines(), 278).model)
    completion = {"id": "v1_M2-K8-unique_h25_s0_ood-3_told-0_0", "completion": "1 2"}
    (tmp_path / "completions.jsonl").write_text(json.dumps(completion))
    (tmp_path / "log.jsonl").write_text('{"step": 100, "loss": 2.5}\n{"step": 200, "loss": 2.0}\n')
    result = python(
        *("-c", WORK, "generate --M 2 --train 5 --test 5 --ood 5 --out raven"),
        *("reference fuzzylogic-points16-holdout30-v1 constant-mean --out s", "score s --json"),
        *("text generate --M 2 -n 3", "text score completions.jsonl"),
        *("leaderboard --leaderboard .", "boards"),
        "c4 prepare --tokenizer own.model --processes 1 --source words.txt --out tokens",
        "curves log.jsonl --out curves.svg",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    *_, scoring, preparing, drawing = result.stderr.splitlines()
    assert scoring == "set() []"
    assert preparing.startswith("{'sentencepiece'} ")
    assert "'jax'" not in drawing and (tmp_path / "curves.svg").is_file()


# Errors


def lines_of(out, name):
    """Return the cells of the rows with a name."""
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    return [row for row in rows if row[0] == name]


def test_errors_are_printed(done, small_boards, original):
    out, board = done("errors", original), small_board(SRAVEN_BOARD)
    found = json.loads(done("errors", original, "--json"))["splits"]
    for row, split in zip(lines_of(out, "all"), found, strict=True):
        assert f"{SRAVEN_BOARD}, {split}, 3 seeds: shares of the wrong ones" in out
        overall = found[split]["tables"]["overall"]["rows"][0]
        assert row[:2] == ["all", str(board.splits[split])]
        assert row[2].startswith(f"{overall['wrong']['mean']:.4f} ± ")
        for cell, kind in zip(row[3:], KINDS, strict=True):
            share = overall["of_wrong"][kind]
            assert cell == with_error(share["mean"], share["standard_error"])
    assert len(lines_of(out, "addition")) == len(lines_of(out, "distance to training: 0")) + 1 == 2
    assert all(f"{kind}: {meaning}" in out for kind, meaning in KINDS.items())
