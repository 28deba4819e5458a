"""A board's table, as values for the template: its columns of figures, and its rows by training budget.

What a row shows that stands in its entry, the template takes from there.
"""

import textwrap
from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import Element

from sraven.board.board import Board
from sraven.core.names import host
from sraven.leaderboard.eligibility import is_at_chance
from sraven.leaderboard.page.groups import EntryGroup, groups, look_notes, reported_notes
from sraven.leaderboard.page.mistakes import Mistakes, make_mistakes
from sraven.leaderboard.page.strip import draw_strip, find_bounds, find_scale
from sraven.leaderboard.page.words import NOTHING, capitalised, compact, metric_name, score, shortened
from sraven.leaderboard.standing import REPORTED, Entry, Standing, primary_ceiling

UNPARSED = "unparsed"
"""On boards of texts, the metric that is the share of replies in which no answer was found."""

STRICT = "accuracy_strict"
"""On those that are ranked by a lenient reading, the metric that stands beside it."""

_IN_BRIEF = 150
_HOST_LETTERS = 28


class TableValue(NamedTuple):
    """A number or date in a row: what to read, what the column is sorted by, and what more there is to say.

    None to sort by, for what is missing, comes last in both directions.
    """

    text: str
    sort: str | float | None
    title: str = ""


class TableColumn(NamedTuple):
    """A column: its class in the style sheet, heading, direction of the first click, and figures."""

    key: str
    label: str
    first: str
    figure: Callable[[Entry], TableValue]


class Link(NamedTuple):
    """An untrusted address: what to read, where it leads, its host, and the end of that: whose it is."""

    text: str
    address: str
    host: str
    end: str


class TableRow(NamedTuple):
    """An entry.

    Attributes:
        name: by which the page knows it.
        entry: with its texts made legible.
        search: what the text filter looks through.
        strip: its score between chance and ceiling; None if it has none.
        is_first: whether it is surely the first of its group: its range is its rank, and others are ranked
            there, or its budget is the board's own.
        is_at_chance: whether it has no rank and its score is no better than guessing.
        note: number of the note on where a reported figure is from; None for others.
        look: what to know of the look of its name; may be empty.
        brief: beginning of a long description; empty for others.
        metrics: every metric on every split, means over seeds; nothing if there is one metric.
        mistakes: what it gets wrong, if that is sorted.
        links: those of its addresses that are plain.
        figures: in the order of the columns.
    """

    name: str
    entry: Entry
    search: str
    strip: Element | None
    is_first: bool
    is_at_chance: bool
    note: int | None
    look: str
    brief: str
    metrics: tuple[tuple[str, tuple[str, ...]], ...]
    mistakes: Mistakes | None
    links: tuple[Link, ...]
    figures: tuple[tuple[TableColumn, TableValue], ...]


class Table(NamedTuple):
    """A board's table: rank (if it ranks), method, badge, primary score, then columns of figures, links.

    Attributes:
        primary: heading of the score that ranks.
        best: direction in which the best comes first: ``descending`` or ``ascending``.
        columns: the others.
        bodies: its rows by group.
    """

    primary: str
    best: str
    columns: tuple[TableColumn, ...]
    bodies: tuple[tuple[EntryGroup, tuple[TableRow, ...]], ...]


def _brief(description: str) -> str:
    if len(description) <= _IN_BRIEF:
        return ""
    brief = textwrap.shorten(description, _IN_BRIEF, placeholder=" …")
    has_spaces = len(brief) >= _IN_BRIEF // 2
    return brief if has_spaces else shortened(description, _IN_BRIEF)


def _metrics(board: Board, entry: Entry) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = [{**metrics, **entry.beside.get(split, {})} for split, metrics in entry.splits.items()]
    names = dict.fromkeys(name for metrics in found for name in metrics)
    rows = ((metric_name(board, name), tuple(score(split.get(name)) for split in found)) for name in names)
    return tuple(rows) if len(names) > 1 else ()


def _links(entry: Entry) -> tuple[Link, ...]:
    """Return links to addresses; what isn't a plain address is left out."""
    links = []
    for text, address in (("paper", entry.paper), ("code", entry.code)):
        leads_to = host(address)
        if address and leads_to:
            # Whose a host is, its end says: github.com.evil.example is evil.example's.
            end = leads_to if len(leads_to) <= _HOST_LETTERS else "…" + leads_to[1 - _HOST_LETTERS :]
            links.append(Link(text, address, leads_to, end))
    return tuple(links)


def _search(entry: Entry) -> str:
    found = entry.replies
    model = (found.model, found.revision, found.harness) if found else ()
    texts = (entry.method, entry.family, entry.description, entry.id, *model)
    return " ".join(filter(None, texts)).lower()


def _number(value: float | None) -> TableValue:
    return TableValue(score(value), value)


