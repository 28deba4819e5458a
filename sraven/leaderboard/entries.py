"""The rows of a board's table: of submissions, from what they say and score, and of what papers report."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sraven.board.board import Board
from sraven.leaderboard.evidence import Evidence
from sraven.leaderboard.standing import REFERENCE, REPORTED, SCORED, Combinations, Entry, Replies, SplitScore
from sraven.scoring.scores import interval_over_combinations


def _budget(board: Board, instances: int) -> int | None:
    return min((budget for budget in board.train_budgets if budget >= instances), default=None)


def entry_of(entry_id: str, evidence: Evidence) -> Entry:
    """Return the row of a submission, without rank, badge of a maintainer, and remark."""
    content, board, scores = evidence.content, evidence.board, evidence.scores
    method, training = content["method"], content["training"]
    is_reference, primary = evidence.family == REFERENCE, scores["splits"].get(board.primary_split, {})
    replies = {name: said for name, said in content.get("replies", {}).items() if name != "prompt_digest"}
    stamp = entry_id.rpartition("/")[2][:8]
    by_split = {
        split: _split_score(values["metrics"][board.metric], len(values["seeds"]))
        for split, values in scores["splits"].items()
    }
    score = by_split.get(board.primary_split, SplitScore(None, None, None, 0))
    composing = None if is_reference else evidence.composing
    return Entry(
        id=entry_id,
        method=method["name"],
        family=evidence.family,
        description=method["description"],
        badge=SCORED,
        value=score.value,
        standard_error=score.standard_error,
        interval=score.interval,
        combinations_interval=interval_over_combinations(primary, board.metric),
        combinations=_combinations(primary, board),
        grid_range=_grid_range(content, board),
        tuning_trials=training.get("tuning_trials"),
        seeds=score.seeds,
        splits={split: _means(values["metrics"]) for split, values in scores["splits"].items()},
        beside={split: _means(found) for split, found in evidence.beside.items()},
        gap=primary.get("gap_to_ceiling", {}).get(board.metric) if _is_bounded(content, board) else None,
        parameters=content["model"]["parameters"],
        train_instances=training["instances"],
        budget=None if is_reference else _budget(board, training["instances"]),
        date=f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:]}",
        paper=method.get("paper"),
        code=method.get("code"),
        errors=evidence.errors,
        replies=Replies(**replies) if replies else None,
        rungs={
            rung["metric"]: tuple(primary["metrics"][rung["metric"]]["interval"])
            for rung in (board.rungs if primary else ())
        },
        by_split=by_split,
        digest=evidence.digest,
        code_commit=method.get("code_commit"),
        composing=None if composing is None else asdict(composing),
    )


def _grid_range(content: Mapping[str, Any], board: Board) -> tuple[float, float] | None:
    """Return what the other points of its grid score, in the submitter's words."""
    scores = [point["scores"].get(board.primary_split) for point in content.get("points", ())]
    scores = [score for score in scores if score is not None]
    return (min(scores), max(scores)) if scores else None


def _means(scores: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: found["mean"] for name, found in scores.items()}


def _split_score(score: Mapping[str, Any], seeds: int) -> SplitScore:
    interval = tuple(score["interval"]) if score["interval"] else None
    return SplitScore(score["mean"], score["standard_error"], interval, seeds)


def _combinations(scores: Mapping[str, Any], board: Board) -> Combinations | None:
    """Return the primary metric by combination, where each of them has a score."""
    apart = scores.get("by_combination", {}).get(board.metric)
    if apart is None or None in apart["mean"]:
        return None
    return Combinations(tuple(apart["instances"]), tuple(apart["mean"]))


def _is_bounded(content: Mapping[str, Any], board: Board) -> bool:
    """Return whether a submission was given all that the ideal observer has."""
    return not board.is_text or board.task.wording.is_bounded(content["replies"]["form"])


def reported_entries(board: Board) -> list[Entry]:
    """Return the rows of a board that a paper reports."""
    return [
        Entry(
            method=row.method,
            description=row.source,
            badge=REPORTED,
            remark=" ".join(row.notes),
            value=row.value,
            standard_error=row.standard_error,
            seeds=row.seeds,
            splits={board.primary_split: {board.metric: row.value}},
            by_split={board.primary_split: SplitScore(row.value, row.standard_error, None, row.seeds)},
            gap=board.gap(board.primary_split, board.metric, row.value),
            parameters=row.parameters,
            train_instances=row.train_instances,
            budget=_budget(board, row.train_instances),
            paper=row.paper,
        )
        for row in board.reported
    ]
