"""Tables of the page: a board's entries, those of each training budget apart."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from sraven.core.leaderboard.ranking import REPORTED, Entry, Standing, ceiling
from sraven.core.page.groups import Group, budget_key, groups, is_ranked, look_notes, note_id, reported_notes
from sraven.core.page.html import Child, element, foreign, link
from sraven.core.page.scale import shortened
from sraven.core.page.words import (
    BADGES,
    NOTHING,
    REFERENCE,
    capitalised,
    compact,
    kind,
    metric_name,
    score,
    with_error,
)

_IN_BRIEF = 150


@dataclass(frozen=True)
class Cell:
    """What an entry has in a column, and what it is sorted by: None comes last, whatever the direction."""

    children: tuple[Child, ...]
    sort: str | float | None = None
    empty: bool = False


@dataclass(frozen=True)
class Column:
    """A column: its heading, and the direction that the first click sorts in; None if it can't be sorted."""

    key: str
    label: str
    first: str | None
    cell: Callable[[Entry], Cell]


def _missing() -> Cell:
    return Cell((NOTHING,), empty=True)


def _rank(entry: Entry) -> Cell:
    if entry.rank is None:
        told = element("span", "not ranked", class_="unseen")
        return Cell((element("span", NOTHING, aria_hidden="true"), told), empty=True)
    return Cell((str(entry.rank),), entry.rank)


def _described(entry: Entry) -> Element | None:
    """Return a description; a long one opens on demand."""
    if not entry.description:
        return None
    brief = textwrap.shorten(entry.description, _IN_BRIEF, placeholder=" …")
    if len(entry.description) <= _IN_BRIEF:
        return foreign(entry.description, "p", class_="described")
    if len(brief) < _IN_BRIEF // 2:  # it has few spaces
        brief = shortened(entry.description, _IN_BRIEF)
    rest = foreign(entry.description, "p")
    return element("details", foreign(brief, "summary"), rest, class_="described")


def _all_metrics(entry: Entry) -> Element | None:
    """Return every metric on every split, on demand."""
    names = list(dict.fromkeys(name for metrics in entry.splits.values() for name in metrics))
    if len(names) < 2:
        return None
    splits = list(entry.splits)
    head = element("tr", element("th", "mean over seeds"), *[element("th", split) for split in splits])
    rows = [
        element(
            "tr",
            element("th", metric_name(name)),
            *[element("td", score(entry.splits[split].get(name))) for split in splits],
        )
        for name in names
    ]
    table = element("table", element("tbody", head, *rows), class_="metrics")
    filed = element("p", "Filed as ", element("code", entry.id)) if entry.id else None
    documents = (
        element("code", entry.fingerprint[:12], title=entry.fingerprint) if entry.fingerprint else None
    )
    read = element("p", "Fingerprint of its documents: ", documents) if documents is not None else None
    return element("details", element("summary", "All metrics"), table, filed, read, class_="more")


def _below_name(entry: Entry, look: str) -> list[Child]:
    """Return what stands below the name of a submission's method."""
    is_reference = kind(entry) == REFERENCE  # the heading above says so, and why it isn't ranked
    start = "Not ranked: " if entry.rank is None else ""
    return [
        element("p", capitalised(look), ".", class_="remark") if look else None,
        element("p", foreign(entry.family), class_="family") if entry.family and not is_reference else None,
        _described(entry),
        element("p", start, foreign(entry.remark), class_="remark")
        if entry.remark and not is_reference
        else None,
        _all_metrics(entry),
    ]


def _method(standing: Standing) -> Callable[[Entry], Cell]:
    notes, looks = reported_notes(standing), look_notes(standing)

    def cell(entry: Entry) -> Cell:
        name, below = foreign(entry.method, class_="name"), _below_name(entry, looks.get(entry.id, ""))
        if entry.badge == REPORTED:
            number = notes[entry.description, entry.remark]
            target = f"#{note_id(standing, number)}"
            marker = element("a", str(number), href=target, aria_label=f"note {number}")
            name, below = element("span", name, element("sup", marker, class_="marker")), []
        return Cell((name, *below), entry.method.casefold())

    return cell


def _badge(entry: Entry) -> Cell:
    badge = element("span", entry.badge, class_=f"badge {entry.badge}", title=BADGES.get(entry.badge))
    return Cell((badge,), entry.badge)


def _primary(entry: Entry) -> Cell:
    """Return the primary metric, and below it what it rests on."""
    if entry.value is None:
        return _missing()
    seeds = "1 seed" if entry.seeds == 1 else f"{entry.seeds} seeds"
    rests = ", no predictions" if entry.badge == REPORTED else ""
    title = None
    if entry.interval:
        rests = f", {score(entry.interval[0])} to {score(entry.interval[1])}"
        title = "95 % of bootstrap samples of the instances lie in this interval"
    value, _, error = with_error(entry).partition("\u00a0")
    shown = element("span", element("span", value, class_="value"), f" {error}" if error else "")
    return Cell((shown, element("span", seeds + rests, class_="rests", title=title)), entry.value)


