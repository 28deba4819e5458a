"""The leaderboard's folder: entries, and what is none; one bad entry hides no other."""

import os
import shutil
import sys
from datetime import date

import pytest

from helpers.evidence_example import stated
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, only_boards
from sraven import SubmissionError
from sraven.core.leaderboard.filed import FIRST_DAY, filing_date, make_fault, walk_filed
from sraven.core.leaderboard.ranking import read_leaderboard
from sraven.core.page.page import make_page
from sraven.core.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")

LAST = date(2026, 11, 30)
GOOD = f"{SRAVEN_BOARD}/20261121-good"


@pytest.fixture(scope="module")
def original(originals, tmp_path_factory):
    """A filed submission; tests only read it."""
    with only_boards(tmp_path_factory.mktemp("boards")):
        return file_submission(
            originals[SRAVEN_BOARD], tmp_path_factory.mktemp("filed"), day=date(2026, 11, 21)
        )


@pytest.fixture
def submissions(original, tmp_path):
    """The folder of submissions, with a good entry in it."""
    shutil.copytree(original, tmp_path / "submissions" / GOOD)
    return tmp_path / "submissions"


def read(submissions, only=None):
    return read_leaderboard(submissions.parent, only, last=LAST, pins={}, gather=stated)


def ranked(found):
    return [entry.id for standing in found.standings for entry in standing.entries if entry.rank]


# Names and dates


def test_names_of_entries():
    for name in ("20261121-hyla", "20261120-a", "20261130-a-2-b"):
        assert filing_date(name, LAST) == date.fromisoformat(name[:8])


OTHER_NAMES = [
    *("hyla", "20261121", "20261121-", "20261121_a", "20261121-A", "20261121-a--b", "20261121-a-"),
    *("2026112-a", "20261121-é", "20261121-../x", "２０２６1121-a", "20261121-a\n", "20261121-a b"),
    *("20261121-" + "a" * 200, "00010101-a", "00000000-a", "20261119-a", "20261201-a", "99991231-a"),
    "20260231-a",
]


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_and_days_that_cannot_be_are_refused(name):
    with pytest.raises(
        SubmissionError, match=rf"expected (<YYYYMMDD>-<name>|(one|a date) from {FIRST_DAY} to {LAST})"
    ):
        filing_date(name, LAST)


def test_date_decides_nothing(original, submissions):
    for day in ("20261120", "20261129"):
        shutil.copytree(original, submissions / SRAVEN_BOARD / f"{day}-other")
    [standing] = read(submissions).standings
    scored = [entry for entry in standing.entries if entry.badge == "scored"]
    assert {entry.rank for entry in scored} == {1} and len(scored) == 3


# Bad entries


def as_link(path):
    path.symlink_to("/")


BAD_NAMES = {
    f"{SRAVEN_BOARD}/notes.txt": lambda path: path.write_text("x"),
    f"{SRAVEN_BOARD}/20261121-link": as_link,
    f"{SRAVEN_BOARD}/20261121-file": lambda path: path.write_text("x"),
    f"{SRAVEN_BOARD}/20261121-fifo": os.mkfifo,
    f"{SRAVEN_BOARD}/00010101-backdated": lambda path: path.mkdir(),
    f"{SRAVEN_BOARD}/99991231-late": lambda path: path.mkdir(),
    f"{SRAVEN_BOARD}/entry": lambda path: path.mkdir(),
    f"{SRAVEN_BOARD}/20261121-empty": lambda path: path.mkdir(),
    "no-board-v1": lambda path: path.mkdir(),
    "junk.bin": lambda path: path.write_bytes(b"\0" * 1000),
    FUZZY_BOARD: as_link,
}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_what_is_no_entry_is_told_and_hides_none(name, submissions):
    BAD_NAMES[name](submissions / name)
    found = read(submissions)
    assert ranked(found) == [GOOD]
    [fault] = found.faults
    assert fault.place == name and fault.reason.isprintable()


def test_names_that_move_a_terminal_are_shown_as_escapes(submissions):
    for name in ("20261121-a\nforged: line", "20261121-\x1b[2J", "20261121-\u202egnp", "20261121-a\x07"):
        (submissions / SRAVEN_BOARD / name).mkdir()
    found = read(submissions)
    assert len(found.faults) == 4 and ranked(found) == [GOOD]
    assert all(fault.place.isprintable() and "\\" in fault.place for fault in found.faults)


