"""The commands about boards and submissions, on a board of a corpus."""

import json
import re
from pathlib import Path

import pytest

from helpers.corpus_submissions import CORPUS_BOARD, SIZE, corpus_board, losses
from helpers.submissions import SRAVEN_BOARD
from sraven import score_submission
from sraven.core.boards.board import read_board
from sraven.core.submissions.corpus import fingerprint


@pytest.fixture
def filed(done, corpus_boards, corpus_original, leaderboard):
    """The submission as it lies in the leaderboard."""
    return Path(done("submit", corpus_original, "--leaderboard", leaderboard).splitlines()[0])


UNPINNED = (
    f"no fingerprint of the documents of {CORPUS_BOARD} is pinned yet, so none of its entries is ranked"
)


@pytest.fixture
def pinned(monkeypatch):
    """The fingerprint of these documents is pinned."""
    pins = {corpus_board().digest: {"validation": fingerprint(corpus_board().labels("validation", losses()))}}
    monkeypatch.setattr("sraven.core.leaderboard.ranking.read_pins", lambda: pins)


def cells(line):
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def test_board_is_listed_with_its_unit(run):
    _, out, _ = run("boards")
    [line] = [line for line in out.splitlines() if "c4-v1" in line]
    assert cells(line) == [
        "c4-v1",
        "Language modelling on C4",
        "validation loss",
        "130,000,000,000 tokens",
        read_board("c4-v1").digest[:12],
    ]
    _, out, _ = run("boards", "--json")
    units = {board["id"]: board["budget_unit"] for board in json.loads(out)}
    assert units.pop("c4-v1") == "tokens" and set(units.values()) == {"instances"}


def test_board_is_shown(done):
    out = done("boards", "c4-v1")
    tokenizer = "15d8dfa11996e0d1e8645897ec4d70b1dec6a7cb6d87df0daf560a3cde479006"
    assert out.splitlines() == [
        "c4-v1: Language modelling on C4",
        "config:  version=1, dataset=allenai/c4, configuration=en, split=validation, documents=364608, "
        f"tokenizer_sha256={tokenizer}, pieces=32101",
        f"digest:  {read_board('c4-v1').digest}",
        "budget:  130,000,000,000 training tokens",
        "ranked:  by loss on validation",
        "splits:  364,608 documents of validation",
        "scores:  self-reported, as the text isn't part of the benchmark",
        "fingerprint of the documents of validation: none is pinned yet, so nothing is ranked",
    ]


def test_check_says_that_there_is_nothing_to_check(run, corpus_boards):
    code, _, err = run("boards", "--check")
    assert code == 0
    assert err.splitlines() == [
        f"{SRAVEN_BOARD}: every instance is the board's",
        f"{CORPUS_BOARD}: a corpus has no digests to check",
    ]


def test_scores_are_printed_with_the_fingerprint(run, done, corpus_boards, corpus_original):
    out = done("score", corpus_original)
    found = score_submission(corpus_original)["splits"]["validation"]
    lines = out.splitlines()
    assert f"validation: {SIZE} instances, 3 seeds" in out
    assert f"fingerprint of the documents of validation: {found['fingerprint']}" in lines
    for name in ("loss", "perplexity", "bits_per_byte"):
        [line] = [line for line in lines if line.startswith(f"│ {name} ")]
        assert f"{found['metrics'][name]['mean']:.4f}" in line
    assert "gap" not in out
    _, out, _ = run("score", corpus_original, "--json")
    printed = json.loads(out)
    [reason] = printed.pop("unranked_because")
    assert (printed.pop("ranked"), reason["rule"]) == (False, "documents")
    assert printed == score_submission(corpus_original)


def test_filed_scores_pass_the_check_until_they_are_changed(run, filed):
    assert run("score", "--check", filed)[0] == 0
    scores = json.loads((filed / "scores.json").read_text())
    scores["splits"]["validation"]["fingerprint"] = "0" * 64
    (filed / "scores.json").write_text(json.dumps(scores))
    code, _, err = run("score", "--check", filed)
    assert code == 1
    assert "splits.validation.fingerprint isn't what the predictions score" in err


def test_standing_is_printed_in_tokens_without_a_gap(done, filed, leaderboard, pinned):
    out = done("leaderboard", CORPUS_BOARD, "--leaderboard", leaderboard)
    lines = out.splitlines()
    assert lines[0].strip() == f"{CORPUS_BOARD}: A few documents"
    columns = ["rank", "method", "badge", "validation loss", "95 % over instances", "parameters", "tokens"]
    assert cells(lines[2]) == columns
    found = score_submission(filed)["splits"]["validation"]["metrics"]["loss"]
    row = cells(lines[4])
    assert row[:3] == ["1", "A method", "self-reported"] and row[5:] == ["1,000", "4,000"]
    assert row[3].startswith(f"{found['mean']:.4f} ± ")


def test_nothing_is_ranked_before_a_fingerprint_is_pinned(run, filed, leaderboard, tmp_path):
    code, out, err = run("leaderboard", CORPUS_BOARD, "--leaderboard", leaderboard)
    assert (code, err, out.splitlines()[-1]) == (0, "", UNPINNED)
    assert out.count(UNPINNED) == 1 and cells(out.splitlines()[4])[0] == ""
    _, out, _ = run("leaderboard", CORPUS_BOARD, "--json", "--leaderboard", leaderboard)
    [standing] = json.loads(out)["boards"]
    assert standing["note"] == standing["entries"][0]["remark"] == UNPINNED
    _, out, _ = run("leaderboard", "--leaderboard", leaderboard, "--html", tmp_path / "page")
    assert UNPINNED.removeprefix("no ") in Path(out.strip()).read_text()


def test_board_without_entries_is_a_line(done, corpus_boards, leaderboard):
    for arguments in ((), (CORPUS_BOARD,)):
        out = done("leaderboard", *arguments, "--leaderboard", leaderboard)
        assert out.splitlines()[-1] == f"{CORPUS_BOARD}: A few documents (no entries yet); {UNPINNED}"


def test_dataset_of_it_is_none(run, tmp_path):
    """Nothing makes one; what says that it is one is refused by the name of its task."""
    config = {"task": "c4", "version": "1"}
    manifest = {"layout": 1, "config": config, "config_name": "x", "sizes": {"validation": 1}}
    manifest |= {"file_format": "parquet", "pyarrow": "1.0", "splits": {}, "columns": []}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    code, _, err = run("verify", tmp_path)
    assert code == 2 and err.startswith("error: task='c4': ")
