"""Evidence of entries: recomputed from their predictions, kept for the next time, and never what they say."""

import json
import os
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from helpers.refusals import assert_refused
from helpers.submissions import (
    SRAVEN_BOARD,
    guesses,
    only_boards,
    path_of,
    plant,
    predictions_file,
    small_board,
    write,
)
from sraven import SubmissionError, score_submission
from sraven.leaderboard import cache, evidence
from sraven.leaderboard.cache import read_kept, write_kept
from sraven.leaderboard.evidence import gather_evidence, run_name
from sraven.leaderboard.ranking import read_leaderboard
from sraven.leaderboard.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")

DAY = date(2026, 11, 21)

CACHE_HOME = cache.cache_home  # before each test gets one of its own


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """Two filed entries, the same again, and a copy of the better one; tests only read them."""
    leaderboard = tmp_path_factory.mktemp("filed")
    board = small_board(SRAVEN_BOARD)

    def file(name, first):
        predictions = {split: [guesses(board, split, first + n) for n in range(3)] for split in board.splits}
        folder = tmp_path_factory.mktemp("new") / name
        write(folder, SRAVEN_BOARD, predictions=predictions, method={"name": name})
        file_submission(folder, leaderboard, day=DAY)

    with only_boards(tmp_path_factory.mktemp("boards")):
        file("one", 0)
        file("other", 3)
    return leaderboard


@pytest.fixture
def leaderboard(entries, tmp_path):
    return shutil.copytree(entries, tmp_path / "leaderboard")


@pytest.fixture
def folder(leaderboard):
    return leaderboard / "submissions" / SRAVEN_BOARD / "20261121-one"


@pytest.fixture
def home(monkeypatch, tmp_path):
    """The user's cache."""
    home = tmp_path / "cache"
    monkeypatch.setattr("sraven.leaderboard.cache.cache_home", lambda: home)
    return home


@pytest.fixture
def computed(monkeypatch):
    """The submissions that are scored, one after the other."""
    found, compute = [], evidence._compute

    def counting(opened):
        found.append(opened.content["method"]["name"])
        return compute(opened)

    monkeypatch.setattr("sraven.leaderboard.evidence._compute", counting)
    return found


def same(first, second):
    assert (first.scores, first.totals, first.digest) == (second.scores, second.totals, second.digest)
    assert first.errors == second.errors
    runs = [run["file"].split("/") for run in first.content["runs"]]
    names = [run_name(split, int(file[5:-8])) for _, split, file in runs]
    return all(np.array_equal(first.predictions[name], second.predictions[name]) for name in names)


def entries_of(leaderboard):
    found = read_leaderboard(leaderboard, SRAVEN_BOARD)
    assert found.faults == ()
    return found.standings[0].entries


def nudge(value, by):
    """Return scores with every mean and interval a little higher."""
    if isinstance(value, dict):
        return {name: nudge(content, by) for name, content in value.items()}
    if isinstance(value, list):
        return [nudge(content, by) for content in value]
    return value + by if isinstance(value, float) else value


def test_scores_that_are_nudged_change_nothing(leaderboard, folder, home):
    before, path = entries_of(leaderboard), folder / "scores.json"
    filed = json.loads(path.read_text())
    for sign in (-1, 1):
        path.write_text(json.dumps(nudge(filed, sign * 9.9e-7)))
        assert entries_of(leaderboard) == before
        path.write_text(json.dumps(nudge(filed, sign * 2e-6)))  # beyond what machines may differ by
        [fault] = read_leaderboard(leaderboard, SRAVEN_BOARD).faults
        assert "isn't what the predictions score" in fault.reason


def test_evidence_is_what_scoring_finds(folder):
    found, scores = gather_evidence(folder), score_submission(folder)
    assert json.loads(json.dumps(found.scores)) == json.loads(json.dumps(scores))
    board = small_board(SRAVEN_BOARD)
    assert found.totals["ood"]["instances"] == board.splits["ood"]
    assert np.array_equal(found.predictions[run_name("ood", 1)], guesses(board, "ood", 1))
    wrong = {split: errors["wrong"]["counts"] for split, errors in found.errors.items()}
    for split, counts in wrong.items():
        for seed, count in enumerate(counts):
            predicted = guesses(board, split, seed)
            assert count == board.diagnose(split, predicted).overall.wrong.counts[0] > 0


# What is kept


def test_what_was_computed_is_taken_the_next_time(folder, home, computed):
    first, second = gather_evidence(folder), gather_evidence(folder)
    assert computed == ["one"] and same(first, second)
    assert [path.suffix for path in (home / "sraven" / "scores").iterdir()] == [".npz"]
    assert same(gather_evidence(folder, fresh=True), first) and computed == ["one", "one"]


def test_other_predictions_are_never_those_that_are_kept(folder, home, computed):
    first = gather_evidence(folder)
    board = small_board(SRAVEN_BOARD)
    plant(folder, predictions_file(guesses(board, "test", 9)), "test", 0)
    assert gather_evidence(folder).scores["splits"] != first.scores["splits"] and len(computed) == 2
    (folder / path_of("test", 0)).write_bytes(predictions_file(guesses(board, "test", 0)))
    assert_refused("the file was changed or cut", gather_evidence, folder, error=SubmissionError)


@pytest.fixture
def kept(home):
    """Keep something; return the folder."""
    write_kept("name", b"content")
    assert read_kept("name") == b"content"
    return home / "sraven" / "scores"


def test_folder_that_others_may_enter_is_not_used(kept):
    kept.chmod(0o755)
    assert read_kept("name") is None
    write_kept("other", b"content")
    assert [path.name for path in kept.iterdir()] == ["name"]


def test_what_is_damaged_or_a_link_is_not_read(kept):
    (kept / "turned").write_bytes((kept / "name").read_bytes()[::-1])
    (kept / "cut").write_bytes((kept / "name").read_bytes()[:-1])
    (kept / "empty").touch()
    (kept / "link").symlink_to(kept / "name")
    assert {read_kept(name) for name in ("turned", "cut", "empty", "link", "missing")} == {None}


def test_what_is_old_is_forgotten(kept):
    write_kept("other", b"content")
    assert read_kept("name") == b"content"
    os.utime(kept / "name", (0, 0))
    write_kept("other", b"content")
    assert read_kept("name") is None and read_kept("other") == b"content"


@pytest.mark.parametrize(
    ("given", "home"),
    [("/somewhere", "/somewhere"), (".", "~/.cache"), ("cache", "~/.cache"), ("", "~/.cache")],
)
def test_relative_paths_to_a_cache_do_not_count(given, home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setenv("HOME", "/home/someone")
    assert CACHE_HOME() == Path(home).expanduser()
