"""A row of a board's table, as values for the template: what an entry is, beside its columns of figures."""

import textwrap
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from sraven.core.boards.board import Board
from sraven.core.ground.names import host
from sraven.core.leaderboard.eligibility import is_at_chance
from sraven.core.leaderboard.standing import REPORTED, Entry, Replies
from sraven.core.page.attention import family_of
from sraven.core.page.groups import budget_key
from sraven.core.page.lettering import shortened
from sraven.core.page.marks import draw_mark
from sraven.core.page.mistakes import Mistakes, make_mistakes
from sraven.core.page.strip import Bound, Span, draw_strip
from sraven.core.page.words import BADGES, REFERENCE, capitalised, kind, metric_name, score, score_and_error

_IN_BRIEF = 150
_HOST_LETTERS = 28
_REVISION_LETTERS = 20


@dataclass(frozen=True)
class Described:
    """A description, and its beginning if it is long; else ``brief`` is empty."""

    brief: str
    whole: str


@dataclass(frozen=True)
class Metrics:
    """Every metric on every split: means over seeds."""

    splits: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Link:
    """A stranger's address.

    Attributes:
        text: what to read.
        address: where it leads.
        host: of the address.
        end: of the host: whose it is.
    """

    text: str
    address: str
    host: str
    end: str


@dataclass(frozen=True)
class Row:
    """An entry.

    Attributes:
        name: by which the page knows its row and its points.
        id: its folder; empty for what isn't filed.
        kind: ``reference``, or its badge.
        mark: its family of attention by shape, and its badge by how that is filled.
        attention: the name of that family.
        strip: its score between chance and ceiling; None if it has none.
        badge: its badge, and what that means.
        budget: the key of its training budget.
        search: what the text filter looks through.
        rank: None if it isn't ranked.
        is_at_chance: whether its score is no better than guessing.
        is_own: whether it is the reader's own, which no one else has filed.
        method: its name, for people.
        details: what else its name has; may be empty.
        note: number of the note on where a reported figure is from; None for others.
        look: what to know of the look of its name; may be empty.
        family: what it belongs to; may be empty, as the others.
        described: its description.
        remark: why it isn't ranked, or what to know of it.
        metrics: all of them, if there are several.
        mistakes: what it gets wrong, if that is sorted.
        fingerprint: of the documents of a corpus.
        value: the primary metric, which it is sorted by.
        score: that in words, and its error over seeds.
        seeds: their number.
        interval: its ends in words.
        links: those of its addresses that are plain.
        replies: which language model replied to what; None on boards of numbers, and of references.
        revision: of that model, in short.
    """

    name: str
    id: str
    kind: str
    mark: Element
    attention: str
    strip: Element | None
    badge: tuple[str, str]
    budget: str
    search: str
    rank: int | None
    is_at_chance: bool
    method: str
    details: str
    note: int | None
    look: str
    family: str
    described: Described | None
    remark: str
    metrics: Metrics | None
    mistakes: Mistakes | None
    fingerprint: str
    value: float | None
    score: tuple[str, str]
    seeds: int
    interval: tuple[str, ...]
    links: tuple[Link, ...]
    replies: Replies | None
    revision: str
    is_own: bool


def _described(description: str) -> Described | None:
    if len(description) <= _IN_BRIEF:
        return Described("", description) if description else None
    brief = textwrap.shorten(description, _IN_BRIEF, placeholder=" …")
    if len(brief) < _IN_BRIEF // 2:  # it has few spaces
        brief = shortened(description, _IN_BRIEF)
    return Described(brief, description)


def _metrics(board: Board, entry: Entry) -> Metrics | None:
    names = list(dict.fromkeys(name for metrics in entry.splits.values() for name in metrics))
    found = entry.splits.values()
    rows = tuple(
        (metric_name(board, name), tuple(score(split.get(name)) for split in found)) for name in names
    )
    return Metrics(tuple(entry.splits), rows) if len(names) > 1 else None


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


def _asked(entry: Entry) -> str:
    """Return by which model and harness an entry is found."""
    found = entry.replies
    return f"{found.model} {found.revision} {found.harness}" if found else ""


@dataclass(frozen=True)
class Ground:
    """What all rows of a board stand on: the board, the scale of its strips, and the lines across them."""

    board: Board
    span: Span | None
    bounds: tuple[Bound, ...]


def _strip(ground: Ground, entry: Entry) -> Element | None:
    if ground.span is None or entry.value is None:
        return None
    return draw_strip(ground.span, ground.bounds, [[entry]])


def make_row(ground: Ground, name: str, entry: Entry, note: int | None, look: str) -> Row:
    """Return an entry's row.

    Args:
        ground: what it was submitted to.
        name: by which the page knows it.
        entry: with its texts made legible.
        note: number of the note that says where a reported figure is from.
        look: what to know of the look of its name.
    """
    board = ground.board
    is_reported = entry.badge == REPORTED  # its note says the rest
    is_reference = kind(entry) == REFERENCE  # the heading above it says so, and why it isn't ranked
    search = (entry.method, entry.family, entry.description, entry.id, _asked(entry))
    return Row(
        name=name,
        id="" if entry.own else entry.id,
        kind=kind(entry),
        mark=draw_mark(entry),
        attention=family_of(entry).title,
        strip=_strip(ground, entry),
        badge=(entry.badge, BADGES.get(entry.badge, "")),
        budget=budget_key(entry),
        search=" ".join(filter(None, search)).lower(),
        rank=entry.rank,
        is_at_chance=entry.rank is None and is_at_chance(board, entry.interval),
        method=entry.title,
        details=entry.details,
        note=note if is_reported else None,
        look="" if is_reported else capitalised(look),
        family="" if is_reported or is_reference else entry.family or "",
        described=None if is_reported else _described(entry.description),
        remark="" if is_reported or is_reference else entry.remark,
        metrics=None if is_reported else _metrics(board, entry),
        mistakes=make_mistakes(board, entry),
        fingerprint=entry.fingerprint or "",
        value=entry.value,
        score=score_and_error(entry),
        seeds=entry.seeds,
        interval=tuple(map(score, entry.interval)) if entry.interval else (),
        links=_links(entry),
        replies=None if is_reference else entry.replies,
        revision=shortened(entry.replies.revision, _REVISION_LETTERS) if entry.replies else "",
        is_own=entry.own,
    )
