"""The columns of a standing, for all who show it: the page, the terminal, CSV and JSON."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sraven.board.board import Board
from sraven.core.escape import figure, with_error
from sraven.core.families import find_family
from sraven.leaderboard.standing import Entry, Standing, primary_ceiling
from sraven.scoring.bootstrap import SHARE

SCORED_SPLITS = ("test", "ood", "ood_terms", "validation", "ladder")
"""The scored splits of boards, each of which has columns of its own."""

SPLIT_TITLES = {
    "test": "known combinations",
    "ood": "held-out combinations",
    "ood_terms": "unknown terms",
}
"""What splits are called; the others by their names."""

Value = Callable[[Board, Entry], Any]
"""What a column of a file has of an entry; None stands for what there isn't."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        values: what files have of an entry, by the names of their columns; nothing for people's alone.
        title: its heading for people, given a board; empty where they don't see it.
        text: what people read of an entry; empty for nothing.
    """

    values: Mapping[str, Value]
    title: Callable[[Board], str] = lambda board: ""
    text: Callable[[Board, Entry], str] = lambda board, entry: ""


def metric_title(board: Board, metric: str) -> str:
    """Return what a metric of a board is called."""
    known = board.task.scoring.metrics.get(metric)
    return (known and known.title) or metric.replace("_", " ").replace(".", ": ")


def score_title(board: Board, split: str) -> str:
    """Return what the score on a split is called, such as *accuracy on held-out combinations*."""
    return f"{metric_title(board, board.metric)} on {SPLIT_TITLES.get(split, split)}"


def budget_text(board: Board, budget: int | None) -> str:
    """Return what those of a training budget were trained on."""
    if budget is None:
        return f"more than {max(board.train_budgets):,} {board.budget_unit}"
    return f"up to {budget:,} {board.budget_unit}" if budget else f"no {board.budget_unit}"


def place(entry: Entry) -> str:
    """Return an entry's rank and its range, such as ``1 (1–3)``; nothing if it isn't ranked."""
    return f"{entry.rank or ''}" + (f" ({entry.spread})" if entry.spread else "")


def span(interval: tuple[float, float] | None) -> str:
    """Return an interval in words; an empty text for none."""
    return " to ".join(map(figure, interval)) if interval else ""


def _number(value: float | None) -> str:
    return "" if value is None else figure(value)


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _of_entry(*names: str) -> dict[str, Value]:
    return {name: lambda board, entry, name=name: getattr(entry, name) for name in names}


def _of_replies(*names: str, **renamed: str) -> dict[str, Value]:
    named = {**{name: name for name in names}, **renamed}
    return {
        column: lambda board, entry, name=name: getattr(entry.replies, name, None)
        for column, name in named.items()
    }


def _of_splits(name: str) -> dict[str, Value]:
    return {
        f"{'score' if name == 'value' else name}_{split}": lambda board, entry, split=split: getattr(
            entry.by_split.get(split), name, None
        )
        for split in SCORED_SPLITS
    }


def _ends(column: str, name: str) -> dict[str, Value]:
    """Return the two columns of an interval."""
    return {
        f"{column}_{end}": lambda board, entry, at=at: (getattr(entry, name) or (None, None))[at]
        for at, end in enumerate(("low", "high"))
    }


def _over(board: Board) -> str:
    """Return the heading of the interval of a score: it is over combinations wherever scores are by them."""
    resampled = find_family(board.family).resampled
    has_combinations = resampled == "instances" and not board.is_text
    return f"{SHARE} over {'combinations' if has_combinations else resampled}"


def _only_where(title: str, holds: Callable[[Board], bool]) -> Callable[[Board], str]:
    return lambda board: title if holds(board) else ""


def _on_split(split: str) -> Column:
    return Column(
        {},
        _only_where_split(split),
        lambda board, entry: _number(entry.splits.get(split, {}).get(board.metric)),
    )


def _only_where_split(split: str) -> Callable[[Board], str]:
    return lambda board: (
        score_title(board, split) if split in board.splits and split != board.primary_split else ""
    )


def _by_metric(title: str, metric: str) -> Column:
    """Return a column of another metric on the primary split, for people alone."""
    return Column(
        {},
        _only_where(title, lambda board: metric in board.metric_names and board.is_text),
        lambda board, entry: _number(entry.splits.get(board.primary_split, {}).get(metric)),
    )


def _kept_text(board: Board, entry: Entry) -> str:
    return f"{_number(entry.kept)} ({span(entry.kept_interval)})" if entry.kept_interval else ""


LIST = (
    Column(
        {
            "board": lambda board, entry: board.id,
            "board_digest": lambda board, entry: board.digest,
            "entry": lambda board, entry: entry.id or None,
        }
    ),
    Column(
        {**_of_entry("rank"), **_ends("rank", "rank_range")},
        _only_where("rank", lambda board: board.is_ranked),
        lambda board, entry: place(entry),
    ),
    Column(_of_entry("method"), lambda board: "method", lambda board, entry: entry.method),
    Column(_of_entry("family")),
    Column(
        _of_entry("badge", "own"),
        lambda board: "badge",
        lambda board, entry: "yours" if entry.own else entry.badge,
    ),
    Column(
        {
            "metric": lambda board, entry: board.metric,
            "split": lambda board, entry: board.primary_split,
            "score": lambda board, entry: entry.value,
            **_of_entry("standard_error"),
        },
        lambda board: score_title(board, board.primary_split),
        lambda board, entry: "–" if entry.value is None else with_error(entry.value, entry.standard_error),
    ),
    Column(
        {
            **_ends("interval", "interval"),
            **_ends("combinations", "combinations_interval"),
            **_ends("grid", "grid_range"),
            **_of_entry("tuning_trials", "seeds"),
        },
        _over,
        lambda board, entry: span(entry.shown_interval),
    ),
    *map(_on_split, SCORED_SPLITS),
    Column(
        {
            "ceiling": lambda board, entry: primary_ceiling(board),
            "chance": lambda board, entry: board.chance,
            **_of_entry("gap"),
        },
        _only_where("gap to ceiling", lambda board: primary_ceiling(board) is not None),
        lambda board, entry: _number(entry.gap),
    ),
    Column({**_of_splits("value"), **_of_splits("standard_error")}),
    Column({**_of_entry("kept"), **_ends("kept", "kept_interval")}, lambda board: "kept", _kept_text),
    Column(
        _of_entry("parameters"), lambda board: "parameters", lambda board, entry: _count(entry.parameters)
    ),
    Column(
        {
            **_of_entry("train_instances"),
            "train_unit": lambda board, entry: board.budget_unit,
            "train_budget": lambda board, entry: entry.budget,
        },
        lambda board: "trained on" if board.budget_unit == "instances" else board.budget_unit,
        lambda board, entry: _count(entry.train_instances or None),
    ),
    Column(
        {
            **_of_entry("date"),
            "remark": lambda board, entry: entry.remark or None,
            **_of_entry("description", "paper", "code", "code_commit"),
            "submission_digest": lambda board, entry: entry.digest,
            **_of_replies(model="model", model_revision="revision"),
        }
    ),
    Column(
        _of_replies("form", "harness", "harness_version", "temperature"),
        lambda board: "form",
        lambda board, entry: entry.replies.form if entry.replies else "",
    ),
    _by_metric("unparsed", "unparsed"),
    _by_metric("read strictly", "accuracy_strict"),
    Column(
        _of_replies("input_tokens", "output_tokens", "cost_usd"),
        lambda board: "tokens a reply",
        lambda board, entry: (
            f"{tokens:,.0f}" if entry.replies and (tokens := entry.replies.output_tokens) is not None else ""
        ),
    ),
)
"""All columns, in their order."""

COLUMNS: Mapping[str, Value] = {name: value for column in LIST for name, value in column.values.items()}
"""Those of the files. None goes or changes its meaning while `SCHEMA` stays."""


def shown_columns(standing: Standing) -> dict[str, Callable[[Entry], str]]:
    """Return people's columns of a board by their headings: what each has of an entry.

    Those in which no entry has anything are left out.
    """
    board, found = standing.board, dict[str, Callable[[Entry], str]]()
    for column in LIST:
        title = column.title(board)
        if title and any(column.text(board, entry) for entry in standing.entries):
            found[title] = lambda entry, text=column.text: text(board, entry)  # type: ignore[misc]
    return found
