"""One's own submission among what is filed: where it stands, what would keep it from a rank."""

import pytest

from helpers.standings import entries_of, judged, scoring
from helpers.submissions import SRAVEN_BOARD, snapshot
from sraven import SubmissionError
from sraven.core.leaderboard.ranking import gather_own

pytestmark = pytest.mark.usefixtures("small_boards")

GOOD, FAIR = f"{SRAVEN_BOARD}/20261121-good", f"{SRAVEN_BOARD}/20261121-fair"


@pytest.fixture(scope="module")
def filed():
    """Two entries that are ranked; tests only read them."""
    return {GOOD: scoring(0.7), FAIR: scoring(0.5)}


def places(found):
    return [(entry.id, entry.rank, entry.own) for entry in entries_of(found)]


def test_it_stands_where_it_would_if_it_were_filed(filed):
    found = judged(filed, {"runs/mine": scoring(0.6)})
    assert places(found) == [(GOOD, 1, False), ("runs/mine", 2, True), (FAIR, 3, False)]
    [own] = [entry for entry in entries_of(found) if entry.own]
    assert (own.date, own.is_filed, own.badge, own.value) == (None, False, "scored", 0.6)
    assert not any("runs/mine" in str(entry) for entry in found.filed) and found.date == "2026-11-21"


def test_what_is_filed_has_the_same_digest_with_it_and_without(filed):
    alone, beside = judged(filed), judged(filed, {"mine": scoring(0.6)})
    assert alone.digest == beside.digest != judged({GOOD: filed[GOOD]}).digest


def test_copies_are_reported_and_leave_what_is_filed_its_rank(filed):
    found = judged(filed, {"mine": filed[GOOD], "one": scoring(0.6), "other": scoring(0.6)})
    own = {entry.id: (entry.rank, entry.copies) for entry in entries_of(found) if entry.own}
    assert own == {"mine": (None, (GOOD,)), "one": (None, ("other",)), "other": (None, ("one",))}
    assert f"predicts the same as {GOOD}, or nearly so" in [entry.remark for entry in entries_of(found)]
    assert [(entry.id, entry.rank, entry.remark) for entry in found.filed] == [(GOOD, 1, ""), (FAIR, 2, "")]


def test_directory_stays_as_it_is_and_a_refusal_names_it(originals, tmp_path):
    folder = originals[SRAVEN_BOARD]
    before = snapshot(folder)
    [name] = gather_own([folder])
    assert name.endswith(folder.name) and snapshot(folder) == before
    (tmp_path / "empty").mkdir()
    for name in ("nothing", "empty"):
        with pytest.raises(SubmissionError) as refused:
            gather_own([tmp_path / name])
        assert str(refused.value).startswith(str(tmp_path)) and str(refused.value).count(str(tmp_path)) == 1
