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


def test_copy_of_a_filed_entry_is_told_and_leaves_it_its_rank(filed):
    found = judged(filed, {"mine": filed[GOOD]})
    [own] = [entry for entry in entries_of(found) if entry.own]
    assert own.rank is None and own.remark == f"predicts the same as {GOOD}, or nearly so"
    assert [(entry.id, entry.rank, entry.remark) for entry in found.filed] == [(GOOD, 1, ""), (FAIR, 2, "")]


def test_two_of_ones_own_that_are_copies_are_told(filed):
    found = judged(filed, {"one": scoring(0.6), "other": scoring(0.6)})
    copies = {entry.id: entry.copies for entry in entries_of(found) if entry.own}
    assert copies == {"one": ("other",), "other": ("one",)}


def test_what_would_keep_it_from_being_ranked_is_told(filed):
    few = scoring(0.6, seeds={"test": (0, 1), "ood": (0, 1)})
    [own] = [entry for entry in entries_of(judged(filed, {"mine": few})) if entry.own]
    assert own.rank is None and own.remark == "fewer than 3 seeds on test, ood"


def test_nothing_of_it_is_changed(originals):
    folder = originals[SRAVEN_BOARD]
    before = snapshot(folder)
    [name] = gather_own([folder])
    assert name.endswith(folder.name) and snapshot(folder) == before


def test_refusal_names_the_directory(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("nothing", "empty"):
        with pytest.raises(SubmissionError) as refused:
            gather_own([tmp_path / name])
        assert str(refused.value).startswith(str(tmp_path)) and str(refused.value).count(str(tmp_path)) == 1
