"""The badge of a maintainer: it holds for the submission and the code that were run, and nothing else."""

import pytest
import yaml

from helpers.evidence_example import make_evidence
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD
from sraven.core.leaderboard.reproduced import REPRODUCED, read_reproduced

COMMIT = "0123456789abcdef" * 2 + "01234567"
ENTRY = f"{SRAVEN_BOARD}/20261121-a"
EVIDENCE = make_evidence("a", method={"code_commit": COMMIT})
PIN = {
    "submission_digest": EVIDENCE.digest,
    "code_commit": COMMIT,
    "by": "A maintainer",
    "date": "2026-11-24",
    "note": "0.51 on an RTX 4090",
}


def read(folder, content, only=None, entries=None):
    text = content if isinstance(content, str | bytes) else yaml.safe_dump(content)
    (folder / REPRODUCED).write_bytes(text if isinstance(text, bytes) else text.encode())
    badges, faults = read_reproduced(folder, {ENTRY: EVIDENCE} if entries is None else entries, only)
    assert all(fault.place.isprintable() and fault.reason.isprintable() for fault in faults)
    return badges, [(fault.place, fault.reason) for fault in faults]


def changed(**changes):
    return {name: value for name, value in {**PIN, **changes}.items() if value is not None}


def test_entry_that_was_run_again_has_the_badge(tmp_path):
    assert read(tmp_path, {ENTRY: PIN}) == ({ENTRY}, [])
    assert read(tmp_path, {ENTRY: changed(note=None)}) == ({ENTRY}, [])


def test_nothing_is_nothing(tmp_path):
    assert read_reproduced(tmp_path, {ENTRY: EVIDENCE}) == (set(), [])  # there is no file
    for content in ("", "# nothing yet\n", "{}", "null"):
        assert read(tmp_path, content) == (set(), [])


@pytest.mark.parametrize(
    ("pin", "message"),
    [
        (False, "is False; expected names and values"),
        (changed(code_commit=None), "lacks 'code_commit'"),
        (changed(by=None), "lacks 'by'"),
        (changed(date="yesterday"), "expected a date"),
        (changed(code_commit=COMMIT[:12]), "expected a whole commit"),
        (changed(submission_digest="A" * 64), "64 hexadecimal digits"),
        (changed(badge="reproduced"), "has 'badge'; expected only"),
        (changed(submission_digest="0" * 64), "another submission was run again"),
        (changed(code_commit="0" * 40), f"but the entry names {COMMIT}: other code was run"),
    ],
)
def test_pin_that_does_not_fit_gives_no_badge_and_is_told(pin, message, tmp_path):
    badges, [(place, reason)] = read(tmp_path, {ENTRY: pin})
    assert (badges, place) == (set(), f"{REPRODUCED}: {ENTRY}") and message in reason


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (make_evidence("a"), "the entry names none: other code was run"),
        # The digest is of submission.yaml, which names that of each file of predictions.
        (make_evidence("oracle", method={"code_commit": COMMIT}), "another submission was run again"),
    ],
)
def test_badge_is_lost_without_a_commit_and_when_predictions_are_swapped(evidence, message, tmp_path):
    badges, [(_, reason)] = read(tmp_path, {ENTRY: PIN}, entries={ENTRY: evidence})
    assert badges == set() and message in reason


def test_one_bad_pin_costs_no_other_its_badge(tmp_path):
    other = f"{SRAVEN_BOARD}/20261121-b"
    content = {other: False, ENTRY: PIN, f"{SRAVEN_BOARD}/nobody": {**PIN}, "\x1b[2J": {**PIN}}
    badges, faults = read(tmp_path, content, entries={ENTRY: EVIDENCE, other: make_evidence("b")})
    assert badges == {ENTRY} and len(faults) == 3
    reasons = sorted(reason.partition(";")[0] for _, reason in faults)
    assert reasons == ["is False", *["there is no such entry"] * 2]


@pytest.mark.parametrize(
    "content", ["{", "&a x", "a: 1\na: 2\n", "!!python/none x", "- a", "7", b"\xff", "a: " + "x" * (1 << 20)]
)
def test_file_that_is_none_is_told_and_gives_no_badge(content, tmp_path):
    badges, [(place, _)] = read(tmp_path, content)
    assert (badges, place) == (set(), REPRODUCED)


def test_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text(yaml.safe_dump({ENTRY: PIN}))
    (tmp_path / REPRODUCED).symlink_to(tmp_path / "elsewhere")
    badges, [fault] = read_reproduced(tmp_path, {ENTRY: EVIDENCE})
    assert badges == set() and fault.place == REPRODUCED


def test_pins_of_other_boards_are_left_alone(tmp_path):
    content = {ENTRY: PIN, f"{FUZZY_BOARD}/20261121-a": {**PIN}}
    assert read(tmp_path, content, SRAVEN_BOARD) == ({ENTRY}, [])
