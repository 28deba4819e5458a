"""Filed entries: the scores of each are those of its predictions, on the board of today."""

import json
import re
from configparser import ConfigParser
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from helpers.checkout import REPOSITORY
from helpers.evidence_example import stated
from helpers.repositories import FILED as FOLDER, git
from sraven import SubmissionError
from sraven.board.board import read_board
from sraven.files.jsonable import as_json
from sraven.leaderboard.copies import equal_seeds
from sraven.leaderboard.entries import entry_of
from sraven.leaderboard.evidence import sharing_boards
from sraven.leaderboard.history import filing_order
from sraven.leaderboard.ranking import read_leaderboard, read_snapshot
from sraven.leaderboard.snapshot import SNAPSHOT
from sraven.leaderboard.submissions.submission import differing, read_scores

LEADERBOARD = REPOSITORY / "docs" / "leaderboard"
RELEASED = (REPOSITORY / "tests" / "board" / "released.txt").read_text().split()[::2]
FILED = sorted(LEADERBOARD.glob("submissions/*/[!.]*"))
IDS = {f"{folder.parent.name}/{folder.name}" for folder in FILED}
PACKAGED = json.loads((files("sraven.leaderboard") / SNAPSHOT).read_text())
ENTRIES = {entry["id"]: entry for each in PACKAGED["boards"] for entry in each["entries"]}
gather = sharing_boards()
WRITE_ANEW = "the snapshot of the standing isn't what is filed: run `make snapshot`, and commit it"


@pytest.mark.long
@pytest.mark.parametrize("folder", FILED, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_scores_are_those_of_the_predictions(folder):
    evidence = gather(folder)
    assert differing(read_scores(folder), evidence.scores) == [] and equal_seeds(evidence) == ""
    entry = ENTRIES.get(f"{folder.parent.name}/{folder.name}")
    if entry is not None:  # else another test says so
        assert differing(entry["errors"], evidence.errors) == [], WRITE_ANEW
        found = entry_of(entry["id"], evidence)
        assert differing(entry["beside"], found.beside) == [], WRITE_ANEW
        parts = [(composing or {}).get("parts") for composing in (entry["composing"], found.composing)]
        assert differing(*as_json(parts)) == [], WRITE_ANEW


def test_every_ranked_board_that_was_released_has_all_its_references():
    filed = {(folder.parent.name, folder.name[9:]) for folder in FILED}
    for board in map(read_board, RELEASED):
        if board.is_ranked:
            assert {(board.id, name) for name in board.task.references.predictors} <= filed


@pytest.fixture(scope="module")
def leaderboard():
    """The standing as the filed scores say, which another test compares with those of the predictions."""
    return read_leaderboard(LEADERBOARD, gather=stated)


BEHIND_THE_SYMMETRY = "what knows the symmetry and composes nothing"
"""Entries are ranked with that remark."""


def test_all_is_taken_and_trained_models_are_ranked_unless_they_say_why_not(leaderboard):
    """References and controls are not, and nothing beats the ideal observer that knows the split."""
    assert leaderboard.faults == ()
    entries = [(each.board, entry) for each in leaderboard.standings for entry in each.entries]
    assert {entry.id for _, entry in entries if entry.id} == IDS
    for board, entry in entries:
        is_model = entry.badge != "reported" and entry.family != "reference"
        why_not = "" if BEHIND_THE_SYMMETRY in entry.remark else entry.remark
        assert (entry.rank is not None) == (board.is_ranked and is_model and not why_not), entry
        if is_model and why_not:
            why = "no better than |not clearly better than |another point of its grid|fewer than 3 seeds"
            assert re.search(why, entry.remark)
        assert entry.gap is None or entry.gap > -0.01


# The snapshot in the package


def test_what_the_snapshot_lacks_was_filed_after_it():
    """Its workflow writes all that there is: nothing goes by being left out."""
    before = IDS  # where there is no history to ask, as in an archive of the files
    with suppress(CalledProcessError):
        path = Path("sraven", "leaderboard", SNAPSHOT)
        written = git(REPOSITORY, "rev-list", "-1", "--first-parent", "HEAD", "--", path)
        before = filing_order(REPOSITORY, FOLDER, written).keys() & IDS
    assert before <= set(ENTRIES), WRITE_ANEW


@pytest.fixture(scope="module")
def known(leaderboard):
    """The standing of those that the snapshot has, as if others weren't filed yet."""
    if set(ENTRIES) >= IDS:
        return leaderboard

    def only_known(folder):
        if f"{folder.parent.name}/{folder.name}" not in ENTRIES:
            raise SubmissionError("isn't in the snapshot yet")
        return stated(folder)

    return replace(read_leaderboard(LEADERBOARD, gather=only_known), faults=())


def stated_alone(content):
    """Return a standing without what `stated` doesn't know of entries."""
    for each in content["boards"]:
        for entry in each["entries"]:
            entry |= {"errors": {}, "beside": {}}
            entry["composing"] = entry["composing"] and {**entry["composing"], "parts": None}
    return content


def test_snapshot_is_what_is_filed(known):
    """Errors, younger metrics and features aren't in the scores; the test of predictions compares them."""
    assert set(ENTRIES) <= IDS, WRITE_ANEW
    filed = stated_alone(known.content)
    assert all(PACKAGED[name] == filed[name] for name in ("schema", "date", "digest")), WRITE_ANEW
    assert differing(stated_alone(read_snapshot().content), filed) == [], WRITE_ANEW


def test_snapshot_is_in_the_package():
    config = ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    patterns = config["options.package_data"]["*"].split(", ")
    assert any(fnmatch(SNAPSHOT, pattern) for pattern in patterns)
