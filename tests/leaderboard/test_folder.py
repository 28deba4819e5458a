"""The leaderboard's folder: entries, and what is none; one bad entry hides no other."""

import os
import shutil
from datetime import date

import pytest
import yaml

from helpers.evidence_example import make_evidence, stated
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board
from sraven import SubmissionError
from sraven.core.errors import BusyError
from sraven.leaderboard.folder import FIRST_DAY, filing_date
from sraven.leaderboard.maintainers import CONFIRMED, Maintained, read_maintained
from sraven.leaderboard.ranking import read_leaderboard

pytestmark = pytest.mark.usefixtures("small_boards")

LAST = date(2026, 11, 30)
GOOD = f"{SRAVEN_BOARD}/20261121-a-method"


@pytest.fixture
def submissions(filed):
    """The folder of submissions, with a good entry in it."""
    return filed.parent.parent


def read(submissions, only=None):
    return read_leaderboard(submissions.parent, only, last=LAST, gather=stated)


def ranked(found):
    return [entry.id for standing in found.standings for entry in standing.entries if entry.rank]


# Names and dates


OTHER_NAMES = [
    *("hyla", "20261121", "20261121-", "20261121_a", "20261121-A", "20261121-a--b", "20261121-a-"),
    *("2026112-a", "20261121-é", "20261121-../x", "２０２６1121-a", "20261121-a\n", "20261121-a b"),
    *("20261121-" + "a" * 200, "00010101-a", "00000000-a", "20261119-a", "20261201-a", "99991231-a"),
    "20260231-a",
]


def test_names_of_entries_and_others_and_days_that_cannot_be():
    for name in ("20261121-hyla", "20261120-a", "20261130-a-2-b"):
        assert filing_date(name, LAST) == date.fromisoformat(name[:8])
    message = rf"expected (<YYYYMMDD>-<name>|(one|a date) from {FIRST_DAY} to {LAST})"
    for name in OTHER_NAMES:
        assert_refused(message, filing_date, name, LAST, error=SubmissionError)


# Bad entries


def as_link(path):
    path.symlink_to("/")


BAD_NAMES = {
    f"{SRAVEN_BOARD}/notes.txt": lambda path: path.write_text("x"),
    f"{SRAVEN_BOARD}/20261121-link": as_link,
    f"{SRAVEN_BOARD}/20261121-fifo": os.mkfifo,
    f"{SRAVEN_BOARD}/00010101-backdated": lambda path: path.mkdir(),
    f"{SRAVEN_BOARD}/20261121-empty": lambda path: path.mkdir(),
    "no-board-v1": lambda path: path.mkdir(),
    "junk.bin": lambda path: path.write_bytes(b"\0" * 1000),
    FUZZY_BOARD: as_link,
}


def test_what_is_no_entry_is_told_and_hides_none(submissions):
    for name, plant in BAD_NAMES.items():
        plant(submissions / name)
    found = read(submissions)
    assert ranked(found) == [GOOD] and sorted(fault.place for fault in found.faults) == sorted(BAD_NAMES)
    assert all(fault.reason.isprintable() for fault in found.faults)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"board_digest": "', '"board_digest": "0'), "board_digest isn't what the"),
        (lambda text: text.replace('"mean": 0.', '"mean": 1.'), "mean isn't what the predictions score"),
        (lambda text: '{"\\u001b[2J": 1,' + text[1:], "\\x1b[2J isn't what"),
        (lambda text: "[1]", "isn't scores"),
        (lambda text: '{"schema": NaN}', "isn't JSON"),
    ],
)
def test_forged_scores_are_reported(change, message, filed, submissions):
    folder = shutil.copytree(filed, submissions / SRAVEN_BOARD / "20261122-forged")
    text = (folder / "scores.json").read_text()
    (folder / "scores.json").write_text(change(text))
    found = read_leaderboard(submissions.parent, last=LAST, gather=lambda path: stated(submissions / GOOD))
    [fault] = found.faults
    assert fault.place == f"{SRAVEN_BOARD}/20261122-forged" and fault.reason.startswith("scores.json: ")
    assert message in fault.reason
    assert "make it again with `sraven submit`" in fault.reason
    assert len(ranked(found)) == 1


