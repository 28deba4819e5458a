"""Answers to a round: scored as boards are, and refused for every trace of cheating."""

import os
import shutil

import numpy as np
import pytest

from helpers.challenges import BOARDS, edit_json, flip, refused_answer, scored, truth
from helpers.refusals import assert_refused
from helpers.submissions import SRAVEN_BOARD, parquet, predictions_file, small_board
from sraven.core.boards.scoring import Run, score_runs
from sraven.core.challenge import read_challenge, score_challenge
from sraven.core.challenge.answer import read_prediction_files
from sraven.core.challenge.files import npy_bytes
from sraven.core.challenge.round import reveal

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.mark.parametrize("board", BOARDS)
def test_answers_are_scored_as_boards_are(rounds, board):
    folder = rounds[board]
    secret = folder / "private" / "secret.json"
    found = score_challenge(folder / "public", secret, [folder / "wrong", folder / "right"])
    assert (found["entrants"], found["answered"], found["refused"]) == (2, 2, [])
    assert [answer["name"] for answer in found["answers"]] == ["one", "two"]
    challenge = read_challenge(folder / "public")
    scoring, metric = challenge.board.task.scoring, challenge.board.metric
    for split, batch in reveal(challenge, secret).items():
        right, wrong = (answer["splits"][split] for answer in found["answers"])
        assert right["metrics"][metric]["mean"] == 1.0 and right["instances"] == len(truth(batch))
        every, nothing = np.ones(len(truth(batch)), bool), np.zeros_like(truth(batch))
        runs = [Run(seed, nothing, every) for seed in range(2)]
        expected = score_runs(scoring, scoring.labels(batch, None), runs)
        assert wrong["metrics"][metric]["mean"] == expected.metrics[metric].mean < 0.5
        assert wrong["metrics"][metric]["interval"] == list(expected.metrics[metric].interval)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(challenge="0" * 64), "answers the round 000000000000…; this one is"),
        (lambda content: content.update(commitment="0" * 64), "names another commitment"),
        (lambda content: content["runs"].pop(), "seed 1 has no predictions of"),
        (lambda content: content["runs"].append(content["runs"][0]), "runs has .*seed-0.parquet twice"),
        (lambda content: content["runs"][0].update(file="../../x"), r"runs\[0\].file is"),
        (lambda content: content["runs"][0].update(split="\x1b[2K"), r"runs\[0\].split is .\\x1b\[2K"),
        (lambda content: content.update(extra=1), "has 'extra'"),
    ],
)
def test_answer_is_refused_for_what_it_says(sraven_round, change, message):
    edit_json(sraven_round / "right" / "answer.json", change)
    refused_answer(sraven_round, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: flip(folder / "predictions/ood/seed-1.parquet"), "seed-1.parquet: its SHA-256 is"),
        (lambda folder: (folder / "extra").write_text(""), "extra: isn't part of"),
        (lambda folder: (folder / "link").symlink_to("/etc"), "link: is a link"),
        (lambda folder: (folder / "commitment.json").unlink(), "commitment.json: can't be read"),
    ],
)
def test_answer_is_refused_for_its_files_and_others_are_not(sraven_round, change, message):
    change(sraven_round / "right")
    refused_answer(sraven_round, message, "wrong")


def test_one_commitment_has_one_answer(sraven_round):
    shutil.copytree(sraven_round / "right", sraven_round / "again")
    found = scored(sraven_round, "right", "again", "wrong")
    assert [answer["name"] for answer in found["answers"]] == ["two"]
    assert [entry["answer"] for entry in found["refused"]] == [
        str(sraven_round / name) for name in ("right", "again")
    ]
    assert "there are 2 answers for the commitment" in found["refused"][0]["why"]


# Files of predictions that an answer is made of


def test_predictions_are_read_from_files_of_either_kind(tmp_path):
    board = small_board(SRAVEN_BOARD)
    arrays = {split: np.full((size, 3), 2, np.uint8) for split, size in board.splits.items()}
    for split, array in arrays.items():
        (tmp_path / split).mkdir()
        np.save(tmp_path / split / "seed-0.npy", array.astype(np.int64))
        order = np.random.default_rng(0).permutation(len(array))
        (tmp_path / split / "seed-7.parquet").write_bytes(predictions_file(array[order], order))
    found = read_prediction_files(tmp_path, board)
    assert {split: sorted(seeds) for split, seeds in found.items()} == {"test": [0, 7], "ood": [0, 7]}
    assert all(
        np.array_equal(array, arrays[split]) for split, seeds in found.items() for array in seeds.values()
    )


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("ood/seed-0.npy", npy_bytes(np.zeros(1, "S3"))[:-1], "isn't an .npy file of numbers"),
        ("ood/seed-0.parquet", b"PAR1", "^ood/seed-0.parquet: "),
        ("ood/seed-0.parquet", predictions_file(np.zeros((5, 3), np.uint8)), "lacks 194 of the 199"),
        ("ood/seed-0.parquet", parquet({"x": [1]}), "has the columns"),
        ("ood/seed-00.npy", b"", "expected <split>/seed-<n>.npy"),
        ("train/seed-0.npy", b"", "with a split of test, ood"),
    ],
)
def test_other_files_are_refused(tmp_path, name, data, message):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    assert_refused(message, read_prediction_files, tmp_path, small_board(SRAVEN_BOARD))


def test_objects_are_not_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    (tmp_path / "p" / "ood").mkdir(parents=True)
    np.save(tmp_path / "p" / "ood" / "seed-0.npy", np.array([Evil()], object), allow_pickle=True)
    message = "isn't an .npy file of numbers"
    assert_refused(message, read_prediction_files, tmp_path / "p", small_board(SRAVEN_BOARD))
    assert not (tmp_path / "ran").exists()


def test_seed_is_there_once(tmp_path):
    (tmp_path / "ood").mkdir()
    for kind, write in (("npy", npy_bytes), ("parquet", predictions_file)):
        (tmp_path / "ood" / f"seed-0.{kind}").write_bytes(write(np.zeros((199, 3), np.uint8)))
    assert_refused("seed 0 of ood is there twice", read_prediction_files, tmp_path, small_board(SRAVEN_BOARD))
