"""The commands about boards and submissions, on a board of a corpus."""

import json
import re
from pathlib import Path

import pytest

from helpers.corpus_submissions import CORPUS_BOARD, SIZE, corpus_board, losses
from sraven import score_submission
from sraven.board.board import read_board
from sraven.leaderboard.submissions.corpus import fingerprint


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
    monkeypatch.setattr("sraven.leaderboard.ranking.read_pins", lambda: pins)


def cells(line):
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def test_board_is_shown(done):
    out, board = done("boards", "c4-v1"), read_board("c4-v1")
    for text in (board.digest, board.config["tokenizer_sha256"], "130,000,000,000 training tokens"):
        assert text in out
    assert "by loss on validation" in out and "364,608 documents of validation" in out
    assert "none is pinned yet, so nothing is ranked" in out


def test_scores_are_printed_with_the_fingerprint(done, corpus_boards, corpus_original):
    out = done("score", corpus_original)
    scores = score_submission(corpus_original)
    found = scores["splits"]["validation"]
    assert f"validation: {SIZE} instances, 3 seeds" in out and "gap" not in out
    assert f"\nfingerprint of the documents of validation: {found['fingerprint']}\n" in out
    for name in ("loss", "perplexity", "bits_per_byte"):
        [line] = [line for line in out.splitlines() if line.startswith(f"│ {name} ")]
        assert f"{found['metrics'][name]['mean']:.4f}" in line
    printed = json.loads(done("score", corpus_original, "--json"))
    [reason] = printed.pop("unranked_because")
    assert (printed.pop("ranked"), reason["rule"], printed) == (False, "documents", scores)


def test_nothing_is_ranked_before_a_fingerprint_is_pinned(done, filed, leaderboard, tmp_path):
    (tmp_path / "empty").mkdir()
    for arguments in ((), (CORPUS_BOARD,)):
        out = done("leaderboard", *arguments, "--leaderboard", tmp_path / "empty")
        assert out.splitlines()[-1] == f"{CORPUS_BOARD}: A few documents (no entries yet); {UNPINNED}"
    out = done("leaderboard", CORPUS_BOARD, "--leaderboard", leaderboard)
    assert out.splitlines()[-1] == UNPINNED and cells(out.splitlines()[4])[0] == ""
    out = done("leaderboard", "--leaderboard", leaderboard, "--html", tmp_path / "page")
    assert UNPINNED.removeprefix("no ") in Path(out.strip()).read_text()


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


def test_dataset_of_it_is_none(run, tmp_path):
    """Nothing makes one; what says that it is one is refused by the name of its task."""
    config = {"task": "c4", "version": "1"}
    manifest = {"layout": 1, "config": config, "config_name": "x", "sizes": {"validation": 1}}
    manifest |= {"file_format": "parquet", "pyarrow": "1.0", "splits": {}, "columns": []}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    code, _, err = run("verify", tmp_path)
    assert code == 2 and err.startswith("error: task='c4': ")
