"""The standing: what lies in the leaderboard's folder, ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sraven.core.boards import Board, board_ids, read_board
from sraven.core.errors import ConfigurationError, SubmissionError
from sraven.core.runs import SCORES
from sraven.core.submission import RANKED_SEEDS, SUBMISSIONS, read_description, read_scores
from sraven.core.untrusted import parse_yaml, read_file

REPRODUCED = "reproduced.yaml"

SCORED, SELF_REPORTED, REPRODUCED_BADGE, REPORTED = "scored", "self-reported", "reproduced", "reported"
"""Badges: recomputed from predictions; added up from losses that can't be recomputed; run again by a
maintainer besides; from a paper, no predictions."""

_MOST_BYTES = 1 << 24


@dataclass(frozen=True)
class Entry:
    """A row of a board's table.

    Attributes:
        id: folder of the submission, such as ``sraven-v1/20261121-hyla``; empty for a reported row.
        method: its name.
        family: what it belongs to; ``reference`` for predictors that are there for comparison.
        description: in a sentence or two.
        badge: ``scored``, ``self-reported``, ``reproduced`` or ``reported``.
        rank: among the entries of its budget, from 1; None if it isn't ranked.
        remark: why it isn't ranked, or what to know of it.
        value: the primary metric on the primary split, mean over seeds.
        standard_error: over seeds, None for one seed.
        interval: bootstrap interval over instances, None for a reported row.
        seeds: number of seeds.
        splits: all metrics (means over seeds) by split.
        gap: to the ceiling: the ideal observer that knows the split.
        parameters: of the model.
        train_instances: seen in training, in the unit of the board's budget.
        budget: the least budget of the board that holds them; None beyond all, and for references.
        date: YYYY-MM-DD.
        paper: address.
        code: address.
        fingerprint: of the documents of a corpus; None on other boards.
    """

    id: str
    method: str
    family: str | None
    description: str
    badge: str
    rank: int | None
    remark: str
    value: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    seeds: int
    splits: Mapping[str, Mapping[str, float | None]]
    gap: float | None
    parameters: int | None
    train_instances: int
    budget: int | None
    date: str | None
    paper: str | None
    code: str | None
    fingerprint: str | None = None


@dataclass(frozen=True)
class Standing:
    """A board with its entries, the best first."""

    board: Board
    entries: tuple[Entry, ...]


def ceiling(board: Board) -> float | None:
    """Return what the ideal observer scores that knows the split, by the primary metric."""
    found = board.content["ceiling"].get(board.primary_split, {}).get("knowing_split", {}).get(board.metric)
    return None if found is None else float(found["value"])


def _budget(board: Board, instances: int) -> int | None:
    return min((budget for budget in board.content["train_budgets"] if budget >= instances), default=None)


def _why_unranked(board: Board, content: Mapping[str, Any]) -> str:
    """Return why a submission isn't ranked; nothing if it is."""
    training, budgets = content["training"], board.content["train_budgets"]
    seeds = {split: len([run for run in content["runs"] if run["split"] == split]) for split in board.splits}
    few = [split for split, count in seeds.items() if count < RANKED_SEEDS]
    reasons = {
        "a reference, not a model": content["method"].get("family") == "reference",
        f"fewer than {RANKED_SEEDS} seeds on {', '.join(few)}": bool(few),
        "used extra data": bool(training["extra_data"]),
        "chosen by its scores on held-out combinations": "ood" in (training["selection_split"] or "").lower(),
        f"trained on more than {max(budgets):,} {board.budget_unit}": training["instances"] > max(budgets),
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds)


def _make_entry(folder: Path, entry_id: str, reproduced: Mapping[str, Any]) -> tuple[str, Entry]:
    """Return the board of a filed submission, and its entry without rank."""
    content, digest = read_description(folder)
    board = read_board(content["board"])
    scores = read_scores(folder)
    if (scores["board_digest"], scores["submission_digest"]) != (board.digest, digest):
        raise SubmissionError(
            f"{SCORES}: has the scores of another board or submission; make it anew with `sraven submit`"
        )
    method, training = content["method"], content["training"]
    primary = scores["splits"].get(board.primary_split)
    if primary and board.metric not in primary["metrics"]:
        raise SubmissionError(f"{SCORES}: lacks {board.metric}; make it anew with `sraven submit`")
    if primary and board.is_corpus and "fingerprint" not in primary:
        raise SubmissionError(f"{SCORES}: lacks fingerprint; make it anew with `sraven submit`")
    none = dict.fromkeys(("mean", "standard_error", "interval"))
    score = primary["metrics"][board.metric] if primary else none
    remark, stamp = _why_unranked(board, content), folder.name[:8]
    is_reference = method.get("family") == "reference"
    return board.id, Entry(
        id=entry_id,
        method=method["name"],
        family=method.get("family"),
        description=method["description"],
        badge=REPRODUCED_BADGE if entry_id in reproduced else SELF_REPORTED if board.is_corpus else SCORED,
        rank=None,
        remark=remark,
        value=score["mean"],
        standard_error=score["standard_error"],
        interval=tuple(score["interval"]) if score["interval"] else None,
        seeds=len(primary["seeds"]) if primary else 0,
        splits={
            split: {name: found["mean"] for name, found in values["metrics"].items()}
            for split, values in scores["splits"].items()
        },
        gap=primary["gap_to_ceiling"].get(board.metric) if primary else None,
        parameters=content["model"]["parameters"],
        train_instances=training["instances"],
        budget=None if is_reference else _budget(board, training["instances"]),
        date=f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:]}",
        paper=method.get("paper"),
        code=method.get("code"),
        fingerprint=primary.get("fingerprint") if primary else None,
    )


