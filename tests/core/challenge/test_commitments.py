"""Commitments and answers: an answer needs the program that was committed, in time."""

import hashlib
import json
import shutil

import numpy as np
import pytest

from helpers.challenges import edit_json, flip, refuse, refused_answer
from helpers.submissions import SRAVEN_BOARD, snapshot
from sraven import OutputError
from sraven.core.challenge import (
    check_commitment,
    new_challenge,
    read_challenge,
    write_answer,
    write_commitment,
)
from sraven.core.challenge.files import exact_json

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.fixture
def mine(program, tmp_path):
    """A copy of a program, its commitment, a round that has it, and predictions."""
    copy = shutil.copytree(program, tmp_path / "program")
    digest = write_commitment(tmp_path / "commitment.json", copy, "mine")
    new_challenge(SRAVEN_BOARD, tmp_path / "round", [digest])
    challenge = read_challenge(tmp_path / "round" / "public")
    predictions = {split: [np.zeros((size, 3), np.uint8)] for split, size in challenge.board.splits.items()}
    return copy, tmp_path / "commitment.json", challenge, predictions


def test_commitment_is_the_digest_of_its_file_and_has_a_salt(program, tmp_path):
    one, other = (write_commitment(tmp_path / f"{n}.json", program, "mine") for n in range(2))
    assert one == hashlib.sha256((tmp_path / "0.json").read_bytes()).hexdigest() != other
    assert (tmp_path / "0.json").stat().st_mode & 0o777 == 0o600
    content = json.loads((tmp_path / "0.json").read_text())
    assert [entry["path"] for entry in content["files"]] == ["code/model.py", "weights.bin"]
    assert content["files"][1] == {
        "path": "weights.bin",
        "bytes": 1000,
        "sha256": hashlib.sha256(bytes(1000)).hexdigest(),
        "executable": False,
    }
    assert check_commitment(tmp_path / "0.json", program) == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: flip(folder / "weights.bin"), "weights.bin was changed since the commitment"),
        (lambda folder: (folder / "weights.bin").unlink(), "weights.bin is missing since"),
        (lambda folder: (folder / "labels.npy").write_text(""), "labels.npy is new since"),
        (lambda folder: (folder / "labels: 3 1 4 1 5").mkdir(), "labels: 3 1 4 1 5/: is an empty directory"),
        (lambda folder: (folder / "weights.bin").chmod(0o744), "weights.bin was changed since"),
        (shutil.rmtree, "is not a directory"),
    ],
)
def test_answer_needs_the_program_that_was_committed(mine, tmp_path, change, message):
    program, commitment, challenge, predictions = mine
    change(program)
    before = snapshot(tmp_path)
    arguments = (tmp_path / "answer", challenge, commitment, program, predictions)
    refuse(message, write_answer, *arguments)
    assert snapshot(tmp_path) == before


def test_a_commitment_of_version_1_says_nothing_of_execution(program, tmp_path):
    copy = shutil.copytree(program, tmp_path / "program")
    file = tmp_path / "commitment.json"
    write_commitment(file, copy, "mine")
    content = json.loads(file.read_text())
    files = [{name: entry[name] for name in ("path", "bytes", "sha256")} for entry in content["files"]]
    file.write_bytes(exact_json({**content, "schema": 1, "files": files}))
    (copy / "weights.bin").chmod(0o744)
    assert check_commitment(file, copy) == hashlib.sha256(file.read_bytes()).hexdigest()


def test_late_commitment_is_refused(mine, tmp_path):
    program, _, challenge, predictions = mine
    write_commitment(tmp_path / "late.json", program, "late")
    arguments = (tmp_path / "answer", challenge, tmp_path / "late.json", program, predictions)
    refuse("isn't one of this round: it came after the round was opened", write_answer, *arguments)
    assert not (tmp_path / "answer").exists()


def test_late_commitment_is_refused_by_the_organiser_too(mine, tmp_path):
    program, commitment, challenge, predictions = mine
    write_answer(tmp_path / "round" / "right", challenge, commitment, program, predictions)
    digest = write_commitment(tmp_path / "late.json", program, "late")
    shutil.copyfile(tmp_path / "late.json", tmp_path / "round" / "right" / "commitment.json")
    edit_json(tmp_path / "round" / "right" / "answer.json", lambda content: content.update(commitment=digest))
    refused_answer(tmp_path / "round", "isn't one of this round: it came after the round was opened")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("ood"), "seed 0 has no predictions of ood"),
        (lambda p: p.update(ood=p["ood"] * 2), "seed 1 has no predictions of test"),
        (lambda p: p.clear(), "there are 0 seeds"),
        (lambda p: p.update(ood=[p["ood"][0][1:]]), r"\[198, 3\].*\[199, 3\]"),
        (lambda p: p.update(ood=[p["ood"][0] + 5]), "row 0"),
    ],
)
def test_predictions_that_can_not_be_scored_are_refused(mine, tmp_path, change, message):
    program, commitment, challenge, predictions = mine
    change(predictions)
    refuse(message, write_answer, tmp_path / "answer", challenge, commitment, program, predictions)
    assert not (tmp_path / "answer").exists()


def test_answer_and_commitment_are_never_written_over(mine, tmp_path):
    program, commitment, challenge, predictions = mine
    (tmp_path / "answer").write_text("mine")
    before = snapshot(tmp_path)
    arguments = (tmp_path / "answer", challenge, commitment, program, predictions)
    refuse("answer exists", write_answer, *arguments, error=OutputError)
    refuse("never overwritten", write_commitment, commitment, program, "mine", error=OutputError)
    refuse("lies within", write_commitment, program / "c.json", program, "mine", error=OutputError)
    refuse("name is", write_commitment, tmp_path / "new.json", program, "\x1b[2K")
    refuse("name is empty", write_commitment, tmp_path / "new.json", program, "")
    assert snapshot(tmp_path) == before
