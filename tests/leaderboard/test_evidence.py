"""Evidence of entries: recomputed from their predictions, and never what they say."""

import re
from functools import cache

import numpy as np
import pytest

from helpers.submissions import SRAVEN_BOARD, guesses, small_board
from sraven.leaderboard.evidence import gather_evidence, run_name
from sraven.leaderboard.ranking import read_leaderboard

pytestmark = pytest.mark.usefixtures("small_boards")


def test_scores_that_are_nudged_change_nothing(filed, leaderboard):
    """By no more than machines may differ, or else they are refused."""
    gather = cache(gather_evidence)  # of predictions that stay
    before = read_leaderboard(leaderboard, SRAVEN_BOARD, gather=gather)
    assert before.faults == () and [entry.id for entry in before.filed] == [f"{SRAVEN_BOARD}/{filed.name}"]
    stored = (filed / "scores.json").read_text()
    nudged = re.sub(r"\b0\.\d+", lambda number: str(float(number[0]) + 9.9e-7), stored)
    (filed / "scores.json").write_text(nudged)
    assert nudged != stored and read_leaderboard(leaderboard, SRAVEN_BOARD, gather=gather) == before


def test_evidence_is_what_scoring_finds(originals, scored):
    found, board = gather_evidence(originals[SRAVEN_BOARD]), small_board(SRAVEN_BOARD)
    assert found.scores == scored
    assert found.totals["ood"]["instances"] == board.splits["ood"]
    assert np.array_equal(found.predictions[run_name("ood", 1)], guesses(board, "ood", 1))
    assert list(found.mistakes) == [run_name("ood", seed) for seed in range(3)]
    wrong = {split: errors["wrong"]["counts"] for split, errors in found.errors.items()}
    for split, counts in wrong.items():
        for seed, count in enumerate(counts):
            predicted = guesses(board, split, seed)
            assert count == board.diagnose(split, predicted).overall.wrong.counts[0] > 0
            assert split != "ood" or count == found.mistakes[run_name(split, seed)].sum()