def _reported(board: Board) -> list[Entry]:
    """Return the rows of a board that a paper reports."""
    return [
        Entry(
            id="",
            method=row["method"],
            family=None,
            description=row["source"],
            badge=REPORTED,
            rank=None,
            remark=" ".join(row["notes"]),
            value=row["value"],
            standard_error=row["standard_error"],
            interval=None,
            seeds=row["seeds"],
            splits={board.primary_split: {board.metric: row["value"]}},
            gap=board.gap(board.primary_split, board.metric, row["value"]),
            parameters=row["parameters"],
            train_instances=row["train_instances"],
            budget=_budget(board, row["train_instances"]),
            date=None,
            paper=row["paper"],
            code=None,
        )
        for row in board.content["reference"]
    ]


def _compared(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries, in the order of their filing, with a remark where their documents are others.

    A board can't hold the digest of a corpus that the benchmark hasn't. So the first entry says which
    documents it is about, and scores on others don't compare.
    """
    first = next((entry for entry in entries if entry.fingerprint), None)
    compared = []
    for entry in entries:
        if first and entry.fingerprint and entry.fingerprint != first.fingerprint:
            remarks = filter(None, (entry.remark, f"its documents aren't those of {first.id}"))
            entry = replace(entry, remark="; ".join(remarks))
        compared.append(entry)
    return compared


def _ranked(board: Board, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return entries with their ranks among those of the same budget, the best first."""
    sign = -1 if board.content["higher_is_better"] else 1
    ordered = sorted(entries, key=lambda e: (e.value is None, sign * (e.value or 0), e.method, e.id))
    counts: dict[int | None, int] = {}
    ranked_board = board.content["series"] == "ranked"
    ranked = []
    for entry in ordered:
        if ranked_board and entry.badge != REPORTED and not entry.remark and entry.value is not None:
            counts[entry.budget] = counts.get(entry.budget, 0) + 1
            entry = replace(entry, rank=counts[entry.budget])
        ranked.append(entry)
    return tuple(ranked)


def filed_submissions(leaderboard: Path) -> list[Path]:
    """Return the folders of all filed submissions, ascending."""
    return sorted(
        path for path in (leaderboard / SUBMISSIONS).glob("*/*") if path.is_dir() and path.name[0] != "."
    )


def read_leaderboard(leaderboard: Path, only: str | None = None) -> list[Standing]:
    """Return the standing of every board that ranks or has entries, or of one board.

    Args:
        leaderboard: the leaderboard's folder.
        only: id of a board; None for all.

    Raises:
        SubmissionError: if something in the folder isn't a filed submission.
        ConfigurationError: if there is no such board.
    """
    boards = [read_board(only)] if only else [read_board(board_id) for board_id in board_ids()]
    entries: dict[str, list[Entry]] = {board.id: _reported(board) for board in boards}
    reproduced: Mapping[str, Any] = {}
    if (leaderboard / REPRODUCED).exists():
        reproduced = parse_yaml(read_file(leaderboard, REPRODUCED, _MOST_BYTES), REPRODUCED) or {}
    for folder in filed_submissions(leaderboard):
        if only and folder.parent.name != only:
            continue
        entry_id = f"{folder.parent.name}/{folder.name}"
        try:
            board_id, entry = _make_entry(folder, entry_id, reproduced)
        except ConfigurationError as error:
            raise SubmissionError(f"{folder}: {error}") from None
        if board_id != folder.parent.name:
            raise SubmissionError(f"{folder} is for {board_id}; move it below {SUBMISSIONS}/{board_id}")
        entries[board_id].append(entry)
    return [
        Standing(board, _ranked(board, _compared(entries[board.id])))
        for board in boards
        if only or entries[board.id] or board.content["series"] == "ranked"
    ]
