"""Evidence of a filed submission: its recomputed scores, and the predictions behind them.

The standing is made of this, never of the ``scores.json`` that lies beside a submission.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sraven.board.board import Board, read_board
from sraven.files.jsonable import as_json
from sraven.leaderboard.submissions.submission import (
    Submission,
    errors_of,
    read_submission,
    scores_of,
)
from sraven.scoring.composing import Composing, PartsKept, measure_parts
from sraven.scoring.mistakes import SIBLINGS
from sraven.scoring.scores import DIGITS

_BOARDS = 4  # at hand at a time: tens of megabytes each


@dataclass(frozen=True)
class Evidence:
    """A submission, and what follows from its files alone.

    Attributes:
        content: what ``submission.yaml`` says.
        board: the board it is for.
        digest: SHA-256 of ``submission.yaml``, which names the digests of all predictions.
        scores: what ``scores.json`` should hold, of `score_submission`.
        totals: for each split, the sums of what its labels say, such as how many are ambiguous.
        predictions: ``[n, ...]`` of each run, by `run_name`.
        errors: by split, what it gets wrong, sorted: a `sraven.scoring.mistakes.ErrorRow` of all
            instances, as JSON. Nothing if nothing sorts the errors of the task.
        beside: by split and metric, scores by what its task has got since the board.
        siblings: by split, its features with a sibling by what partners and rows say, a
            `sraven.scoring.mistakes.ErrorTable` as JSON; nothing where the task has none.
        parts: what it keeps of features, at equal rules; None where the task has no such metric.
        agreement: by split, the two seeds whose errors agree most, and how much; see
            `sraven.core.roles.Comparison`.
        mistakes: the error of each run on the split that ranks, by `run_name`; see there, too.
    """

    content: Mapping[str, Any]
    board: Board
    digest: str
    scores: Mapping[str, Any]
    totals: Mapping[str, Mapping[str, float]]
    predictions: Mapping[str, NDArray[Any]]
    errors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    siblings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parts: PartsKept | None = None
    agreement: Mapping[str, Sequence[float]] = field(default_factory=dict)
    mistakes: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def family(self) -> str | None:
        """What its method says it belongs to."""
        found: str | None = self.content["method"].get("family")
        return found

    @cached_property
    def composing(self) -> Composing | None:
        """What it keeps on held-out combinations; None where scores don't say."""
        found = self.board.composing(self.scores["splits"])
        return found and replace(found, parts=self.parts)

    def seeds(self, split: str) -> set[int]:
        """Return the seeds of a split."""
        return {run["seed"] for run in self.content["runs"] if run["split"] == split}

    def score(self, split: str, metric: str) -> Mapping[str, Any] | None:
        """Return a score; None if there is none."""
        found = self.scores["splits"].get(split, {}).get("metrics", {}).get(metric)
        return None if found is None or found["mean"] is None else found


def run_name(split: str, seed: int) -> str:
    """Return the name of a run's predictions."""
    return f"{split}/{seed}"


def _mistakes(submission: Submission, split: str) -> dict[int, NDArray[Any]]:
    """Return the error of each run on a split, by seed; nothing where that says nothing of networks."""
    board, errors = submission.board, submission.board.task.scoring.comparison.errors
    if errors is None or split not in submission.runs:
        return {}
    truth = board.labels(split).arrays
    return {run.seed: errors(truth, run.predictions) for run in submission.runs[split]}


def mistakes_of(submission: Submission) -> dict[str, NDArray[Any]]:
    """Return the error of each run on the split that ranks, by `run_name`, if it says anything."""
    split = submission.board.primary_split
    return {run_name(split, seed): found for seed, found in _mistakes(submission, split).items()}


def most_agreement(board: Board, mistakes: Mapping[int, NDArray[Any]]) -> tuple[int, int, float] | None:
    """Return the two seeds whose errors agree most, and how much; None of fewer than two."""
    agreement = board.task.scoring.comparison.agreement
    found = (
        (one, other, round(agreement(mistakes[one], mistakes[other]), DIGITS))
        for one, other in combinations(mistakes, 2)
    )
    return max(found, key=lambda each: each[2], default=None)


def make_evidence(submission: Submission, *, threads: int | None = None) -> Evidence:
    """Return what a validated submission shows, scored, with what it gets wrong.

    Args:
        submission: validated.
        threads: threads to use; None for all available ones.

    Raises:
        SubmissionError: if it claims other scores.
    """
    board, runs = submission.board, submission.runs
    labels = {split: board.labels(split, threads=threads) for split in runs}
    totals = {
        split: {name: float(column.sum()) for name, column in truth.summands.items()}
        for split, truth in labels.items()
    }
    errors = errors_of(submission, threads=threads)
    scores, beside = scores_of(submission, threads=threads)
    return Evidence(
        content=submission.content,
        board=board,
        digest=submission.digest,
        scores=scores,
        totals=totals,
        predictions={
            run_name(split, run.seed): run.predictions for split, found in runs.items() for run in found
        },
        errors={split: as_json(each.overall) for split, each in errors.items()},
        beside=beside,
        siblings={
            split: as_json(each.tables[SIBLINGS]) for split, each in errors.items() if SIBLINGS in each.tables
        },
        parts=measure_parts(board.task.scoring, labels, runs, board.primary_split, threads=threads),
        agreement={
            split: most for split in runs if (most := most_agreement(board, _mistakes(submission, split)))
        },
        mistakes=mistakes_of(submission),
    )


def gather_evidence(folder: Path, find_board: Callable[[str], Board] = read_board) -> Evidence:
    """Return what the files of a submission show, and what it gets wrong.

    Args:
        folder: the submission.
        find_board: returns a board, given its id, such as one that remembers the last ones.

    Raises:
        SubmissionError: if the submission is refused.
        ConfigurationError: if there is no such board.
        BoardError: if this installation doesn't give the board's instances.
    """
    return make_evidence(read_submission(folder, find_board))


def sharing_boards() -> Callable[[Path], Evidence]:
    """Return `gather_evidence` that remembers the last few boards, and so the labels of each."""
    return partial(gather_evidence, find_board=lru_cache(_BOARDS)(read_board))
