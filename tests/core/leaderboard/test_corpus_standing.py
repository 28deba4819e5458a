"""The standing of a corpus's board: nothing is ranked but on the documents whose fingerprint is pinned."""

import hashlib
from datetime import date

import numpy as np
import pytest
import yaml

from helpers.corpus_submissions import CORPUS_BOARD, corpus_board, losses, write_corpus
from sraven.core.base.errors import BoardError
from sraven.core.leaderboard.fingerprints import parse_pins, pin_text, read_pins
from sraven.core.leaderboard.ranking import read_leaderboard
from sraven.core.page.page import make_page
from sraven.core.submissions.runs import fingerprint
from sraven.core.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("corpus_boards")


@pytest.fixture
def enter(leaderboard, tmp_path):
    """File an entry."""

    def enter(name, day, **options):
        folder = write_corpus(tmp_path / name, **{"method": {"name": name}, **options})
        return file_submission(folder, leaderboard, day=date(2026, 11, day))

    return enter


LAST = date(2026, 11, 30)

FINGERPRINT = fingerprint(corpus_board().labels("validation", losses()))

PINS = {corpus_board().digest: {"validation": FINGERPRINT}}


def standing_of(leaderboard, pins=PINS):
    found = read_leaderboard(leaderboard, CORPUS_BOARD, last=LAST, pins=pins)
    assert found.faults == ()
    return found.standings[0]


def entries_of(leaderboard, pins=PINS):
    return {entry.method: entry for entry in standing_of(leaderboard, pins).entries}


def test_lowest_loss_is_first_and_self_reported(enter, leaderboard):
    enter("low", 23, predictions=[losses(seed, 0.5) for seed in range(3)])
    folder = enter("high", 22, method={"name": "high", "code_commit": "0" * 40})
    digest = hashlib.sha256((folder / "submission.yaml").read_bytes()).hexdigest()
    pin = {"submission_digest": digest, "code_commit": "0" * 40, "by": "a maintainer", "date": "2026-11-24"}
    (leaderboard / "reproduced.yaml").write_text(yaml.safe_dump({f"{CORPUS_BOARD}/20261122-high": pin}))
    assert read_pins() == {}  # none is pinned yet
    found = entries_of(leaderboard)
    assert [(name, entry.rank, entry.badge) for name, entry in found.items()] == [
        ("low", 1, "self-reported"),
        ("high", 2, "reproduced"),
    ]
    low = found["low"]
    assert (low.gap, low.train_instances, low.budget, low.remark) == (None, 4_000, 5_000, "")
    assert low.fingerprint == found["high"].fingerprint == FINGERPRINT
    assert list(low.splits) == ["validation"] and low.value == low.splits["validation"]["loss"]


def test_nothing_is_ranked_before_a_fingerprint_is_pinned(enter, leaderboard):
    enter("a", 22)
    for pins in ({}, {"0" * 64: {"validation": FINGERPRINT}}):
        standing = standing_of(leaderboard, pins)
        message = f"no fingerprint of the documents of {CORPUS_BOARD} is pinned yet"
        assert standing.note.startswith(message)
        assert [(entry.rank, entry.remark) for entry in standing.entries] == [(None, standing.note)]
        assert message.removeprefix("no ") in make_page([standing])
    assert standing_of(leaderboard).note == ""


def test_entry_on_other_documents_has_no_rank_whatever_its_date(enter, leaderboard):
    other = [losses(seed, 0.5) for seed in range(3)]
    for array in other:
        array[:, 0] *= np.linspace(0.97, 1.0, len(array))
        array[0, 2] += 1
    enter("backdated", 20, predictions=other, training={"instances": 9_000})
    enter("honest", 27)
    found = entries_of(leaderboard)
    assert (found["honest"].rank, found["honest"].remark) == (1, "")
    message = "trained on more than 5,000 tokens; its documents aren't those of the board"
    assert (found["backdated"].rank, found["backdated"].remark) == (None, message)


def test_what_is_printed_to_be_pinned_is_read_back():
    text = pin_text(corpus_board(), {"validation": FINGERPRINT})
    assert parse_pins(b"# a comment\n" + text.encode()) == PINS
    assert parse_pins(b"# nothing yet\n") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]x", "isn't YAML"),
        ("- a", "expected names and values"),
        ("c4-v1: {}", "has a name that"),
        (f"{'0' * 64}: {'1' * 64}", "expected names and values"),
        (f"{'0' * 64}: {{board: c4-v1, fingerprints: {{}}}}", "fingerprints"),
        (f"{'0' * 64}: {{board: c4-v1, fingerprints: {{validation: abc}}}}", "64 hexadecimal digits"),
    ],
)
def test_damaged_file_of_fingerprints_is_refused(text, message):
    with pytest.raises(BoardError, match=message) as error:
        parse_pins(text.encode())
    assert str(error.value).endswith("; reinstall sraven")
