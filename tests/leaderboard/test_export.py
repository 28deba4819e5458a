"""The standing as a table: its columns, CSV and JSON as other programs read them, untrusted texts."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from helpers.checkout import REPOSITORY
from helpers.leaderboard_example import UNSEEN_NAMES, make_entry
from helpers.refusals import assert_refused
from helpers.standings import entries_of, judged, scoring
from helpers.submissions import SRAVEN_BOARD, snapshot
from sraven import ConfigurationError, standing
from sraven.board.board import board_ids, read_board
from sraven.leaderboard import export, snapshot as shipped
from sraven.leaderboard.columns import SCORED_SPLITS
from sraven.leaderboard.filed import make_fault
from sraven.leaderboard.ranking import read_snapshot
from sraven.leaderboard.standing import Leaderboard, Standing

ENTRY = f"{SRAVEN_BOARD}/20261121-an-entry"


@pytest.fixture
def found(small_boards):
    """An entry, one's own, and a paper's figure."""
    return judged({ENTRY: scoring(0.6)}, {"mine": scoring(0.7, 'é, "quoted"')})


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


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


def test_csv_is_read_back_by_csv_and_pandas(found):
    rows, text = export.make_rows(found.standings), export.make_csv(found)
    for row, line in zip(rows, read(text), strict=True):
        for name, value in row.items():
            if isinstance(value, bool) or value is None:
                assert line[name] == {True: "true", False: "false", None: ""}[value]
            else:
                assert type(value)(line[name]) == value, name
    table = pd.read_csv(io.StringIO(text))
    assert list(table.columns) == list(export.COLUMNS) and len(table) == 3
    assert table["score"].tolist() == [row["score"] for row in rows] and table["own"].dtype == bool
    assert table["method"].tolist()[0] == 'é, "quoted"' and math.isnan(table["score_ladder"][0])


def test_json_is_read_back(found, tmp_path):
    export.write_tables(tmp_path / "folder", found)
    assert sorted(snapshot(tmp_path / "folder")) == ["leaderboard.csv", "leaderboard.json"]
    content = json.loads((tmp_path / "folder" / export.JSON).read_text())
    assert content["rows"] == export.make_rows(found.standings)
    assert (content["schema"], content["date"], content["digest"]) == (1, "2026-11-21", found.digest)
    assert len(content["boards"][0]["entries"]) == 3
    assert (tmp_path / "folder" / export.CSV).read_text() == export.make_csv(found)
    assert export.make_csv(Leaderboard(())) == ",".join(export.COLUMNS) + "\n"


# Untrusted texts


BOARD, UNTRUSTED = read_board("sraven-v1"), make_entry("a method", 0.5)


def csv_of(**changes):
    found = Leaderboard((Standing(BOARD, (replace(UNTRUSTED, **changes),)),))
    [line] = read(export.make_csv(found))
    return line


@pytest.mark.parametrize("name", ["method", "family", "description", "remark", "paper", "code", "id"])
@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n@x", "\uff1d1", '=a,"b"\n=c']
)
def test_text_that_is_a_formula_is_defused(name, text):
    cell = csv_of(**{name: text})["entry" if name == "id" else name]
    assert cell == "'" + " ".join(text.split())


@pytest.mark.parametrize("text", UNSEEN_NAMES)
def test_text_that_hides_something_is_one_legible_line(text):
    assert csv_of(method=text)["method"].isprintable()


@settings(max_examples=10)
@given(st.text(max_size=40))
def test_no_cell_begins_a_formula_whatever_is_written(text):
    line = csv_of(method=text, description=text, value=-0.5)
    assert not line["method"].startswith(("=", "+", "-", "@", "\t", "\r", "\n", " "))
    assert line["method"] == line["description"] and line["badge"] == "scored"
    assert line["score"] == "-0.5"


# Columns


def test_every_scored_split_has_its_columns():
    splits = {split for board in map(read_board, board_ids()) for split in board.splits}
    assert splits | {"validation"} == set(SCORED_SPLITS)  # columns stay, also of a board that went


def test_every_column_is_explained():
    text = (REPOSITORY / "docs" / "leaderboard.md").read_text()
    section = text.partition("(table-of-entries)=")[2].split("\n## ")[1]
    columns = [
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall("`([a-z_]+)`", line.split("|")[1])
    ]
    assert columns == list(export.COLUMNS)


# In Python


def test_standing_is_that_of_the_package():
    rows = standing("sraven-v1")
    assert {row["board"] for row in rows} == {"sraven-v1"} and "ideal-observer" in {
        row["method"] for row in rows
    }
    scores = [row["score"] for row in rows]
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


def packed(whole):
    return json.dumps(shipped.make_snapshot(whole)).encode()


@pytest.fixture
def as_packaged(whole, monkeypatch):
    """Make the standing the one that the package brings."""
    monkeypatch.setattr("sraven.leaderboard.ranking.packaged", lambda: shipped.parse_snapshot(packed(whole)))


def test_it_is_read_back_as_it_was(whole, as_packaged):
    read = read_snapshot()
    assert [each.entries for each in read.standings] == [each.entries for each in whole.standings]
    assert read.content == whole.content and read.date == "2026-11-23"
    ranks = [(entry.id, entry.rank) for entry in entries_of(read)]
    assert ranks == [(IDS[0], None), (IDS[2], None), (IDS[1], 1)]
    read = read_snapshot(SRAVEN_BOARD, own={"mine": scoring(0.65)})
    assert [(entry.id, entry.rank) for entry in entries_of(read)][2:] == [("mine", 1), (IDS[1], 2)]


def test_board_without_entries_has_what_papers_report(monkeypatch, small_boards):
    monkeypatch.setattr("sraven.leaderboard.ranking.packaged", dict)
    [standing] = read_snapshot(SRAVEN_BOARD).standings
    assert [entry.badge for entry in standing.entries] == ["reported"]
    assert_refused("there is no board 'nothing-v1'", read_snapshot, "nothing-v1")


def test_what_is_left_out_or_not_filed_has_no_place_in_it(whole, evidence, tmp_path):
    faulty = Leaderboard(whole.standings, (make_fault("sraven-v1/x", "is bad"),))
    with pytest.raises(ConfigurationError, match="sraven-v1/x is left out; mend it"):
        shipped.write_snapshot(tmp_path / "standing.json", faulty)
    with pytest.raises(ConfigurationError, match="leave mine out"):
        shipped.write_snapshot(tmp_path / "standing.json", judged(evidence, {"mine": scoring(0.65)}))
    assert list(tmp_path.iterdir()) == []
