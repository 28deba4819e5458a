"""What a submission claims to score: right, or refused."""

from dataclasses import replace

import pytest

from helpers.faults import DESCRIPTION, say
from helpers.submissions import SRAVEN_BOARD, small_board, truth, use_boards, write
from sraven import score_submission
from sraven.core.boards.scoring import score_runs
from sraven.core.submissions import submission as reader
from sraven.core.submissions.submission import read_submission

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.fixture(scope="module")
def read_and_scored(originals, tmp_path_factory):
    """The submission to SRAVEN's board as it is read, and its scores by split."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        read = read_submission(originals[SRAVEN_BOARD])
    board = small_board(SRAVEN_BOARD)
    return read, {
        split: score_runs(board.task.scoring, board.labels(split), runs) for split, runs in read.runs.items()
    }


@pytest.fixture
def claim(folder, monkeypatch, read_and_scored):
    """Change what is claimed; predictions are neither decoded nor scored again."""
    read, scores = read_and_scored
    by_runs = {id(runs): scores[split] for split, runs in read.runs.items()}
    monkeypatch.setattr(
        reader, "read_submission", lambda path: replace(read, content=reader.read_description(path)[0])
    )
    monkeypatch.setattr(reader, "score_runs", lambda scoring, labels, runs, **options: by_runs[id(runs)])

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
