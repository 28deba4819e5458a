"""Answers to a round: predictions, bound to the round and to the program that was committed."""

import os
import re
from collections.abc import Collection, Mapping
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.errors import ChallengeError, ConfigurationError
from sraven.core.base.escape import escape
from sraven.core.boards.board import Board
from sraven.core.boards.scoring import Run
from sraven.core.challenge.commitment import COMMITMENT, check_commitment
from sraven.core.challenge.files import exact_json, new_directory, read_exact
from sraven.core.challenge.round import Challenge
from sraven.core.submissions.run_writing import checked_runs, write_run
from sraven.core.submissions.runs import (
    check_files,
    check_splits,
    decode_runs,
    make_run,
    prediction_path,
    read_predictions,
)
from sraven.core.untrusted.read import decode_predictions, list_files, most_bytes, read_file

ANSWER_FILE = "answer.json"

_MOST_FILES, _MOST_SEEDS = 200, 20
_NAME = re.compile(r"([a-z0-9_]+)/seed-(0|[1-9]\d{0,17})\.(npy|parquet)", re.ASCII)


def _check_seeds(board: Board, runs: Collection[tuple[str, int]]) -> None:
    """Refuse an answer in which a split lacks a seed that another has.

    Raises:
        ChallengeError: if one does.
    """
    seeds = sorted({seed for _, seed in runs})
    for split, seed in product(board.splits, seeds):
        if (split, seed) not in runs:
            raise ChallengeError(
                f"seed {seed} has no predictions of {split}; expected all splits of each seed"
            )
    if not 0 < len(seeds) <= _MOST_SEEDS:
        raise ChallengeError(f"there are {len(seeds)} seeds; expected 1 to {_MOST_SEEDS}")


def write_answer(
    out: str | os.PathLike[str],
    challenge: Challenge,
    commitment: str | os.PathLike[str],
    program: str | os.PathLike[str],
    predictions: Mapping[str, Any],
) -> None:
    """Write the directory of an answer, whole or not at all.

    Args:
        out: a directory that doesn't exist yet.
        challenge: the round; see `read_challenge`.
        commitment: the file that `write_commitment` wrote.
        program: the directory that was committed; it must be as it was.
        predictions: for each split of the board, the predictions of each seed, as for
            `sraven.write_submission`; index i is the instance at place i of the contexts.

    Raises:
        ChallengeError: if the program was changed, or didn't commit to it before the round.
        ConfigurationError: for predictions that can't be scored, or not all of them.
        OutputError: if ``out`` exists.
    """
    runs = checked_runs(challenge.board, predictions)
    _check_seeds(challenge.board, runs)
    digest = check_commitment(commitment, program)
    check_entrant(challenge, digest)
    content: dict[str, Any] = {"schema": 1, "challenge": challenge.digest, "commitment": digest, "runs": []}
    with new_directory(Path(out)) as folder:
        for (split, seed), array in runs.items():
            path = prediction_path(split, seed)
            written = write_run(challenge.board, folder / path, array)
            content["runs"].append({"seed": seed, "split": split, "file": path, "sha256": written})
        (folder / COMMITMENT).write_bytes(exact_json(read_exact(Path(commitment), "commitment")[0]))
        (folder / ANSWER_FILE).write_bytes(exact_json(content))


def check_entrant(challenge: Challenge, commitment: str) -> None:
    """Refuse a commitment that the organiser hadn't when the round was drawn.

    Raises:
        ChallengeError: if it isn't of the round.
    """
    if commitment not in challenge.content["commitments"]:
        raise ChallengeError(
            f"the commitment {commitment[:12]}… isn't one of this round: it came after the round was opened, "
            "or is of another one"
        )


def read_answer(folder: Path, challenge: Challenge) -> tuple[str, str, dict[str, tuple[Run, ...]]]:
    """Read an answer as a submission is read: nothing of it is executed, no link is followed.

    Returns:
        the digest of the commitment, the name of the entry, and the runs of each split by ascending seed.

    Raises:
        ChallengeError: if it answers another round, for another's commitment, or in part.
        SubmissionError: for predictions that can't be read or scored.
    """
    board = challenge.board
    content, _ = read_exact(folder / ANSWER_FILE, "answer")
    if content["challenge"] != challenge.digest:
        raise ChallengeError(
            f"{ANSWER_FILE}: answers the round {content['challenge'][:12]}…; this one is "
            f"{challenge.digest[:12]}…"
        )
    committed, digest = read_exact(folder / COMMITMENT, "commitment")
    if content["commitment"] != digest:
        raise ChallengeError(f"{ANSWER_FILE}: names another commitment than the one beside it")
    check_entrant(challenge, digest)
    listed = content["runs"]
    check_splits(content, board, ANSWER_FILE)
    _check_seeds(board, {(run["split"], run["seed"]) for run in listed})
    check_files(folder, content, ANSWER_FILE, (COMMITMENT,))
    predictions = {run["file"]: read_predictions(folder, run, board) for run in listed}
    return digest, str(committed["name"]), decode_runs(board, listed, predictions)


def _read_array(board: Board, split: str, kind: str, data: bytes) -> NDArray[Any]:
    """Return the predictions in a file, all of a split."""
    if kind == "npy":
        try:
            return np.asarray(np.load(BytesIO(data), allow_pickle=False))
        except (ValueError, OSError, EOFError, MemoryError):
            raise ChallengeError("isn't an .npy file of numbers") from None
    decoded = decode_predictions({"it": (data, board.splits[split])}, board.prediction)["it"]
    run = make_run(board, split, 0, decoded)
    if not run.answered.all():
        raise ChallengeError(
            f"lacks {int((~run.answered).sum()):,} of the {board.splits[split]:,} predictions"
        )
    return run.predictions


def read_prediction_files(folder: str | os.PathLike[str], board: Board) -> dict[str, dict[int, NDArray[Any]]]:
    """Return predictions by split and seed, from files ``<split>/seed-<n>.npy`` or ``.parquet``.

    Raises:
        ConfigurationError: if a file isn't one of these, or can't be read.
    """
    root = Path(folder)
    found: dict[str, dict[int, NDArray[Any]]] = {}
    for path in list_files(root, _MOST_FILES):
        match = _NAME.fullmatch(path)
        if not match or match[1] not in board.splits:
            raise ChallengeError(
                f"{escape(path)}: expected <split>/seed-<n>.npy or .parquet, with a split of "
                f"{', '.join(board.splits)}"
            )
        split, seed, kind = match[1], int(match[2]), match[3]
        if seed in found.setdefault(split, {}):
            raise ChallengeError(f"{path}: seed {seed} of {split} is there twice")
        # Of an .npy file, the numbers may be wider than they need to be.
        data = read_file(root, path, 8 * most_bytes(board.splits[split], board.prediction))
        try:
            found[split][seed] = _read_array(board, split, kind, data)
        except ConfigurationError as error:
            problem = str(error).removeprefix("it: ").removeprefix(f"{prediction_path(split, 0)}: ")
            raise ChallengeError(f"{path}: {problem}") from None
    return found