@pytest.mark.skipif(sys.platform != "linux", reason="a name that is no UTF-8 needs Linux")
def test_name_that_is_no_text_is_shown_too(submissions):
    os.mkdir(os.fsencode(submissions / SRAVEN_BOARD) + b"/20261121-\xff")
    found = read(submissions)
    [fault] = found.faults
    assert fault.place.encode() and ranked(found) == [GOOD]
    assert make_page(found.standings, found.faults).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"board_digest": "', '"board_digest": "0'), "board_digest isn't what the"),
        (lambda text: text.replace('"splits"', '"parts"'), "splits isn't what the predictions score"),
        (lambda text: text.replace('"mean": 0.', '"mean": 1.'), "mean isn't what the predictions score"),
        (lambda text: text.replace('"schema": 1', f'"schema": {"9" * 400}'), "isn't"),
        (lambda text: '{"\\u001b[2J": 1,' + text[1:], "\\x1b[2J isn't what"),
        (lambda text: "[1]", "isn't scores"),
        *((lambda text, new=new: new, "isn't JSON") for new in ("{", "[" * 100_000, '{"schema": NaN}')),
    ],
)
def test_forged_scores_are_reported(change, message, original, submissions):
    folder = shutil.copytree(original, submissions / SRAVEN_BOARD / "20261122-forged")
    text = (folder / "scores.json").read_text()
    (folder / "scores.json").write_text(change(text))
    found = read_leaderboard(
        submissions.parent, last=LAST, pins={}, gather=lambda path: stated(submissions / GOOD)
    )
    [fault] = found.faults
    assert fault.place == f"{SRAVEN_BOARD}/20261122-forged" and fault.reason.startswith("scores.json: ")
    assert message in fault.reason
    assert "make it again with `sraven submit`" in fault.reason
    assert len(ranked(found)) == 1


@pytest.mark.parametrize("name", ["submission.yaml", "scores.json"])
def test_missing_files_are_reported(name, original, submissions):
    folder = shutil.copytree(original, submissions / SRAVEN_BOARD / "20261122-bad")
    (folder / name).unlink()
    found = read(submissions)
    [fault] = found.faults
    assert f"{name}: can't be read" in fault.reason and ranked(found) == [GOOD]


def test_entry_below_another_board_is_reported(original, submissions):
    shutil.copytree(original, submissions / FUZZY_BOARD / "20261122-astray")
    found = read(submissions)
    [fault] = found.faults
    assert fault.place == f"{FUZZY_BOARD}/20261122-astray" and ranked(found) == [GOOD]
    assert fault.reason == f"is for {SRAVEN_BOARD}; move it below submissions/{SRAVEN_BOARD}"


def test_error_that_nobody_thought_of_hides_no_entry(original, submissions):
    shutil.copytree(original, submissions / SRAVEN_BOARD / "20261122-bad")

    def gather(folder):
        if folder.name.endswith("bad"):
            raise ZeroDivisionError("division by zero")
        return stated(folder)

    found = read_leaderboard(submissions.parent, last=LAST, pins={}, gather=gather)
    [fault] = found.faults
    assert fault.reason == "ZeroDivisionError: division by zero" and ranked(found) == [GOOD]


def test_faults_of_other_boards_are_none_of_one(submissions):
    (submissions / FUZZY_BOARD).mkdir()
    (submissions / FUZZY_BOARD / "junk").write_text("")
    (submissions / "junk").write_text("")
    assert read(submissions, SRAVEN_BOARD).faults == ()
    assert [fault.place for fault in read(submissions, FUZZY_BOARD).faults] == [f"{FUZZY_BOARD}/junk"]


@pytest.mark.parametrize("plant", [as_link, lambda path: path.write_text("x")])
def test_folder_of_submissions_that_is_none_is_told(plant, tmp_path):
    (tmp_path / "leaderboard").mkdir()
    plant(tmp_path / "leaderboard" / "submissions")
    [fault] = read_leaderboard(tmp_path / "leaderboard", last=LAST).faults
    assert fault.place == "submissions"


def test_unfinished_folders_are_not_entries(submissions):
    (submissions / SRAVEN_BOARD / ".filing-xyz").mkdir()
    assert list(walk_filed(submissions.parent, LAST)) == [submissions / GOOD]


def test_faults_are_on_the_page_as_text(submissions):
    fault = make_fault("x/<script>alert(1)</script>", "is <b>bad</b>\nand more " + "x" * 10_000)
    page = make_page(read(submissions).standings, [fault])
    assert "&lt;script&gt;alert(1)" in page and "<b>bad" not in page and "Left out" in page
    assert len(fault.reason) < 500 and fault.reason.isprintable()
    assert "Left out" not in make_page(read(submissions).standings)
