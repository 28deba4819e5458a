"""The standing as a table: its columns, and JSON as other programs read it."""

import json
import re

import pandas as pd
import pytest

from helpers.checkout import REPOSITORY
from helpers.refusals import assert_refused
from helpers.standings import entries_of, judged, scoring
from helpers.submissions import SRAVEN_BOARD
from sraven import ConfigurationError, standing
from sraven.board.board import board_ids, read_board
from sraven.files.files import json_text
from sraven.leaderboard import export, snapshot as shipped
from sraven.leaderboard.columns import SCORED_SPLITS
from sraven.leaderboard.folder import make_fault
from sraven.leaderboard.ranking import read_snapshot
from sraven.leaderboard.standing import Leaderboard

ENTRY = f"{SRAVEN_BOARD}/20261121-an-entry"


@pytest.fixture
def found(small_boards):
    """An entry, one's own, and a paper's figure."""
    return judged({ENTRY: scoring(0.6)}, {"mine": scoring(0.7, 'é, "quoted"')})


def test_row_is_what_the_standing_says(found):
    own, filed, reported = export.make_rows(found.standings)
    assert list(own) == list(filed) == list(reported) == list(export.COLUMNS)
    assert (own["own"], own["entry"], own["rank"], own["date"]) == (True, "mine", 1, None)
    assert (filed["own"], filed["entry"], filed["rank"], filed["date"]) == (False, ENTRY, 2, "2026-11-21")
    assert (filed["score"], filed["score_ood"], filed["score_test"], filed["seeds"]) == (0.6, 0.6, 0.5, 3)
    assert (filed["interval_low"], filed["interval_high"]) == (0.6 - 0.02, 0.6 + 0.02)
    assert filed["combinations_low"] is filed["combinations_high"] is None  # its scores aren't known by them
    assert filed["standard_error"] == filed["standard_error_ood"] == pytest.approx(0, abs=1e-12)
    assert [filed[f"train_{name}"] for name in ("instances", "budget", "unit")] == [1_500, 2_000, "instances"]
    assert (filed["board"], filed["metric"], filed["split"]) == (SRAVEN_BOARD, "accuracy", "ood")
    assert filed["chance"] == 5**-3 and 0.5 < filed["ceiling"] <= 1 and filed["model"] is None
    assert (reported["badge"], reported["entry"], reported["score_ood"]) == ("reported", None, 0.55)


def test_document_is_read_back_as_json_and_by_pandas(found):
    content = json.loads(json_text(export.make_document(found)))
    assert content["rows"] == export.make_rows(found.standings)
    assert (content["schema"], content["date"], content["digest"]) == (1, "2026-11-21", found.digest)
    assert len(content["boards"][0]["entries"]) == 3
    table = pd.DataFrame(content["rows"])
    assert list(table.columns) == list(export.COLUMNS) and table["own"].dtype == bool
    assert table["method"].tolist()[0] == 'é, "quoted"' and pd.isna(table["score_ladder"][0])


# Columns


def test_every_scored_split_has_its_columns():
    splits = {split for board in map(read_board, board_ids()) for split in board.splits}
    assert splits | {"validation"} == set(SCORED_SPLITS)  # columns stay, also of a board that went


def test_every_column_is_explained():
    text = (REPOSITORY / "docs" / "leaderboard.md").read_text()
    section = text.partition("(table-of-entries)=")[2].split("\n## ")[1]
    first_cells = re.findall(r"^\| (`[^|]+)", section, re.MULTILINE)
    assert re.findall("`([a-z_]+)`", "".join(first_cells)) == list(export.COLUMNS)


# In Python


def test_standing_is_that_of_the_package():
    rows = standing("sraven-v1")
    boards, methods, scores = ([row[name] for row in rows] for name in ("board", "method", "score"))
    assert set(boards) == {"sraven-v1"} and "ideal-observer" in methods
    assert scores == sorted(scores, reverse=True)
    assert_refused("there is no board 'sraven-v9'", standing, "sraven-v9")


def test_standing_of_a_folder_has_ones_own_in_it(small_boards, originals, leaderboard):
    rows = standing(leaderboard=leaderboard, add=[originals[SRAVEN_BOARD]])
    assert [(row["own"], row["rank"]) for row in rows if row["badge"] == "scored"] == [(True, 1)]
    assert_refused("nowhere", standing, leaderboard=leaderboard / "nowhere")


# The standing that the package brings


IDS = [f"{SRAVEN_BOARD}/202611{day}-an-entry" for day in (21, 23, 22)]


@pytest.fixture(scope="module")
def evidence():
    """A reference, an entry that is ranked, and one that isn't; tests only read them."""
    return {
        IDS[0]: scoring(0.9, method={"family": "reference"}),
        IDS[1]: scoring(0.6, method={"code": "https://example.org/code", "code_commit": "0" * 40}),
        IDS[2]: scoring(0.7, training={"selection_split": "ood"}),
    }


@pytest.fixture
def whole(evidence, small_boards):
    return judged(evidence)


@pytest.fixture
def as_packaged(whole, monkeypatch):
    """Make the standing the one that the package brings."""
    content = shipped.parse_snapshot(json.dumps(shipped.make_snapshot(whole)).encode())
    monkeypatch.setattr("sraven.leaderboard.ranking.packaged", lambda: content)


def test_it_is_read_back_as_it_was(whole, as_packaged):
    read = read_snapshot()
    assert [each.entries for each in read.standings] == [each.entries for each in whole.standings]
    assert read.content == whole.content and read.date == "2026-11-23"
    ranks = [(entry.id, entry.rank) for entry in entries_of(read)]
    assert ranks == [(IDS[0], None), (IDS[2], None), (IDS[1], 1)]
    read = read_snapshot(SRAVEN_BOARD, own={"mine": scoring(0.65)})
    assert [(entry.id, entry.rank) for entry in entries_of(read)][2:] == [("mine", 1), (IDS[1], 2)]


def test_what_is_left_out_or_not_filed_has_no_place_in_it(whole, evidence, tmp_path):
    faulty = Leaderboard(whole.standings, (make_fault("sraven-v1/x", "is bad"),))
    with pytest.raises(ConfigurationError, match="sraven-v1/x is left out; mend it"):
        shipped.write_snapshot(tmp_path / "standing.json", faulty)
    with pytest.raises(ConfigurationError, match="leave mine out"):
        shipped.write_snapshot(tmp_path / "standing.json", judged(evidence, {"mine": scoring(0.65)}))
    assert list(tmp_path.iterdir()) == []
