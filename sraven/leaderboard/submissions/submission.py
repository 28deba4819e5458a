"""Submissions: predictions of a board's splits with a description. Written, validated, scored.

::

    submission.yaml                         what the method is, and which runs there are
    predictions/<split>/seed-<n>.parquet    index int64, prediction
    README.md                               free text
"""

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sraven.board.board import Board, read_board
from sraven.core.errors import SubmissionError
from sraven.core.escape import escape, quoted
from sraven.files.jsonable import as_json, json_differences
from sraven.files.schemas import find_problem, read_schema
from sraven.files.strict_json import parse_json
from sraven.files.untrusted import parse_yaml, read_file
from sraven.leaderboard.submissions.runs import (
    DESCRIPTION,
    SCORES,
    check_files,
    decode_runs,
    read_predictions,
)
from sraven.scoring.mistakes import SplitErrors, diagnose_runs
from sraven.scoring.scores import Run, SplitScores, score_runs

SUBMISSIONS = "submissions"  # where the leaderboard keeps what was filed

CLAIM_TOLERANCE = 1e-6
"""How far a claimed score may be from the one that is recomputed."""

RANKED_SEEDS = 3
"""Seeds that a ranked entry has at least, on every split."""

METHOD_FAMILIES: tuple[str, ...] = tuple(
    filter(None, read_schema("submission")["properties"]["method"]["properties"]["family"]["enum"])
)
"""What a method may say it belongs to."""

_MOST_DESCRIPTION = 1 << 18
_MOST_SCORES = 1 << 24


@dataclass(frozen=True)
class Submission:
    """A validated submission.

    Attributes:
        content: what ``submission.yaml`` says.
        board: the board it is for.
        runs: the runs of each split, by ascending seed.
        digest: SHA-256 of ``submission.yaml``, which names the digests of all predictions.
    """

    content: Mapping[str, Any]
    board: Board
    runs: Mapping[str, tuple[Run, ...]]
    digest: str


def read_description(folder: Path) -> tuple[dict[str, Any], str]:
    """Return what ``submission.yaml`` says, checked against the schema, and its SHA-256.

    Raises:
        SubmissionError: if it is missing, isn't plain YAML, or breaks the schema.
    """
    data = read_file(folder, DESCRIPTION, _MOST_DESCRIPTION)
    content = parse_yaml(data, DESCRIPTION)
    if problem := find_problem(content, "submission"):
        raise SubmissionError(f"{DESCRIPTION}: {problem}")
    return dict(content), hashlib.sha256(data).hexdigest()


def board_problem(content: Mapping[str, Any], board: Board) -> str | None:
    """Return what a description says that its board doesn't allow; None if nothing is wrong.

    Hyperparameters are chosen by a split of the board. Scores on prompts of one's own aren't scores on the
    board: so a submission of replies names the form of its prompts and the digest of the
    prompts, and that has to be the board's.

    Args:
        content: what ``submission.yaml`` says, checked against the schema.
        board: the board it is for.
    """
    split, found = content["training"]["selection_split"], content.get("replies")
    if split is not None and split not in board.covered:
        return (
            f"training.selection_split is {quoted(split)}; expected a split of {board.id} "
            f"({', '.join(board.covered)}), or null if nothing was chosen"
        )
    if (replaced := content.get("replaces")) and replaced.partition("/")[0] != board.id:
        return f"replaces is {quoted(replaced)}; expected an entry of {board.id}"
    for number, point in enumerate(content.get("points", ())):
        if not {"test"} & set(board.splits) <= point["scores"].keys() <= set(board.splits):
            return (
                f"points[{number}].scores has other splits; expected {', '.join(board.splits)}, test at least"
            )
    if not board.is_text:
        if found is not None:
            return f"has 'replies'; {board.id} takes predictions that are numbers, no replies"
        if content["model"]["parameters"] is None:
            return "model.parameters is None; expected an integer"
        return None
    if found is None:
        return (
            f"lacks 'replies': {board.id} asks which model replied, to which prompts, through which harness"
        )
    form, pinned = found["form"], board.prompts.get(found["form"])
    if pinned is None:
        return f"replies.form is {quoted(form)}; {board.id} has {', '.join(board.prompts)}"
    if found["prompt_digest"] != pinned:
        return (
            f"replies.prompt_digest is {found['prompt_digest'][:12]}…, but the prompts of {board.id} in the "
            f"form {form} have {pinned[:12]}…: the model was asked something else"
        )
    return None


