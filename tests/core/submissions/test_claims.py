"""Claims of a submission: right, or refused."""

import pytest

from helpers.faults import DESCRIPTION, say
from helpers.submissions import SRAVEN_BOARD, small_board, truth, write
from sraven import score_submission

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.fixture
def claim(folder):
    """Change what is claimed."""

    def claim(split, metric, value):
        say("claimed", split, metric, value=value)(folder)
        return folder

    return claim


@pytest.mark.parametrize(
    ("split", "metric", "off"),
    [("test", "accuracy", 2e-6), ("ood", "position.0", -2e-6), ("ood", "accuracy", 1)],
)
def test_wrong_claim_is_refused(split, metric, off, claim, refuse, scored):
    mean = scored["splits"][split]["metrics"][metric]["mean"]
    assert refuse(claim(split, metric, mean + off)) == (
        f"submission.yaml: claimed.{split}.{metric} is {mean + off}, but the predictions score {mean}; "
        "correct the claim, or leave it out"
    )


@pytest.mark.parametrize(
    ("split", "metric", "value", "message"),
    [
        ("test", "accuracy", float("nan"), "claimed.test.accuracy is"),
        ("test", "accuracy", 10**400, "claimed.test.accuracy is"),
        ("test", "accuracy", "0.5", "claimed.test.accuracy is '0.5'; expected a number"),
        ("test", "f1", 0, "claimed.test.f1 is no score of this submission"),
        ("train", "accuracy", 0, "claimed.train.accuracy is no score of this submission"),
    ],
)
def test_claim_of_what_is_no_score_is_refused(split, metric, value, message, claim, refuse):
    found = refuse(claim(split, metric, value))
    assert found.startswith(DESCRIPTION) and message in found


def test_claim_on_what_is_not_defined_is_refused(tmp_path, refuse):
    """Of perfect predictions, none is wrong: the share of valid alternatives has no denominator."""
    board = small_board(SRAVEN_BOARD)
    folder = write(tmp_path / "s", SRAVEN_BOARD, predictions={"test": [truth(board, "test")]})
    assert score_submission(folder)["splits"]["test"]["metrics"]["valid_alternatives"]["mean"] is None
    say("claimed", "test", "valid_alternatives", value=0)(folder)
    assert "claimed.test.valid_alternatives is 0, but the predictions score None" in refuse(folder)
