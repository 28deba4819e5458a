"""Files of predictions that an answer is made of."""

import os

import numpy as np
import pytest

from helpers.challenges import refuse
from helpers.submissions import SRAVEN_BOARD, parquet, predictions_file, small_board
from sraven.core.challenge.answer import read_prediction_files
from sraven.core.challenge.files import npy_bytes


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
        ("ood/seed-0.npy", b"", "isn't an .npy file of numbers"),
        ("ood/seed-0.npy", npy_bytes(np.zeros(1, "S3"))[:-1], "isn't an .npy file of numbers"),
        ("ood/seed-0.parquet", b"PAR1", "^ood/seed-0.parquet: "),
        ("ood/seed-0.parquet", predictions_file(np.zeros((5, 3), np.uint8)), "lacks 194 of the 199"),
        ("ood/seed-0.parquet", parquet({"x": [1]}), "has the columns"),
        ("ood/seed-00.npy", b"", "expected <split>/seed-<n>.npy"),
        ("ood/seed-0.csv", b"", "expected <split>/seed-<n>.npy"),
        ("train/seed-0.npy", b"", "with a split of test, ood"),
        ("seed-0.npy", b"", "expected <split>/seed-<n>.npy"),
    ],
)
def test_other_files_are_refused(tmp_path, name, data, message):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    refuse(message, read_prediction_files, tmp_path, small_board(SRAVEN_BOARD))


def test_objects_are_not_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    (tmp_path / "p" / "ood").mkdir(parents=True)
    np.save(tmp_path / "p" / "ood" / "seed-0.npy", np.array([Evil()], object), allow_pickle=True)
    refuse("isn't an .npy file of numbers", read_prediction_files, tmp_path / "p", small_board(SRAVEN_BOARD))
    assert not (tmp_path / "ran").exists()


def test_seed_is_there_once(tmp_path):
    (tmp_path / "ood").mkdir()
    for kind, write in (("npy", npy_bytes), ("parquet", predictions_file)):
        (tmp_path / "ood" / f"seed-0.{kind}").write_bytes(write(np.zeros((199, 3), np.uint8)))
    refuse("seed 0 of ood is there twice", read_prediction_files, tmp_path, small_board(SRAVEN_BOARD))