def read_submission(folder: Path, find_board: Callable[[str], Board] = read_board) -> Submission:
    """Read and validate a submission. Nothing in it is executed, and no link is followed.

    Args:
        folder: the submission.
        find_board: returns a board, given its id, such as one that remembers the last ones.

    Raises:
        SubmissionError: for the first fault: which file, what is wrong, what is allowed.
        ConfigurationError: if there is no such board.
        BoardError: if this installation doesn't give the board's instances.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder} isn't the directory of a submission")
    content, digest = read_description(folder)
    board = find_board(content["board"])
    if content["board_digest"] != board.digest:
        raise SubmissionError(
            f"{DESCRIPTION}: board_digest is {content['board_digest'][:12]}…, but {board.id} has "
            f"{board.digest[:12]}…: the predictions are for another version of the board"
        )
    check_files(folder, content, board)
    if problem := board_problem(content, board):
        raise SubmissionError(f"{DESCRIPTION}: {problem}")
    predictions = {run["file"]: read_predictions(folder, run, board) for run in content["runs"]}
    with ThreadPoolExecutor(1) as pool:  # the board's instances are checked meanwhile
        decoding = pool.submit(decode_runs, board, content["runs"], predictions)
        board.check_scored()
        runs = decoding.result()
    return Submission(content, board, runs, digest)


def _check_claims(claimed: Mapping[str, Any], scores: Mapping[str, SplitScores]) -> None:
    """Refuse a claim that isn't what is recomputed."""
    for split, claims in claimed.items():
        for metric, claim in claims.items():
            found = scores[split].metrics.get(metric) if split in scores else None
            if found is None:
                where = f"claimed.{escape(split)}.{escape(metric)}"
                raise SubmissionError(f"{DESCRIPTION}: {where} is no score of this submission")
            if found.mean is None or not abs(claim - found.mean) <= CLAIM_TOLERANCE:
                raise SubmissionError(
                    f"{DESCRIPTION}: claimed.{split}.{metric} is {escape(claim)}, but the predictions score "
                    f"{found.mean}; correct the claim, or leave it out"
                )


def score_submission(folder: str | Path, *, threads: int | None = None) -> dict[str, Any]:
    """Validate a submission and score it.

    Args:
        folder: its directory.
        threads: threads to use; None for all available ones.

    Returns:
        What ``scores.json`` holds: board, digests, and by split the `SplitScores` as JSON values,
        with the gap of each metric to its ceiling (the ideal observer that knows the split).

    Raises:
        SubmissionError: if it is refused; the message says why.
        BoardError: if this installation doesn't give the board's instances.
    """
    return scores_of(read_submission(Path(folder)), threads=threads)[0]


def _score_board(submission: Submission, threads: int | None) -> dict[str, SplitScores]:
    """Return the scores of each split, by the metrics of the board and those that its task got later."""
    board, metrics = submission.board, (*submission.board.metrics, *submission.board.metrics_beside)

    def score(split: str) -> SplitScores:
        labels, runs = board.labels(split, threads=threads), submission.runs[split]
        return score_runs(board.task.scoring, labels, runs, metrics=metrics, threads=threads)

    with ThreadPoolExecutor(len(submission.runs)) as pool:
        return dict(zip(submission.runs, pool.map(score, submission.runs), strict=True))


def scores_of(
    submission: Submission, *, threads: int | None = None
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return what `score_submission` does; and by split the scores by metrics that the task got later.

    The latter are for readers: no part of ``scores.json``, nor of what it is checked against.
    """
    board, found = submission.board, _score_board(submission, threads)
    own = {split: scores.by_metrics(board.metrics) for split, scores in found.items()}
    _check_claims(submission.content.get("claimed", {}), own)
    beside = {
        split: as_json(scores.by_metrics(board.metrics_beside).metrics)
        for split, scores in found.items()
        if board.metrics_beside
    }
    return {
        "schema": 1,
        "board": board.id,
        "board_digest": board.digest,
        "submission_digest": submission.digest,
        "splits": {
            split: {
                **as_json(scores),
                "gap_to_ceiling": {
                    metric: board.gap(split, metric, score.mean)
                    for metric, score in scores.metrics.items()
                    if board.ceiling(split, metric)
                },
            }
            for split, scores in own.items()
        },
    }, beside


def errors_of(submission: Submission, *, threads: int | None = None) -> dict[str, SplitErrors]:
    """Return by split what a submission gets wrong, sorted; nothing if nothing sorts the errors of its task.

    It is for readers, and no part of ``scores.json``.
    """
    board = submission.board
    diagnosis = board.task.diagnosis
    if diagnosis is None:
        return {}
    return {
        split: diagnose_runs(diagnosis, board.labels(split, threads=threads), runs, threads=threads)
        for split, runs in submission.runs.items()
    }


def read_scores(folder: Path) -> dict[str, Any]:
    """Return the scores that lie beside a filed submission, to be compared with those recomputed.

    Raises:
        SubmissionError: if they are missing, or are no names and values.
    """
    data = read_file(folder, SCORES, _MOST_SCORES)
    try:
        scores = parse_json(data)
    except ValueError:
        raise SubmissionError(f"{SCORES}: isn't JSON; make it again with `sraven submit`") from None
    if not isinstance(scores, dict):
        raise SubmissionError(f"{SCORES}: isn't scores; make it again with `sraven submit`")
    return scores


def differing(stored: Any, found: Any) -> list[str]:
    """Return where two scores differ by more than machines may, as dotted names."""
    return list(map(escape, json_differences(stored, found, _are_near)))


def _are_near(stored: Any, found: Any) -> bool:
    try:
        return isinstance(stored, int | float) and abs(stored - found) <= CLAIM_TOLERANCE
    except (OverflowError, TypeError):  # an integer that no float can hold; no number
        return False