def _on(split: str, metric: str) -> Callable[[Entry], Cell]:
    def cell(entry: Entry) -> Cell:
        value = entry.splits.get(split, {}).get(metric)
        return _missing() if value is None else Cell((score(value),), value)

    return cell


def _gap(entry: Entry) -> Cell:
    return _missing() if entry.gap is None else Cell((score(entry.gap),), entry.gap)


def _count(value: Callable[[Entry], int | None], least: int) -> Callable[[Entry], Cell]:
    """Return what makes the cells of a count, in short from some number on."""

    def cell(entry: Entry) -> Cell:
        count = value(entry)
        if count is None:
            return Cell((element("span", NOTHING, title="not stated"),), empty=True)
        shown = (compact(count) if count >= least else f"{count:,}") if count else "none"
        return Cell((element("span", shown, title=f"{count:,}"),), count)

    return cell


def _date(entry: Entry) -> Cell:
    return Cell((element("time", entry.date),), entry.date) if entry.date else _missing()


def _links(entry: Entry) -> Cell:
    found = [
        link(text, address, f"{text} of {entry.method}")
        for text, address in (("paper", entry.paper), ("code", entry.code))
    ]
    shown = [each for each in found if each is not None]
    return Cell(tuple(shown)) if shown else _missing()


def columns(standing: Standing) -> tuple[Column, ...]:
    """Return the columns of a board's table."""
    board = standing.board
    metric = capitalised(metric_name(board.metric))
    best = "descending" if board.higher_is_better else "ascending"
    others = [split for split in board.splits if split != board.primary_split]
    trained = "Trained on" if board.budget_unit == "instances" else capitalised(board.budget_unit)
    return (
        *([Column("rank", "Rank", "ascending", _rank)] if is_ranked(standing) else []),
        Column("method", "Method", "ascending", _method(standing)),
        Column("badge-cell", "Badge", "ascending", _badge),
        Column("primary", f"{metric}, {board.primary_split}", best, _primary),
        *[Column("other", f"{metric}, {split}", best, _on(split, board.metric)) for split in others],
        *([Column("gap", "Gap to ceiling", "ascending", _gap)] if ceiling(board) is not None else []),
        Column("parameters", "Parameters", "ascending", _count(lambda e: e.parameters, 10**8)),
        Column("instances", trained, "ascending", _count(lambda e: e.train_instances, 10**6)),
        Column("date", "Date", "descending", _date),
        Column("links", "Links", None, _links),
    )


def _search_text(entry: Entry) -> str:
    return " ".join(filter(None, (entry.method, entry.family, entry.description, entry.id))).lower()


def _cell(column: Column, entry: Entry) -> Element:
    cell = column.cell(entry)
    is_method = column.key == "method"
    return element(
        "th" if is_method else "td",
        *cell.children,
        class_=f"{column.key} empty" if cell.empty else column.key,
        role="rowheader" if is_method else "cell",
        scope="row" if is_method else None,
        data_label=None if is_method else column.label,
        data_sort=cell.sort,
    )


def _row(name: str, entry: Entry, shown: Sequence[Column]) -> Element:
    return element(
        "tr",
        *[_cell(column, entry) for column in shown],
        class_=f"entry {kind(entry)}",
        role="row",
        id=entry.id or None,
        data_entry=name,
        data_badge=entry.badge,
        data_budget=budget_key(entry),
        data_search=_search_text(entry),
    )


def _body(group: Group, shown: Sequence[Column]) -> Element:
    title = element("span", group.title, class_="group-title")
    note = element("span", group.note, class_="group-note") if group.note else None
    heading = element("th", title, " ", note, colspan=len(shown), scope="rowgroup", role="rowheader")
    rows = [_row(name, entry, shown) for name, entry in group.entries]
    return element("tbody", element("tr", heading, class_="group", role="row"), *rows, role="rowgroup")


def draw_table(standing: Standing) -> Element:
    """Return a board's table."""
    shown = columns(standing)
    attributes: Mapping[str, Callable[[Column], str | None]] = {
        "class_": lambda column: column.key,
        "data_first": lambda column: column.first,
        "aria_sort": lambda column: column.first if column.key == "primary" else None,
    }
    headings = [
        element(
            "th",
            column.label,
            scope="col",
            role="columnheader",
            **{name: value(column) for name, value in attributes.items()},
        )
        for column in shown
    ]
    return element(
        "table",
        element("caption", f"Entries of {standing.board.id}", class_="unseen"),
        element("thead", element("tr", *headings, role="row"), role="rowgroup"),
        *[_body(group, shown) for group in groups(standing)],
        class_="standing",
        role="table",
    )
