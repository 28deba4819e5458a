"""The standing: who is ranked, in which order, and what rows say."""

import json
from datetime import date

import pytest

from helpers.evidence_example import make_evidence, stated
from helpers.standings import entries_of, judged, scoring
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, small_contents, write
from sraven import SubmissionError
from sraven.leaderboard.ranking import gather_own, read_leaderboard
from sraven.leaderboard.standing import primary_ceiling
from sraven.leaderboard.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")


def made(name, value, *, board=SRAVEN_BOARD, **options):
    """Return an entry by its id: evidence that scores so much, with other predictions for each name."""
    return {f"{board}/20261123-{name}": scoring(value, name, board=small_board(board), **options)}


def ranks(found):
    return [(entry.method, entry.rank) for entry in entries_of(found)]


def test_entry_says_what_was_filed(leaderboard, tmp_path):
    said = {"name": "hyla", "paper": "https://x.org/p", "code": "http://x.org/c", "family": "mixer"}
    folder = write(tmp_path / "s", SRAVEN_BOARD, method=said)
    folder = file_submission(folder, leaderboard, day=date(2026, 11, 23))
    scores = json.loads((folder / "scores.json").read_text())
    found = read_leaderboard(leaderboard, last=date(2026, 12, 31), gather=stated)
    assert found.faults == () and [each.board.id for each in found.standings] == [SRAVEN_BOARD]
    [entry] = entries_of(found)
    splits = scores["splits"]
    accuracy = splits["ood"]["metrics"]["accuracy"]
    assert entry.id == f"{SRAVEN_BOARD}/20261123-hyla" and entry.date == "2026-11-23"
    assert (entry.family, entry.description, entry.badge) == ("mixer", "It guesses.", "scored")
    assert (entry.rank, entry.remark, entry.seeds) == (1, "", 3)
    assert (entry.value, entry.standard_error) == (accuracy["mean"], accuracy["standard_error"])
    assert entry.interval == tuple(accuracy["interval"])
    board = small_board(SRAVEN_BOARD)
    assert primary_ceiling(board) == board.content["ceiling"]["ood"]["knowing_split"]["accuracy"]["value"]
    assert entry.gap == pytest.approx(primary_ceiling(board) - entry.value)
    assert (entry.parameters, entry.train_instances, entry.budget) == (1_000, 1_500, 2_000)
    assert (entry.paper, entry.code) == ("https://x.org/p", "http://x.org/c")
    assert entry.splits == {
        split: {metric: score["mean"] for metric, score in each["metrics"].items()}
        for split, each in splits.items()
    }


def test_ranks_and_their_ranges_count_apart_for_each_budget():
    values = {"a": (0.3, 1_000), "b": (0.5, 1_001), "c": (0.7, 2_000), "d": (0.695, 2_000), "e": (0.8, 4_000)}
    entries = made("o", 0.99, training={"selection_split": "ood"})
    for name, (value, instances) in {**values, "f": (0.1, 1), "g": (0.95, 4_001)}.items():
        entries |= made(name, value, training={"instances": instances})
    entries = entries_of(judged(entries))
    assert [(entry.method, entry.budget, entry.rank, entry.rank_range) for entry in entries] == [
        ("o", 2_000, None, None),
        ("g", None, None, None),
        ("e", 4_000, 1, (1, 1)),
        ("c", 2_000, 1, (1, 2)),
        ("d", 2_000, 2, (1, 2)),
        ("b", 2_000, 3, (3, 3)),
        ("a", 1_000, 1, (1, 1)),
        ("f", 1_000, 2, (2, 2)),
    ]


def test_entry_without_the_primary_split_comes_last():
    entries = entries_of(judged(made("a", 0.5, seeds={"test": (0, 1, 2), "ood": ()}) | made("b", 0.0)))
    last = entries[-1]
    assert last.method == "a" and last.rank is last.value is last.interval is last.gap is None
    assert (last.seeds, last.remark) == (0, "fewer than 3 seeds on ood") and set(last.splits) == {"test"}


def test_reported_rows_have_no_rank():
    [standing] = judged(made("a", 0.5) | made("b", 0.6)).standings
    b, reported, a = standing.entries
    assert [(entry.method, entry.rank) for entry in (b, a)] == [("b", 1), ("a", 2)]
    assert (reported.badge, reported.rank, reported.id) == ("reported", None, "")
    assert (reported.value, reported.standard_error, reported.interval) == (0.55, 0.01, None)
    assert (reported.seeds, reported.parameters, reported.train_instances) == (3, 402_824, 2_000)
    assert reported.description == "a paper" and "drawn by other code" in reported.remark


def test_entries_as_good_as_each_other_share_a_rank():
    """A score that is a rounding error higher takes nobody's rank, whatever its name."""
    values = {"b": 0.5, "a": 0.5 + 9.9e-7, "c": 0.5 - 2e-6, "d": 0.5 - 2.9e-6, "e": 0.4}
    entries: dict = {}
    for name, value in values.items():
        entries |= made(name, value)
    assert ranks(judged(entries)) == [("a", 1), ("b", 1), ("c", 3), ("d", 3), ("e", 5)]


def test_entry_that_was_run_again_keeps_its_rank_when_it_is_copied():
    """Who files a copy of it unranks nobody but himself; without the badge, neither is ranked."""
    honest = made("honest", 0.5)
    [(entry_id, evidence)] = honest.items()
    entries = honest | made("copy", 0.5, predictions=evidence.predictions)
    assert ranks(judged(entries)) == [("copy", None), ("honest", None)]
    found = judged(entries, reproduced={entry_id: evidence.digest})
    assert ranks(found) == [("copy", None), ("honest", 1)]
    assert [entry.badge for entry in entries_of(found)] == ["scored", "reproduced"]


def test_diagnostic_boards_have_no_ranks_and_stand_only_with_entries():
    assert small_contents()[FUZZY_BOARD]["series"] != "ranked"
    assert [each.board.id for each in judged({}).standings] == [SRAVEN_BOARD]  # has reported rows
    found = judged({"a": make_evidence("a", small_board(FUZZY_BOARD))})
    assert {each.board.id for each in found.standings} == {SRAVEN_BOARD, FUZZY_BOARD}
    assert ranks(found) == [("a", None)]


# One's own submission among what is filed


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
    assert found.digest == judged(filed).digest != judged({GOOD: filed[GOOD]}).digest


def test_copies_are_reported_and_leave_what_is_filed_its_rank(filed):
    found = judged(filed, {"mine": filed[GOOD], "one": scoring(0.6), "other": scoring(0.6)})
    own = {entry.id: (entry.rank, entry.copies) for entry in entries_of(found) if entry.own}
    assert own == {"mine": (None, (GOOD,)), "one": (None, ("other",)), "other": (None, ("one",))}
    assert f"predicts the same as {GOOD}, or nearly so" in [entry.remark for entry in entries_of(found)]
    assert [(entry.id, entry.rank, entry.remark) for entry in found.filed] == [(GOOD, 1, ""), (FAIR, 2, "")]


def test_a_refusal_names_the_directory(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("nothing", "empty"):
        with pytest.raises(SubmissionError) as refused:
            gather_own([tmp_path / name])
        assert str(refused.value).startswith(str(tmp_path)) and str(refused.value).count(str(tmp_path)) == 1
