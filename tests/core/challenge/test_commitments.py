"""Commitments and answers: an answer needs the program that was committed, in time."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from helpers import oracle
from helpers.challenges import BOARDS, ENTRANTS, SECRET, edit_json, flip, refused_answer, truth
from helpers.refusals import assert_refused
from helpers.submissions import SRAVEN_BOARD, small_board, snapshot
from sraven import OutputError
from sraven.core.boards.board import read_board
from sraven.core.challenge import (
    check_commitment,
    new_challenge,
    read_challenge,
    write_answer,
    write_commitment,
)
from sraven.core.challenge.files import exact_json
from sraven.core.challenge.round import draw_round
from sraven.core.tasks.digests import array_bytes
from sraven.core.tasks.families import make_board_task

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
    assert_refused(message, write_answer, *arguments)
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


def test_late_commitment_is_refused_to_its_entrant_and_by_the_organiser(mine, tmp_path):
    program, commitment, challenge, predictions = mine
    late, right = tmp_path / "late.json", tmp_path / "round" / "right"
    digest = write_commitment(late, program, "late")
    message = "isn't one of this round: it came after the round was opened"
    assert_refused(message, write_answer, right, challenge, late, program, predictions)
    assert not right.exists()
    write_answer(right, challenge, commitment, program, predictions)
    shutil.copyfile(late, right / "commitment.json")
    edit_json(right / "answer.json", lambda content: content.update(commitment=digest))
    refused_answer(tmp_path / "round", message)


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
    assert_refused(message, write_answer, tmp_path / "answer", challenge, commitment, program, predictions)
    assert not (tmp_path / "answer").exists()


def test_answer_and_commitment_are_never_written_over(mine, tmp_path):
    program, commitment, challenge, predictions = mine
    (tmp_path / "answer").write_text("mine")
    before = snapshot(tmp_path)
    arguments = (tmp_path / "answer", challenge, commitment, program, predictions)
    assert_refused("answer exists", write_answer, *arguments, error=OutputError)
    assert_refused("never overwritten", write_commitment, commitment, program, "mine", error=OutputError)
    assert_refused("lies within", write_commitment, program / "c.json", program, "mine", error=OutputError)
    assert_refused("name is", write_commitment, tmp_path / "new.json", program, "\x1b[2K")
    assert_refused("name is empty", write_commitment, tmp_path / "new.json", program, "")
    assert snapshot(tmp_path) == before


# The draw: the specified instances, which secret and commitments decide


PACKAGED = {name: read_board(name) for name in ("sraven-features2-v1", "fuzzylogic-points16-holdout30-v1")}


def same(one, other):
    return all(np.array_equal(a, b) for split in one for a, b in zip(one[split], other[split], strict=True))


def test_draw_is_the_specified_one(monkeypatch):
    """By hashes of the standard library, and the oracle that shares no code with the kernels."""
    board = small_board(SRAVEN_BOARD)
    name = {"board": board.digest, "commitments": ENTRANTS, "secret": SECRET, "stream": "challenge"}
    stream = oracle.sha256_of_json(name)
    batch = draw_round(board, SECRET, ENTRANTS)["ood"]
    pool = {"stream": "challenge indices", "secret": stream, "split": "ood"}
    text = json.dumps(pool, sort_keys=True, separators=(",", ":")).encode()
    words = hashlib.shake_256(text).digest(8 * len(batch.target))
    key = oracle.derive_key(stream="challenge", secret=stream, split="ood")
    monkeypatch.setattr(oracle, "instance_key", lambda config, split: key)
    for n in range(20):
        index = int.from_bytes(words[8 * n : 8 * n + 8], "little") % 2**62
        expected = oracle.instance(board.task.config, "ood", index)
        assert batch.context[n].tolist() == [list(panel) for panel in expected.context]
        assert tuple(batch.target[n].tolist()) == tuple(expected.target)


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        ("sraven-features2-v1", "9c81f2248127faaf535711814ef3c8e17e6f74a10624cd7e4e9ca8a4d8e3bd4a"),
        (
            "fuzzylogic-points16-holdout30-v1",
            "6130306e96158dea394c45f6140153d5c49fb3b56dce75bd94eb2acc09ce001c",
        ),
    ],
)
def test_draw_never_changes(board, expected):
    """A round that was held stays one that can be checked."""
    found = hashlib.sha256()
    for batch in draw_round(PACKAGED[board], SECRET, ENTRANTS).values():
        for array in batch:
            found.update(array_bytes(array))
    assert found.hexdigest() == expected


@settings(max_examples=5)
@given(st.sampled_from(BOARDS), st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_secret_and_commitments_decide(name, one, other):
    board, secret = small_board(name), one.hex()
    found = draw_round(board, secret, ENTRANTS)
    assert same(found, draw_round(board, secret, ENTRANTS[::-1], threads=1))
    if other != one:
        assert not same(found, draw_round(board, other.hex(), ENTRANTS))
        assert not same(found, draw_round(board, secret, [*ENTRANTS, other.hex()]))


@pytest.mark.parametrize("name", BOARDS)
def test_combinations_are_the_boards_own(name):
    """Else the combinations that a model was trained on would be held out from it."""
    board = small_board(name)
    for split, batch in draw_round(board, SECRET, ENTRANTS).items():
        known = set(board.task.combination_indices(split).tolist())
        assert len(truth(batch)) == board.splits[split]
        assert set(batch.combination.tolist()) <= known
        public = board.sample(split, 0, board.splits[split])
        assert not same({split: batch}, {split: public})
    fresh = make_board_task(board.config).sample("test", 0, 5)  # of a task that never drew anything else
    assert next(iter(board.task.sample("test", 0, 5))).tolist() == next(iter(fresh)).tolist()