def test_a_busy_machine_leaves_no_entry_out(submissions):
    """Ranks without one of them would be wrong; there are none then."""

    def gather(folder):
        raise BusyError("try again")

    with pytest.raises(BusyError):
        read_leaderboard(submissions.parent, last=LAST, gather=gather)


def test_entry_below_another_board_is_reported(filed, submissions):
    shutil.copytree(filed, submissions / FUZZY_BOARD / "20261122-astray")
    found = read(submissions)
    [fault] = found.faults
    assert fault.place == f"{FUZZY_BOARD}/20261122-astray" and ranked(found) == [GOOD]
    assert fault.reason == f"is for {SRAVEN_BOARD}; move it below submissions/{SRAVEN_BOARD}"


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


# What maintainers say: for the submission that was run again, and nothing else


EVIDENCE = make_evidence("a")
RUN_AGAIN = f"{SRAVEN_BOARD}/20261121-a"


def confirmed(folder, content, entries=None, only=None):
    """Return what maintainers are read to say, and the faults."""
    text = content if isinstance(content, bytes) else yaml.safe_dump(content).encode()
    (folder / CONFIRMED).write_bytes(text)
    found, faults = read_maintained(folder, entries or {RUN_AGAIN: EVIDENCE}, only)
    assert all(fault.place.isprintable() and fault.reason.isprintable() for fault in faults)
    return found, faults


def test_nothing_is_nothing(tmp_path):
    assert read_maintained(tmp_path, {}) == (Maintained(), [])  # there is no file
    for content in (b"", b"# nothing yet\n", b"{}", b"null"):
        assert confirmed(tmp_path, content) == (Maintained(), [])


def test_entry_that_was_run_again_has_the_badge_and_other_pins_cost_it_nothing(tmp_path):
    other = f"{SRAVEN_BOARD}/20261121-b"
    pins = {RUN_AGAIN: EVIDENCE.digest, other: "0" * 64, "\x1b[2J": EVIDENCE.digest}
    entries = {RUN_AGAIN: EVIDENCE, other: make_evidence("b")}
    found, faults = confirmed(tmp_path, {"reproduced": pins}, entries)
    assert set(found.reproduced) == {RUN_AGAIN}
    reasons = sorted(fault.reason.rpartition(": ")[2] for fault in faults)
    assert reasons == ["another submission was run again", "there is no such entry"]


@pytest.mark.parametrize(
    "content",
    [
        *(b"{", b"&a x", b"a: 1\na: 2\n", b"!!python/none x", b"- a", b"7", b"\xff"),
        *(b"a: " + b"x" * (1 << 20), b"reproduced: {a: yesterday}", b"points: [1]"),
    ],
)
def test_file_that_is_none_is_told_and_says_nothing(content, tmp_path):
    found, [fault] = confirmed(tmp_path, content)
    assert (found, fault.place) == (Maintained(), CONFIRMED)


def test_what_maintainers_confirm_must_fit_and_counts_for_no_more(tmp_path):
    old, new, other = f"{SRAVEN_BOARD}/20261121-a", f"{SRAVEN_BOARD}/20261122-b", f"{FUZZY_BOARD}/20261121-c"
    named = make_evidence("b")
    named.content["replaces"] = old
    entries = {old: EVIDENCE, new: named, other: make_evidence("c", small_board(FUZZY_BOARD))}
    content = {
        "points": {old: new, new: other, "nobody": old},
        "replaced": {old: new, new: old},
        "apart": [new, "nobody"],
    }
    found, faults = confirmed(tmp_path, content, entries)
    assert found == Maintained({}, {old: new}, {old: new}, frozenset({new}))
    assert confirmed(tmp_path, content, entries, only=FUZZY_BOARD) == (Maintained(), [])
    assert sorted(fault.reason.partition(";")[0] for fault in faults) == [
        f"names {other}, which is of another board",
        f"names {old}",
        f"names {old}, whose submission.yaml neither says 'replaces' nor names a file of it",
        "there is no such entry",
    ]
