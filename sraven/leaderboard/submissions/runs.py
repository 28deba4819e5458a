"""The runs of a submission: which files they have, and their predictions in the order of the split."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sraven.board.board import Board
from sraven.core.errors import SubmissionError
from sraven.core.escape import escape, quoted
from sraven.files.untrusted import Decoded, decode_predictions, list_files, most_bytes, read_file
from sraven.scoring.scores import Run

DESCRIPTION, README, SCORES = "submission.yaml", "README.md", "scores.json"

_MOST_FILES = 500
_MOST_SEEDS = 20
_MOST_README = 1 << 20


def prediction_path(split: str, seed: int) -> str:
    """Return where the predictions of a run lie in a submission."""
    return f"predictions/{split}/seed-{seed}.parquet"


def named_files(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that a description names, with their SHA-256."""
    return {run["file"]: run["sha256"] for run in content["runs"]}


def check_files(folder: Path, content: Mapping[str, Any], board: Board) -> None:
    """Refuse runs on other splits or with other files than theirs, one that is there twice, and other files.

    Args:
        folder: that of the files.
        content: what the description says, checked against its schema.
        board: the board it is for.

    Raises:
        SubmissionError: for the first of them.
    """
    listed = [run["file"] for run in content["runs"]]
    for number, run in enumerate(content["runs"]):
        if run["split"] not in board.splits:
            raise SubmissionError(
                f"{DESCRIPTION}: runs[{number}].split is {quoted(run['split'])}; {board.id} has "
                f"{', '.join(board.splits)}"
            )
        path = prediction_path(run["split"], run["seed"])
        if run["file"] != path:
            raise SubmissionError(
                f"{DESCRIPTION}: runs[{number}].file is {quoted(run['file'])}; expected {path!r}"
            )
        if run["file"] in listed[:number]:
            raise SubmissionError(f"{DESCRIPTION}: runs has {run['file']} twice")
    for split, count in Counter(run["split"] for run in content["runs"]).items():
        if count > _MOST_SEEDS:
            raise SubmissionError(
                f"{DESCRIPTION}: runs has {count} seeds of {split}; expected {_MOST_SEEDS} or fewer"
            )
    files = set(list_files(folder, _MOST_FILES))
    if README in files:
        read_file(folder, README, _MOST_README)
    present = files - {DESCRIPTION, README, SCORES}
    for path in sorted(present ^ set(named_files(content))):
        if path in present:
            raise SubmissionError(f"{escape(path)}: isn't part of a submission; remove it")
        raise SubmissionError(f"{path}: the file is missing")


def read_predictions(folder: Path, run: Mapping[str, Any], board: Board) -> bytes:
    """Return the bytes of a run's predictions, still to be decoded.

    Raises:
        SubmissionError: if they are too many, or not those that ``submission.yaml`` names.
    """
    most = most_bytes(board.splits[run["split"]], board.prediction)
    data = read_file(folder, run["file"], most)
    found = hashlib.sha256(data).hexdigest()
    if found != run["sha256"]:
        raise SubmissionError(
            f"{run['file']}: its SHA-256 is {found[:12]}…, but {DESCRIPTION} says {run['sha256'][:12]}…: the "
            "file was changed or cut"
        )
    return data


def decode_runs(
    board: Board, listed: Sequence[Mapping[str, Any]], predictions: Mapping[str, bytes]
) -> dict[str, tuple[Run, ...]]:
    """Return the runs of each split that has any, by ascending seed.

    Args:
        board: the board.
        listed: the runs, as a description lists them.
        predictions: their bytes, by the name of the file.

    Raises:
        SubmissionError: for predictions that can't be read or scored.
    """
    files = {run["file"]: (predictions[run["file"]], board.splits[run["split"]]) for run in listed}
    decoded = decode_predictions(files, board.prediction)
    runs: dict[str, tuple[Run, ...]] = dict.fromkeys(board.splits, ())
    for run in sorted(listed, key=lambda run: int(run["seed"])):
        runs[run["split"]] += (make_run(board, run["split"], run["seed"], decoded[run["file"]]),)
    return {split: found for split, found in runs.items() if found}


def make_run(board: Board, split: str, seed: int, decoded: Decoded) -> Run:
    """Return predictions in the order of the split.

    Raises:
        SubmissionError: for an index that isn't one of the split or occurs twice, or a prediction that
            can't be scored.
    """
    index, predictions = decoded
    path, size = prediction_path(split, seed), board.splits[split]
    outside = np.flatnonzero((index < 0) | (index >= size))
    if len(outside):
        row = outside[0]
        raise SubmissionError(
            f"{path}: row {row} has index {index[row]}; {split} has the indices 0 to {size - 1}"
        )
    first = np.full(size, -1, np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]
    repeated = np.flatnonzero(first[index] != np.arange(len(index)))
    if len(repeated):
        row = repeated[0]
        raise SubmissionError(f"{path}: row {row} has index {index[row]}, which row {first[index[row]]} has")
    predictions = board.read(split, predictions, index)
    if fault := board.task.scoring.find_fault(predictions):
        raise SubmissionError(f"{path}: row {fault[0]} {fault[1]}")
    answered, ordered = first >= 0, np.zeros((size, *predictions.shape[1:]), predictions.dtype)
    ordered[index] = predictions
    return Run(seed, ordered, answered)
