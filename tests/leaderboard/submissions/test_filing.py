"""Submissions are filed with their scores, which are compared with what is scored again."""

import json
from copy import deepcopy
from datetime import date

import pytest
from hypothesis import example, given, strategies as st

from helpers.example import all_bytes
from helpers.submissions import (
    SRAVEN_BOARD,
    edit,
    plant,
    predictions_file,
    small_board,
    small_contents,
    snapshot,
    truth,
    use_boards,
)
from sraven import OutputError, SubmissionError, score_submission
from sraven.leaderboard.folder import filing_date
from sraven.leaderboard.submissions import submission as reader
from sraven.leaderboard.submissions.submission import differing
from sraven.leaderboard.submissions.submit import file_submission, slug

pytestmark = pytest.mark.usefixtures("small_boards")


def test_installation_with_other_instances_scores_nothing(folder, refuse, monkeypatch, tmp_path_factory):
    contents = deepcopy(small_contents())
    contents[SRAVEN_BOARD]["splits"]["ood"]["blocks"] = ["0" * 64]
    use_boards(monkeypatch, tmp_path_factory.mktemp("other"), contents)
    digest = reader.read_board(SRAVEN_BOARD).digest
    edit(folder, lambda content: content.update(board_digest=digest))
    assert refuse(folder).startswith(f"board {SRAVEN_BOARD}, split ood: instances 0 to 198 aren't those of")


def test_file_that_changes_while_it_is_scored_is_not_filed(folder, leaderboard, monkeypatch):
    def score(*arguments, **options):
        scores = score_submission(*arguments, **options)
        plant(folder, predictions_file(truth(small_board(SRAVEN_BOARD), "test")))
        return scores

    monkeypatch.setattr("sraven.leaderboard.submissions.submit.score_submission", score)
    with pytest.raises(SubmissionError, match="was changed while it was scored"):
        file_submission(folder, leaderboard)
    assert all_bytes(leaderboard) == {}


def test_filed_submission_is_the_same_with_its_scores(originals, scored, leaderboard):
    day = date(2026, 11, 22)
    goal = file_submission(originals[SRAVEN_BOARD], leaderboard, day=day)
    assert goal == leaderboard / "submissions" / SRAVEN_BOARD / "20261122-a-method"
    filed = all_bytes(goal)
    scores = filed.pop("scores.json")
    assert filed == all_bytes(originals[SRAVEN_BOARD])
    assert json.loads(scores) == scored
    before = snapshot(leaderboard)
    with pytest.raises(OutputError, match="exists; give the method another name"):
        file_submission(originals[SRAVEN_BOARD], leaderboard, day=day, scores=scored)
    assert snapshot(leaderboard) == before


@given(st.text(max_size=100))
@example("...")
@example("a" * 59 + " bc")
def test_slug_of_anything_is_the_name_of_an_entry(name):
    day = date(2026, 11, 22)
    assert filing_date(f"20261122-{slug(name)}", day) == day and len(slug(name)) <= 60


def test_slug_by_hand():
    assert slug("HYLA, φ = SiLU") == "hyla-silu"


def test_differing_scores_are_named(scored):
    assert differing(scored, scored) == []
    stored = deepcopy(scored)
    stored["splits"]["ood"]["metrics"]["accuracy"]["by_seed"][1] += 9e-7
    assert differing(stored, scored) == []
    stored["splits"]["ood"]["metrics"]["accuracy"]["by_seed"][1] += 9e-7
    stored["splits"]["test"]["seeds"].append(9)
    stored["splits"]["test"]["metrics"]["f1"] = {}
    del stored["splits"]["ood"]["missing"]
    stored["board"] = "x"
    assert set(differing(stored, scored)) == {
        *("splits.ood.metrics.accuracy.by_seed[1]", "splits.test.seeds", "splits.test.metrics.f1"),
        *("splits.ood.missing", "board"),
    }


def test_any_other_value_differs():
    for value in (float("nan"), float("inf"), 10**400, None, "0.5", [0.5], {}, True, -1):
        assert differing({"a": value}, {"a": 0.5}) == differing({"a": 0.5}, {"a": value}) == ["a"], value
