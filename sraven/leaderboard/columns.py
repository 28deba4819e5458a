"""The columns of a standing, for all who show it: the page, the terminal and JSON."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from sraven.board.board import Board
from sraven.core.escape import figure, with_error
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
        return f"more than {max(board.train_budgets):,} instances"
    return f"up to {budget:,} instances" if budget else "no instances"


def place(entry: Entry) -> str:
    """Return an entry's rank and its range, such as ``1 (1–3)``; nothing if it isn't ranked."""
    return f"{entry.rank or ''}" + (f" ({entry.spread})" if entry.spread else "")


def _text(value: Any) -> str:
    """Return what people read of a value: a number, an interval, a text; empty for None."""
    match value:
        case None:
            return ""
        case tuple():
            return " to ".join(map(figure, value))
        case float():
            return figure(value)
        case int():
            return f"{value:,}"
    return str(value)


class Column(NamedTuple):
    """A column.

    Attributes:
        name: in files; empty for people's alone.
        value: what it has of an entry.
        title: its heading for people; empty where they don't see it.
        text: what people read, if that isn't the value; where it is empty for all entries, they don't see it.
    """

    name: str
    value: Value = lambda board, entry: None
    title: str | Callable[[Standing], str] = ""
    text: Value | None = None

    def shown(self, board: Board, entry: Entry) -> str:
        """Return what people read of an entry."""
        return _text((self.text or self.value)(board, entry))


def _score(board: Board, entry: Entry) -> str:
    return "–" if entry.value is None else with_error(entry.value, entry.standard_error)


def _over(standing: Standing) -> str:
    """Return the heading of the interval of a score."""
    known = (entry.resampled(standing.board) for entry in standing.entries if entry.interval)
    return f"{SHARE} over {next(known, 'instances')}"


def _kept(board: Board, entry: Entry) -> str:
    if entry.kept is None or entry.kept_interval is None:
        return ""
    low, high = entry.kept_interval
    return f"{entry.kept:.2f} ({low:.2f} to {high:.2f})"


def _part(entry: Entry, name: str) -> float | None:
    return entry.parts[name]["value"] if entry.parts else None


def _parts(entry: Entry) -> str:
    known, held_out = _part(entry, "known"), _part(entry, "held_out")
    return "" if known is None or held_out is None else f"{known:.2f} → {held_out:.2f}"


def _tokens(board: Board, entry: Entry) -> str:
    tokens = entry.replies.output_tokens if entry.replies else None
    return "" if tokens is None else f"{tokens:,.0f}"


def _mean(entry: Entry, split: str, metric: str) -> float | None:
    return entry.splits.get(split, {}).get(metric)


def _metric(title: str, metric: str) -> Column:
    """Return a column of another metric of boards of text on the primary split, for people alone."""
    return Column("", title=title, text=lambda b, e: _mean(e, b.primary_split, metric) if b.is_text else None)


def _split(split: str) -> Column:
    """Return a column of the score on another split than the primary one, for people alone."""
    return Column(
        "",
        title=lambda standing: score_title(standing.board, split),
        text=lambda b, e: None if split == b.primary_split else _mean(e, split, b.metric),
    )


def _of_split(name: str, attribute: str) -> tuple[Column, ...]:
    """Return a column for each scored split."""

    def column(split: str) -> Column:
        return Column(f"{name}_{split}", lambda b, e: getattr(e.by_split.get(split), attribute, None))

    return tuple(map(column, SCORED_SPLITS))


def _ends(name: str, interval: Callable[[Entry], tuple[Any, Any] | None]) -> tuple[Column, Column]:
    """Return the two columns of an interval."""
    return (
        Column(f"{name}_low", lambda b, e: (interval(e) or (None, None))[0]),
        Column(f"{name}_high", lambda b, e: (interval(e) or (None, None))[1]),
    )


def _of_replies(name: str, attribute: str = "", **shown: Any) -> Column:
    return Column(name, lambda b, e: getattr(e.replies, attribute or name, None), **shown)


LIST = (
    Column("board", lambda b, e: b.id),
    Column("board_digest", lambda b, e: b.digest),
    Column("entry", lambda b, e: e.id or None),
    Column("rank", lambda b, e: e.rank, "rank", lambda b, e: place(e)),
    *_ends("rank", lambda e: e.rank_range),
    Column("method", lambda b, e: e.method, "method"),
    Column("family", lambda b, e: e.family),
    Column("badge", lambda b, e: e.badge, "badge", lambda b, e: "yours" if e.own else e.badge),
    Column("own", lambda b, e: e.own),
    Column("metric", lambda b, e: b.metric),
    Column("split", lambda b, e: b.primary_split),
    Column("score", lambda b, e: e.value, lambda s: score_title(s.board, s.board.primary_split), _score),
    Column("standard_error", lambda b, e: e.standard_error),
    Column("", title=_over, text=lambda b, e: e.shown_interval),
    *_ends("interval", lambda e: e.interval),
    *_ends("combinations", lambda e: e.combinations_interval),
    *_ends("grid", lambda e: e.grid_range),
    Column("tuning_trials", lambda b, e: e.tuning_trials),
    Column("seeds", lambda b, e: e.seeds),
    Column("ceiling", lambda b, e: primary_ceiling(b)),
    Column("chance", lambda b, e: b.chance),
    *map(_split, SCORED_SPLITS),
    Column("gap", lambda b, e: e.gap, "gap to ceiling"),
    *_of_split("score", "value"),
    *_of_split("standard_error", "standard_error"),
    Column("", title="features, known → held out", text=lambda b, e: _parts(e)),
    Column("features_known", lambda b, e: _part(e, "known")),
    Column("features_held_out", lambda b, e: _part(e, "held_out")),
    Column("features_lost", lambda b, e: _part(e, "lost")),
    *_ends("features_lost", lambda e: e.parts["lost"]["interval"] if e.parts else None),
    Column("sibling_answers", lambda b, e: e.sibling_answers(b.primary_split)),
    Column("kept", lambda b, e: e.kept, "kept", _kept),
    *_ends("kept", lambda e: e.kept_interval),
    Column("parameters", lambda b, e: e.parameters, "parameters"),
    Column(
        "train_instances",
        lambda b, e: e.train_instances,
        "trained on",
        lambda b, e: e.train_instances or None,
    ),
    Column("train_unit", lambda b, e: "instances"),
    Column("train_budget", lambda b, e: e.budget),
    Column("date", lambda b, e: e.date),
    Column("remark", lambda b, e: e.remark or None),
    Column("description", lambda b, e: e.description),
    Column("paper", lambda b, e: e.paper),
    Column("code", lambda b, e: e.code),
    Column("code_commit", lambda b, e: e.code_commit),
    Column("submission_digest", lambda b, e: e.digest),
    _of_replies("model"),
    _of_replies("model_revision", "revision"),
    _of_replies("form", title="form"),
    *map(_of_replies, ("harness", "harness_version", "temperature", "input_tokens")),
    _of_replies("output_tokens", title="tokens a reply", text=_tokens),
    _of_replies("cost_usd"),
    _metric("unparsed", "unparsed"),
    _metric("read strictly", "accuracy_strict"),
)
"""All columns, in their order."""

COLUMNS: Mapping[str, Value] = {column.name: column.value for column in LIST if column.name}
"""Those of the files. None goes or changes its meaning while `SCHEMA` stays."""


def shown_columns(standing: Standing) -> dict[str, Callable[[Entry], str]]:
    """Return people's columns of a board by their headings: what each has of an entry.

    Those in which no entry has anything are left out.
    """
    board = standing.board
    found: dict[str, Callable[[Entry], str]] = {}
    for column in LIST:
        title = column.title if isinstance(column.title, str) else column.title(standing)
        if title and any(column.shown(board, entry) for entry in standing.entries):
            found[title] = partial(column.shown, board)
    return found
