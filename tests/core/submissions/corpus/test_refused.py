"""Refusals of a submission to a board of a corpus, in one line."""

import hashlib

import numpy as np
import pytest

from helpers.corpus_faults import path_of, plant, refused
from helpers.corpus_submissions import SIZE, log_text, losses
from helpers.submissions import SRAVEN_BOARD, edit, replace_file, write

pytestmark = pytest.mark.usefixtures("corpus_boards")


def test_missing_document_is_refused(folder):
    plant(folder, losses(1)[:7], np.arange(7))
    assert refused(folder) == (f"{path_of(1)}: document 7 is missing; expected all {SIZE} of validation")


@pytest.mark.parametrize(("place", "name"), [(1, "targets"), (2, "bytes")])
def test_seeds_that_say_other_things_of_a_document_are_refused(place, name, folder):
    other = losses(2)
    other[[4, 9], place] += 1_000
    plant(folder, other, seed=2)
    assert refused(folder) == (
        f"{path_of(2)}: document 4 has {int(other[4, place]):,} {name}, but seed 0 says "
        f"{int(losses()[4, place]):,}; expected the same text for all seeds"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((np.nan, 5, 20), "row 6 has a loss of nan nats; expected a number from 0 to 1,099,511,627,776"),
        ((1, 0, 20), "row 6 has 0 targets; expected a whole number from 1 to 1,099,511,627,776"),
        ((1, 5, 1.5), "row 6 has 1.5 bytes; expected a whole number from 1 to 1,099,511,627,776"),
    ],
)
def test_numbers_that_no_document_has_are_refused(row, message, folder):
    array = losses(1)
    array[6] = row
    plant(folder, array)
    assert refused(folder) == f"{path_of(1)}: {message}"


LOG = "training/seed-1.jsonl"


def drop_log(run):
    del run["log"], run["log_sha256"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run.pop("log_sha256"), "submission.yaml: runs[1] has 'log' but lacks 'log_sha256'"),
        (lambda run: run.pop("log"), "submission.yaml: runs[1] has 'log_sha256' but lacks 'log'"),
        (
            lambda run: run.update(log="training/seed-0.jsonl"),
            f"submission.yaml: runs[1].log is 'training/seed-0.jsonl'; expected '{LOG}'",
        ),
        (
            lambda run: run.update(log_sha256="0" * 64),
            f"{LOG}: its SHA-256 is 49ad9c9cf59c…, but submission.yaml says 000000000000…: the file was "
            "changed or cut",
        ),
    ],
)
def test_wrong_word_on_a_log_is_refused(change, message, folder):
    edit(folder, lambda content: change(content["runs"][1]))
    found = refused(folder)
    digest = hashlib.sha256(log_text().encode()).hexdigest()
    assert found == message.replace("49ad9c9cf59c", digest[:12])


def test_run_without_a_log_is_refused(folder):
    edit(folder, lambda content: drop_log(content["runs"][1]))
    assert refused(folder) == f"{LOG}: isn't part of a submission; remove it"
    (folder / LOG).unlink()
    assert refused(folder) == (
        "submission.yaml: runs[1] lacks 'log'; c4-small-v1 takes the training log of each run"
    )


def test_log_that_is_none_is_refused_with_its_line(folder):
    replace_file(folder, LOG, log_text([{"step": 1, "loss": 2}, {"step": 1, "loss": 2}]).encode())
    assert refused(folder) == f"{LOG}: line 2 has step 1; expected an integer of 2 or more, as steps ascend"


def test_other_boards_take_no_logs(tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, seeds=1)
    (folder / "training").mkdir()
    (folder / "training" / "seed-0.jsonl").write_text(log_text())
    digest = hashlib.sha256(log_text().encode()).hexdigest()
    named = {"log": "training/seed-0.jsonl", "log_sha256": digest}
    edit(folder, lambda content: [run.update(named) for run in content["runs"]])
    assert refused(folder) == "submission.yaml: runs[0] has 'log'; sraven-small-v1 takes no training logs"
