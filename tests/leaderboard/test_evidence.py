"""Evidence of entries: recomputed from their predictions, and never what they say."""

import json
import shutil
from datetime import date

import numpy as np
import pytest

from helpers.submissions import SRAVEN_BOARD, guesses, only_boards, small_board, write
from sraven import score_submission
from sraven.leaderboard.evidence import gather_evidence, run_name
from sraven.leaderboard.ranking import read_leaderboard
from sraven.leaderboard.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")

DAY = date(2026, 11, 21)


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


def test_scores_that_are_nudged_change_nothing(leaderboard, folder):
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
    assert list(found.mistakes) == [run_name("ood", seed) for seed in range(3)]
    wrong = {split: errors["wrong"]["counts"] for split, errors in found.errors.items()}
    for split, counts in wrong.items():
        for seed, count in enumerate(counts):
            predicted = guesses(board, split, seed)
            assert count == board.diagnose(split, predicted).overall.wrong.counts[0] > 0
            assert split != "ood" or count == found.mistakes[run_name(split, seed)].sum()
