"""What lies on the leaderboard: each entry is what its predictions score, on the board of today."""

from pathlib import Path

import pytest

from sraven.core.boards import board_ids, read_board
from sraven.core.leaderboard import filed_submissions, read_leaderboard
from sraven.core.submission import differing, read_scores, score_submission

LEADERBOARD = Path(__file__).parents[1] / "docs" / "leaderboard"
FILED = filed_submissions(LEADERBOARD)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FILED, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_scores_are_those_of_the_predictions(folder):
    assert differing(read_scores(folder), score_submission(folder)) == []


def test_every_ranked_board_has_all_its_references():
    filed = {(folder.parent.name, folder.name[9:]) for folder in FILED}
    for board in map(read_board, board_ids()):
        if board.content["series"] == "ranked":
            assert {(board.id, name) for name in board.task.scoring.references} <= filed


def test_nothing_beats_the_ideal_observer_that_knows_the_split():
    for standing in read_leaderboard(LEADERBOARD):
        for entry in standing.entries:
            assert entry.gap is None or entry.gap > -0.01