def _kept(entry: Entry) -> TableValue:
    """Return what an entry keeps on held-out combinations, with its interval and scores by new pairs."""
    if entry.composing is None or entry.kept is None:
        return TableValue(NOTHING, None)
    low, high = map(score, entry.kept_interval or (None, None))
    groups = entry.composing["by_new_pairs"]
    pairs = ", ".join(f"{score(each['score']['value'])} with {each['pairs']}" for each in groups)
    title = f"held out / known, {low} to {high} over combinations; held out by new pairs: {pairs}"
    return TableValue(score(entry.kept), entry.kept, title)


def _on(split: str, metric: str) -> Callable[[Entry], TableValue]:
    return lambda entry: _number(entry.splits.get(split, {}).get(metric))


def _count(value: int | None, least: int) -> TableValue:
    """Return a count, in short from some number on."""
    if value is None:
        return TableValue(NOTHING, None, "not stated")
    text = (compact(value) if value >= least else f"{value:,}") if value else "none"
    return TableValue(text, value, f"{value:,}")


def _tokens(entry: Entry) -> TableValue:
    """Return the tokens of a reply, and what else replies took as their title."""
    found = entry.replies
    if found is None or found.input_tokens is None or found.output_tokens is None:
        return TableValue(NOTHING, None)
    cost = "" if found.cost_usd is None else f", {found.cost_usd:.2g} US dollars"
    tokens = f"{found.output_tokens:,.0f}"
    title = f"a question: {found.input_tokens:,.0f} tokens of prompt, {tokens} of reply{cost}"
    return TableValue(tokens, found.output_tokens, title)


def _columns(standing: Standing, best: str) -> tuple[TableColumn, ...]:
    """Return a board's columns of figures."""
    board = standing.board
    metric = capitalised(metric_name(board, board.metric))
    others = [split for split in board.splits if split != board.primary_split]
    trained = "Trained on" if board.budget_unit == "instances" else capitalised(board.budget_unit)
    gap = TableColumn("gap", "Gap to ceiling", "ascending", lambda entry: _number(entry.gap))
    unparsed = TableColumn("other", "Unparsed", "ascending", _on(board.primary_split, UNPARSED))
    strict = TableColumn("other", "Read strictly", best, _on(board.primary_split, STRICT))
    tokens = TableColumn("other", "Tokens a reply", "ascending", _tokens)
    kept = TableColumn("other", "Kept", best, _kept)
    has_kept = any(entry.kept is not None for entry in standing.entries)
    has_tokens = any(_tokens(entry).sort is not None for entry in standing.entries)
    return (
        *([strict] if STRICT in board.metric_names else []),
        *([unparsed] if board.is_text else []),
        *([tokens] if has_tokens else []),
        *(TableColumn("other", f"{metric}, {split}", best, _on(split, board.metric)) for split in others),
        *([kept] if has_kept else []),
        *([gap] if primary_ceiling(board) is not None else []),
        TableColumn("parameters", "Parameters", "ascending", lambda entry: _count(entry.parameters, 10**8)),
        TableColumn("instances", trained, "ascending", lambda entry: _count(entry.train_instances, 10**6)),
        TableColumn(
            "date", "Date", "descending", lambda entry: TableValue(entry.date or NOTHING, entry.date)
        ),
    )


def make_table(standing: Standing) -> Table:
    """Return a board's table."""
    board, scale, bounds = standing.board, find_scale(standing), find_bounds(standing.board)
    best = "descending" if board.higher_is_better else "ascending"
    columns = _columns(standing, best)
    notes, looks = reported_notes(standing), look_notes(standing)

    def row(name: str, entry: Entry, is_alone: bool) -> TableRow:
        return TableRow(
            name=name,
            entry=entry,
            search=_search(entry),
            strip=draw_strip(scale, bounds, [[entry]]) if scale and entry.value is not None else None,
            is_first=entry.rank_range == (1, 1) and not (is_alone and entry.budget != board.train_budget),
            is_at_chance=entry.rank is None and is_at_chance(board, entry.shown_interval),
            note=notes.get((entry.description, entry.remark)) if entry.badge == REPORTED else None,
            look=capitalised(looks.get(entry.id, "")),
            brief=_brief(entry.description),
            metrics=_metrics(board, entry),
            mistakes=make_mistakes(board, entry),
            links=_links(entry),
            figures=tuple((column, column.figure(entry)) for column in columns),
        )

    def rows(group: EntryGroup) -> tuple[TableRow, ...]:
        is_alone = sum(entry.rank is not None for _, entry in group.entries) == 1
        return tuple(row(name, entry, is_alone) for name, entry in group.entries)

    return Table(
        primary=f"{capitalised(metric_name(board, board.metric))}, {board.primary_split}",
        best=best,
        columns=columns,
        bodies=tuple((group, rows(group)) for group in groups(standing)),
    )
