"""The standing: what lies in the leaderboard's folder, ranked.

Ranks and numbers come from what is recomputed of the predictions, never from the ``scores.json`` that lies
beside them. An entry that can't be read is told of, and hides no other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from sraven.core.boards.board import Board, board_ids, read_board
from sraven.core.ground.errors import SubmissionError
from sraven.core.leaderboard.copies import equal_seeds, find_copies
from sraven.core.leaderboard.eligibility import REFERENCE, no_fingerprint, why_unranked
from sraven.core.leaderboard.evidence import Evidence, gather_evidence
from sraven.core.leaderboard.filed import Fault, filed_submissions, make_fault, today, walk_filed
from sraven.core.leaderboard.fingerprints import Pins, read_pins
from sraven.core.leaderboard.reproduced import read_reproduced
from sraven.core.leaderboard.standing import (
    REPORTED,
    REPRODUCED_BADGE,
    SCORED,
    SELF_REPORTED,
    Entry,
    Leaderboard,
    Replies,
    Standing,
    ceiling,
)
from sraven.core.submissions.runs import SCORES
from sraven.core.submissions.submission import CLAIM_TOLERANCE, SUBMISSIONS, differing, read_scores
from sraven.core.tasks.families import wording_of

__all__ = [
    "REPORTED",
    "REPRODUCED_BADGE",
    "SCORED",
    "SELF_REPORTED",
    "Entry",
    "Fault",
    "Leaderboard",
    "Standing",
    "ceiling",
    "filed_submissions",
    "read_leaderboard",
]

_MOST_NAMED = 3


def _budget(board: Board, instances: int) -> int | None:
    return min((budget for budget in board.train_budgets if budget >= instances), default=None)


def _make_entry(entry_id: str, evidence: Evidence) -> Entry:
    """Return the row of a submission, without rank, badge of a maintainer, and remark."""
    content, board, scores = evidence.content, evidence.board, evidence.scores
    method, training = content["method"], content["training"]
    primary = scores["splits"].get(board.primary_split)
    none = dict.fromkeys(("mean", "standard_error", "interval"))
    score = primary["metrics"][board.metric] if primary else none
    stamp = entry_id.rpartition("/")[2][:8]
    return Entry(
        id=entry_id,
        method=method["name"],
        family=method.get("family"),
        description=method["description"],
        badge=SELF_REPORTED if board.is_corpus else SCORED,
        rank=None,
        remark="",
        value=score["mean"],
        standard_error=score["standard_error"],
        interval=tuple(score["interval"]) if score["interval"] else None,
        seeds=len(primary["seeds"]) if primary else 0,
        splits={
            split: {name: found["mean"] for name, found in values["metrics"].items()}
            for split, values in scores["splits"].items()
        },
        gap=primary["gap_to_ceiling"].get(board.metric) if primary and _is_bounded(content, board) else None,
        parameters=content["model"]["parameters"],
        train_instances=training["instances"],
        budget=None if method.get("family") == REFERENCE else _budget(board, training["instances"]),
        date=f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:]}",
        paper=method.get("paper"),
        code=method.get("code"),
        fingerprint=primary.get("fingerprint") if primary else None,
        errors=evidence.errors,
        replies=_replies(content),
        rungs={
            rung["metric"]: tuple(primary["metrics"][rung["metric"]]["interval"])
            for rung in (board.rungs if primary else ())
        },
    )


def _replies(content: Mapping[str, Any]) -> Replies | None:
    """Return what a submission says of the model that replied."""
    found = dict(content.get("replies", {}))
    found.pop("prompt_digest", None)  # that of the form, or the submission would have been refused
    return Replies(**found) if found else None


def _is_bounded(content: Mapping[str, Any], board: Board) -> bool:
    """Return whether a submission was given all that the ideal observer has."""
    return not board.is_text or wording_of(board.task).is_bounded(content["replies"]["form"])


def _reported(board: Board) -> list[Entry]:
    """Return the rows of a board that a paper reports."""
    return [
        Entry(
            id="",
            method=row.method,
            family=None,
            description=row.source,
            badge=REPORTED,
            rank=None,
            remark=" ".join(row.notes),
            value=row.value,
            standard_error=row.standard_error,
            interval=None,
            seeds=row.seeds,
            splits={board.primary_split: {board.metric: row.value}},
            gap=board.gap(board.primary_split, board.metric, row.value),
            parameters=row.parameters,
            train_instances=row.train_instances,
            budget=_budget(board, row.train_instances),
            date=None,
            paper=row.paper,
            code=None,
        )
        for row in board.reported
    ]


def _copied(copies: Sequence[str]) -> str:
    """Return of which entries one is a copy, in words."""
    more = len(copies) - _MOST_NAMED
    named = ", ".join(copies[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"predicts the same as {named}, or nearly so"


def _judged(entries: Mapping[str, Evidence], reproduced: set[str], pins: Pins) -> list[tuple[Entry, bool]]:
    """Return the rows of a board's submissions, and whether each may be ranked.

    Of two entries with the same predictions nobody can tell which was first. So neither is ranked, unless
    a maintainer has run its code: that one is no copy.
    """
    copies, judged = find_copies(entries), []
    for entry_id, evidence in entries.items():
        entry = _make_entry(entry_id, evidence)
        reasons = why_unranked(evidence, pins.get(evidence.board.digest, {}))
        is_reproduced = entry_id in reproduced
        if entry.family != REFERENCE:
            reasons += filter(None, [equal_seeds(evidence)])
        notes = [_copied(copies[entry_id])] if copies[entry_id] and entry.family != REFERENCE else []
        may_rank = not reasons and (is_reproduced or not notes) and entry.value is not None
        entry = replace(
            entry,
            badge=REPRODUCED_BADGE if is_reproduced else entry.badge,
            remark="; ".join([*reasons, *notes]),
            copies=tuple(copies[entry_id]),
        )
        judged.append((entry, may_rank))
    return judged


def _ranked(board: Board, entries: Sequence[tuple[Entry, bool]]) -> tuple[Entry, ...]:
    """Return entries with their ranks among those of the same budget and form of prompts, the best first.

    Entries share the rank of the best whose value theirs doesn't differ from by more than scores of the
    same predictions may on two machines.
    """
    sign = -1 if board.higher_is_better else 1
    ordered = sorted(
        entries, key=lambda e: (e[0].value is None, sign * (e[0].value or 0), e[0].method, e[0].id)
    )
    counts: dict[Any, int] = {}
    leaders: dict[Any, tuple[int, float]] = {}
    ranked = []
    for entry, may_rank in ordered:
        if board.is_ranked and may_rank and entry.value is not None:
            among = entry.budget, entry.replies and entry.replies.form
            counts[among] = counts.get(among, 0) + 1
            leader = leaders.get(among)
            if leader is None or abs(entry.value - leader[1]) > CLAIM_TOLERANCE:
                leader = leaders[among] = counts[among], entry.value
            entry = replace(entry, rank=leader[0])
        ranked.append(entry)
    return tuple(ranked)


def _read_entry(folder: Path, gather: Callable[[Path], Evidence]) -> Evidence:
    """Return what a filed submission shows.

    Raises:
        SubmissionError: if it is refused, is of another board, or if other scores lie beside it.
        ConfigurationError: if there is no such board.
    """
    evidence = gather(folder)
    if evidence.board.id != folder.parent.name:
        raise SubmissionError(f"is for {evidence.board.id}; move it below {SUBMISSIONS}/{evidence.board.id}")
    if places := differing(read_scores(folder), evidence.scores):
        raise SubmissionError(
            f"{SCORES}: {places[0]} isn't what the predictions score; make it anew with `sraven submit`"
        )
    return evidence


def _read_entries(
    leaderboard: Path, only: str | None, last: date, gather: Callable[[Path], Evidence]
) -> tuple[dict[str, Evidence], list[Fault]]:
    """Return what the filed submissions show, by their ids, and what is none."""
    entries, faults = {}, []
    for found in walk_filed(leaderboard, last, only):
        if isinstance(found, Fault):
            faults.append(found)
            continue
        entry_id = f"{found.parent.name}/{found.name}"
        try:
            entries[entry_id] = _read_entry(found, gather)
        except Exception as error:  # whatever a stranger's entry breaks, it hides no other, and it is told
            told = (
                str(error) if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {error}"
            )
            faults.append(make_fault(entry_id, told))
    return entries, faults


def read_leaderboard(
    leaderboard: Path,
    only: str | None = None,
    *,
    last: date | None = None,
    pins: Pins | None = None,
    gather: Callable[[Path], Evidence] = gather_evidence,
) -> Leaderboard:
    """Return the standing of every board that ranks or has entries, or of one board.

    Args:
        leaderboard: the leaderboard's folder.
        only: id of a board; None for all.
        last: the latest day on which an entry can have been filed; None for today (UTC).
        pins: fingerprints of the documents of corpora; None for those of this installation.
        gather: returns what a submission shows, given its folder.

    Raises:
        ConfigurationError: if there is no such board.
    """
    boards = [read_board(only)] if only else [read_board(board_id) for board_id in board_ids()]
    pins = read_pins() if pins is None else pins
    found, faults = _read_entries(leaderboard, only, last or today(), gather)
    reproduced, misfits = read_reproduced(leaderboard, found, only)
    standings = []
    for board in boards:
        own = {entry_id: each for entry_id, each in found.items() if each.board.id == board.id}
        rows = _judged(own, reproduced, pins) + [(row, False) for row in _reported(board)]
        if only or rows or board.is_ranked:
            note = no_fingerprint(board, pins.get(board.digest, {}))
            standings.append(Standing(board, _ranked(board, rows), note))
    return Leaderboard(tuple(standings), (*faults, *misfits))
