"""The leaderboard's folder: entries, and what is none; one bad entry hides no other."""

import os
import shutil
from datetime import date

import pytest
import yaml

from helpers.evidence_example import make_evidence, stated
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, only_boards, small_board
from sraven import SubmissionError
from sraven.leaderboard.filed import FIRST_DAY, filing_date
from sraven.leaderboard.maintainers import CONFIRMED, REPRODUCED, Maintained, read_maintained
from sraven.leaderboard.ranking import read_leaderboard
from sraven.leaderboard.submissions.submit import file_submission

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


@pytest.mark.parametrize("name", BAD_NAMES)
def test_what_is_no_entry_is_told_and_hides_none(name, submissions):
    BAD_NAMES[name](submissions / name)
    found = read(submissions)
    assert ranked(found) == [GOOD]
    [fault] = found.faults
    assert fault.place == name and fault.reason.isprintable()


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
def test_forged_scores_are_reported(change, message, original, submissions):
    folder = shutil.copytree(original, submissions / SRAVEN_BOARD / "20261122-forged")
    text = (folder / "scores.json").read_text()
    (folder / "scores.json").write_text(change(text))
    found = read_leaderboard(submissions.parent, last=LAST, gather=lambda path: stated(submissions / GOOD))
    [fault] = found.faults
    assert fault.place == f"{SRAVEN_BOARD}/20261122-forged" and fault.reason.startswith("scores.json: ")
    assert message in fault.reason
    assert "make it again with `sraven submit`" in fault.reason
    assert len(ranked(found)) == 1


def test_entry_below_another_board_is_reported(original, submissions):
    shutil.copytree(original, submissions / FUZZY_BOARD / "20261122-astray")
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


# The badge of a maintainer: for the submission and the code that were run, and nothing else


COMMIT = "0123456789abcdef" * 2 + "01234567"
RUN_AGAIN = f"{SRAVEN_BOARD}/20261121-a"
EVIDENCE = make_evidence("a", method={"code_commit": COMMIT})
PIN = {
    "submission_digest": EVIDENCE.digest,
    "code_commit": COMMIT,
    "by": "A maintainer",
    "date": "2026-11-24",
    "note": "0.51 on an RTX 4090",
}


def read_pins(folder, content, only=None, entries=None):
    text = content if isinstance(content, str | bytes) else yaml.safe_dump(content)
    (folder / REPRODUCED).write_bytes(text if isinstance(text, bytes) else text.encode())
    found, faults = read_maintained(folder, {RUN_AGAIN: EVIDENCE} if entries is None else entries, only)
    assert all(fault.place.isprintable() and fault.reason.isprintable() for fault in faults)
    return set(found.reproduced), [(fault.place, fault.reason) for fault in faults]


def changed(**changes):
    return {name: value for name, value in {**PIN, **changes}.items() if value is not None}


def test_entry_that_was_run_again_has_the_badge(tmp_path):
    assert read_pins(tmp_path, {RUN_AGAIN: PIN}) == ({RUN_AGAIN}, [])
    assert read_pins(tmp_path, {RUN_AGAIN: changed(note=None)}) == ({RUN_AGAIN}, [])


def test_nothing_is_nothing(tmp_path):
    assert read_maintained(tmp_path, {RUN_AGAIN: EVIDENCE}) == (
        Maintained(frozenset()),
        [],
    )  # there is no file
    for content in ("", "# nothing yet\n", "{}", "null"):
        assert read_pins(tmp_path, content) == (set(), [])


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        (False, "is False; expected names and values"),
        (changed(code_commit=None), "lacks 'code_commit'"),
        (changed(date="yesterday"), "expected a date"),
        (changed(code_commit=COMMIT[:12]), "expected a whole commit"),
        (changed(submission_digest="A" * 64), "64 hexadecimal digits"),
        (changed(submission_digest="0" * 64), "another submission was run again"),
        (changed(code_commit="0" * 40), f"but the entry names {COMMIT}: other code was run"),
    ],
)
def test_pin_that_does_not_fit_gives_no_badge_and_is_told(pin, message, tmp_path):
    badges, [(place, reason)] = read_pins(tmp_path, {RUN_AGAIN: pin})
    assert (badges, place) == (set(), f"{REPRODUCED}: {RUN_AGAIN}") and message in reason


def test_one_bad_pin_costs_no_other_its_badge(tmp_path):
    other = f"{SRAVEN_BOARD}/20261121-b"
    content = {other: False, RUN_AGAIN: PIN, f"{SRAVEN_BOARD}/nobody": {**PIN}, "\x1b[2J": {**PIN}}
    badges, faults = read_pins(tmp_path, content, entries={RUN_AGAIN: EVIDENCE, other: make_evidence("b")})
    assert badges == {RUN_AGAIN} and len(faults) == 3
    reasons = sorted(reason.partition(";")[0] for _, reason in faults)
    assert reasons == ["is False", *["there is no such entry"] * 2]


@pytest.mark.parametrize(
    "content", ["{", "&a x", "a: 1\na: 2\n", "!!python/none x", "- a", "7", b"\xff", "a: " + "x" * (1 << 20)]
)
def test_file_that_is_none_is_told_and_gives_no_badge(content, tmp_path):
    badges, [(place, _)] = read_pins(tmp_path, content)
    assert (badges, place) == (set(), REPRODUCED)


def test_pins_of_other_boards_are_left_alone(tmp_path):
    content = {RUN_AGAIN: PIN, f"{FUZZY_BOARD}/20261121-a": {**PIN}}
    assert read_pins(tmp_path, content, SRAVEN_BOARD) == ({RUN_AGAIN}, [])


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
    (tmp_path / CONFIRMED).write_text(yaml.safe_dump(content))
    found, faults = read_maintained(tmp_path, entries)
    assert found == Maintained(frozenset(), {old: new}, {old: new}, frozenset({new}))
    assert sorted(fault.reason.partition(";")[0] for fault in faults) == [
        f"names {other}, which is of another board",
        f"names {old}",
        f"names {old}, whose submission.yaml doesn't say 'replaces'",
        "there is no such entry",
    ]
    (tmp_path / CONFIRMED).write_text("points: [1]\n")
    found, [fault] = read_maintained(tmp_path, entries)
    assert found == Maintained() and fault.place == CONFIRMED
