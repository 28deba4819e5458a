"""Submissions to boards of a corpus: what all runs must say of the documents, and its fingerprint."""

import hashlib
from collections.abc import Sequence

import numpy as np

from sraven.board.board import Board
from sraven.core.digests import array_bytes
from sraven.core.errors import SubmissionError
from sraven.core.task import Labels
from sraven.leaderboard.submissions.runs import prediction_path
from sraven.scoring.scores import Run


def check_documents(board: Board, split: str, runs: Sequence[Run]) -> None:
    """Refuse runs that leave out a document, or that don't say the same of all documents.

    Nothing could stand for a loss that is missing. And the number of targets and bytes of a document
    is that of its text, whatever the seed.

    Args:
        board: of a corpus.
        split: a scored split.
        runs: of one submission.

    Raises:
        SubmissionError: with the first document that is missing or differs.
    """
    for run in runs:
        missing = np.flatnonzero(~run.answered)
        if len(missing):
            raise SubmissionError(
                f"{prediction_path(split, run.seed)}: document {missing[0]} is missing; "
                f"expected all {board.splits[split]:,} of {split}"
            )
    first = board.labels(split, runs[0].predictions).summands
    for run in runs[1:]:
        other = board.labels(split, run.predictions).summands
        differs = {name: np.flatnonzero(other[name] != first[name]) for name in first}
        faults = [(int(rows[0]), name) for name, rows in differs.items() if len(rows)]
        if faults:
            row, name = min(faults)
            raise SubmissionError(
                f"{prediction_path(split, run.seed)}: document {row} has {other[name][row]:,} {name}, but "
                f"seed {runs[0].seed} says {first[name][row]:,}; expected the same text for all seeds"
            )


def fingerprint(labels: Labels) -> str:
    """Return the SHA-256 of what labels say of all documents.

    Args:
        labels: of a split. Their summands (integers ``[n]``) are hashed one after the other, each in
            the order of the documents, as little-endian int64: for C4, targets and then bytes.
    """
    checksum = hashlib.sha256()
    for column in labels.summands.values():
        checksum.update(array_bytes(column.astype(np.int64)))
    return checksum.hexdigest()
