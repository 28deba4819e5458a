"""The leaderboard's page: one file of HTML that needs no server, no script, no build and no other host."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from sraven.board.board import Board
from sraven.board.ceilings import ANSWERS
from sraven.core.escape import figure
from sraven.files.names import host
from sraven.leaderboard.columns import SPLIT_TITLES, budget_text, metric_title, score_title, shown_columns
from sraven.leaderboard.comparison import compare_entries
from sraven.leaderboard.folder import Fault
from sraven.leaderboard.page.picture import NARROW, WIDE, Panel, bar_of, draw, levels_of
from sraven.leaderboard.page.render import Asset, legible, render
from sraven.leaderboard.standing import (
    LEARNT_CEILING,
    REFERENCE,
    REPORTED,
    REPRODUCED_BADGE,
    SCORED,
    Entry,
    Standing,
)

FLAGSHIP, CONTROL = "sraven-camps3-v1", "sraven-scattered3-v1"
"""The boards of the picture on top: every held-out combination has new pairs of rules, or none has."""

BADGES = {
    SCORED: "recomputed here from the predictions that were submitted",
    REPRODUCED_BADGE: "recomputed from the predictions, and a maintainer has run the method again",
    REPORTED: "copied from a paper: there are no predictions to check, so it is never ranked",
}
"""What the badges mean."""

_MOST_DRAWN = 14
_HOST_LETTERS, _LONGEST_SETTING = 28, 40


class Picture(NamedTuple):
    """A picture for wide and for narrow screens, as addresses that hold it; in words; what isn't in it."""

    wide: str
    narrow: str
    words: str
    note: str


class Link(NamedTuple):
    """An untrusted address: what to read, where it leads, its host, and the end of that: whose it is."""

    text: str
    address: str
    host: str
    end: str


class Row(NamedTuple):
    """An entry.

    Attributes:
        entry: with its texts made legible.
        cells: what the columns have of it, by their headings.
        ahead: the entries of its group that it is ahead of, by the paired comparison.
        points: other points of its grid, which ``test`` didn't choose.
        note: number of the note on where a reported figure is from; None for others.
        links: those of its addresses that are plain.
    """

    entry: Entry
    cells: dict[str, str]
    ahead: str
    points: tuple[Entry, ...]
    note: int | None
    links: tuple[Link, ...]


class Group(NamedTuple):
    """Entries that are ranked among each other, or listed together; ``is_folded`` until a reader opens it."""

    title: str
    rows: tuple[Row, ...]
    is_folded: bool = False


class Card(NamedTuple):
    """A board.

    Attributes:
        board: the board.
        is_open: whether a reader sees it at once.
        best: its first ranked entry; None where there is none.
        picture: None where it has nothing to draw.
        groups: of its entries.
        facts: by name.
        sources: of reported figures.
    """

    board: Board
    is_open: bool
    best: Entry | None
    picture: Picture | None
    groups: tuple[Group, ...]
    facts: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str], ...]


def _is_model(entry: Entry) -> bool:
    """Return whether a row is of a model that was submitted: no paper's figure, reference, learnt ceiling."""
    return entry.badge != REPORTED and entry.family not in (REFERENCE, LEARNT_CEILING)


# Pictures


def _make_picture(board: Board, panels: Sequence[Panel], left_out: int = 0) -> Picture:
    split = SPLIT_TITLES.get(board.primary_split, board.primary_split)

    def address(width: int) -> str:
        return f"data:image/svg+xml;base64,{b64encode(draw(panels, width, split).encode()).decode()}"

    scores = ", ".join(
        f"{bar.name} {figure(bar.held_out)}" + ("" if bar.known is None else f" (known {figure(bar.known)})")
        for panel in panels
        for bar in panel.bars
    )
    note = f"{left_out} more with lower scores are in the tables." if left_out else ""
    axis = score_title(board, board.primary_split)
    return Picture(address(WIDE), address(NARROW), f"{axis}: {scores}", note)


def _draw_board(standing: Standing) -> Picture | None:
    """Return what is ranked, reported, or the reader's own; where nothing is ranked, all models."""
    board, scored = standing.board, [entry for entry in standing.entries if entry.value is not None]
    shown = [entry for entry in scored if entry.rank is not None or entry.badge == REPORTED or entry.own]
    if not any(map(_is_model, shown)):
        shown = [e for e in scored if e in shown or (_is_model(e) and not e.point_of)]
    if not shown:
        return None
    bars = [bar_of(board, entry) for entry in shown[:_MOST_DRAWN]]
    return _make_picture(board, [Panel("", bars, levels_of(board))], len(shown) - len(bars))


def _range(values: Sequence[float], digits: int) -> str:
    """Return the least and the most of some numbers, once if they read the same."""
    return " to ".join(dict.fromkeys(f"{each:.{digits}f}" for each in (min(values), max(values))))


class Headline(NamedTuple):
    """What the flagship shows beside its control: a sentence, a picture, and what that rests on."""

    sentence: str
    picture: Picture
    basis: str


def _networks(standing: Standing) -> dict[str, Entry]:
    """Return for each kind of network the entry with the most seeds, of several the best, if it has parts.

    They are those that are ranked; where none is, all of them.
    """
    models = [entry for entry in standing.entries if _is_model(entry)]
    models = [entry for entry in models if entry.rank is not None] or models
    found: dict[str, Entry] = {}
    for entry in sorted(models, key=lambda each: -each.seeds):
        found.setdefault(entry.title, entry)
    return {title: entry for title, entry in found.items() if entry.parts}


def _headline(standings: Sequence[Standing]) -> Headline | None:
    """Return what stands on top; None if there is nothing to say yet."""
    found = {each.board.id: each for each in standings}
    if FLAGSHIP not in found or CONTROL not in found:
        return None
    boards = [found[each].board for each in (FLAGSHIP, CONTROL)]
    both = [_networks(found[each]) for each in (FLAGSHIP, CONTROL)]
    titles = [title for title in both[0] if title in both[1]]
    if not titles:
        return None
    lost = [_range([group[title].parts["lost"]["value"] for title in titles], 2) for group in both]  # type: ignore[index]
    who = f"{titles[0]} gets" if len(titles) == 1 else "networks get"
    sentence = (
        f"Where held-out combinations have pairs of rules that training never showed, {who} {lost[0]} fewer "
        "of the features right than on known combinations, at equal rules; where every pair is known, "
        f"{lost[1]}."
    )
    told = [e.parts for e in found[FLAGSHIP].entries if e.family == LEARNT_CEILING and e.parts]
    if told:
        least = min(parts["lost"]["value"] for parts in told)
        sentence += f" A network that reads each feature by itself: {least:.2f}."
    names = "new pairs of rules", "every pair known (control)"
    panels = [
        Panel(name, [bar_of(board, group[title])._replace(name=title) for title in titles], levels_of(board))
        for name, board, group in zip(names, boards, both, strict=True)
    ]
    seeds = [group[title].seeds for group in both for title in titles]
    basis = (
        f"{metric_title(boards[0], boards[0].metric).capitalize()} of whole panels on {FLAGSHIP} and on its "
        f"control {CONTROL}; {_range(seeds, 0)} seed{'s' * (max(seeds) > 1)} each. Bars hold 95 % of "
        "resampled combinations."
    )
    return Headline(sentence, _make_picture(boards[0], panels), basis)


# Rows


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


def _ahead(entry: Entry, among: Sequence[Entry], *, higher_is_better: bool) -> str:
    """Return the names of those that an entry is better than in the paired comparison, corrected for all."""
    others = [other for other in among if other is not entry]
    found = compare_entries(entry, others, higher_is_better=higher_is_better)
    clear = [
        ", ".join(filter(None, (other.title, other.details)))
        for other, each in zip(others, found, strict=True)
        if each.is_clear and each.is_better
    ]
    return "; ".join(clear)


def _sources(standing: Standing) -> tuple[tuple[str, str], ...]:
    """Return where reported figures are from, with remarks on them; rows of a paper share theirs."""
    notes = ((entry.description, entry.remark) for entry in standing.entries if entry.badge == REPORTED)
    return tuple(dict.fromkeys(notes))


def _groups(standing: Standing) -> tuple[Group, ...]:
    """Return the entries of a board: ranked ones by budget, reported ones, then what is folded."""
    board, entries, columns = standing.board, standing.entries, shown_columns(standing)
    notes = {source: number for number, source in enumerate(_sources(standing), 1)}
    ids = {entry.id for entry in entries}

    def rows(chosen: Callable[[Entry], Any]) -> tuple[Row, ...]:
        group = [entry for entry in entries if entry.point_of not in ids and chosen(entry)]
        ranked = [entry for entry in group if entry.rank is not None]
        shown = {title: text for title, text in columns.items() if any(map(text, group))}
        return tuple(
            Row(
                entry=entry,
                cells={title: text(entry) for title, text in shown.items()},
                ahead=_ahead(entry, ranked, higher_is_better=board.higher_is_better) if entry.rank else "",
                points=tuple(point for point in entries if entry.id and point.point_of == entry.id),
                note=notes.get((entry.description, entry.remark)) if entry.badge == REPORTED else None,
                links=_links(entry),
            )
            for entry in group
        )

    def among(entry: Entry) -> tuple[int | None, str]:
        return entry.budget, entry.replies.form if entry.replies else ""

    ranks = sorted(
        {among(entry) for entry in entries if entry.rank is not None},
        key=lambda each: (each[0] != board.train_budget, -(each[0] or 0), each[1]),
    )
    found = [
        Group(
            (f"Asked {form}, trained on " if form else "Trained on ") + budget_text(board, budget),
            rows(lambda e, key=(budget, form): e.rank is not None and among(e) == key),  # type: ignore[misc]
        )
        for budget, form in ranks
    ]
    found += [
        Group("Yours, not ranked", rows(lambda e: e.own and e.rank is None)),
        Group("Reported in papers", rows(lambda e: e.badge == REPORTED)),
    ]
    models = rows(lambda e: _is_model(e) and e.rank is None and not e.own)
    is_more = any(group.rows for group in found)
    found += [
        Group("Not ranked" if board.is_ranked else "Entries", models, is_folded=is_more),
        Group(
            "Learnt ceiling: networks that are told which symbols are a feature",
            rows(lambda e: e.family == LEARNT_CEILING),
        ),
        Group("References: predictors for comparison", rows(lambda e: e.family == REFERENCE), is_folded=True),
    ]
    return tuple(group for group in found if group.rows)


# Boards


def _facts(board: Board) -> tuple[tuple[str, str], ...]:
    """Return what to know of a board, by name."""
    known = [board.ceiling(board.primary_split, board.metric, who) for who in ("split", "all combinations")]
    who = {"split": "knowing the split", "all combinations": "not knowing it"}
    ceilings = [f"{figure(c.value)} {who[c.knows]}, answering with {ANSWERS[c.answers]}" for c in known if c]
    levels = board.reference_levels(board.primary_split)
    settings = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in board.config.items()
        if name not in ("task", "version")
    }
    setting = ", ".join(
        f"{name}={value if ' ' in value or len(value) <= _LONGEST_SETTING else f'{value[:12]}…'}"
        for name, value in settings.items()
    )
    return (
        ("Ceiling", "; ".join(ceilings) or "not known"),
        *((f"Reference level: {level.title}", f"{figure(level.value)}, {level.meaning}") for level in levels),
        ("Budget", budget_text(board, board.train_budget)),
        ("Instances", ", ".join(f"{size:,} {split}" for split, size in board.splits.items())),
        ("Setting", setting),
        ("Digest", board.digest[:12]),
    )


def _has_entries(standing: Standing) -> bool:
    return any(entry.family != REFERENCE for entry in standing.entries)


def _card(standing: Standing, *, is_drawn: bool) -> Card:
    return Card(
        board=standing.board,
        is_open=standing.board.id == FLAGSHIP,
        best=next((entry for entry in standing.entries if entry.rank == 1), None),
        picture=None if is_drawn else _draw_board(standing),
        groups=_groups(standing),
        facts=_facts(standing.board),
        sources=_sources(standing),
    )


def make_page(
    standings: Sequence[Standing],
    faults: Sequence[Fault] = (),
    *,
    date: str | None = None,
    links: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the page of some boards as HTML: ranked ones first, those without entries in a line at the end.

    What submitters wrote (names, descriptions, addresses) is text in it, and never markup. Entries that are
    the reader's own stand out.

    Args:
        standings: of the boards.
        faults: what was left out.
        date: of the standing.
        links: addresses to go to from the head, by what is read.
    """
    found = [legible(standing) for standing in standings]
    full = [standing for standing in found if _has_entries(standing)]
    headline = _headline(found)
    drawn = {FLAGSHIP, CONTROL} if headline else ()
    cards = [_card(standing, is_drawn=standing.board.id in drawn) for standing in full]
    return render(
        "page.html.jinja",
        style=Asset("palette.css", "frame.css", "page.css"),
        script=None,
        headline=headline,
        ranked=[card for card in cards if card.board.is_ranked],
        diagnostic=[card for card in cards if not card.board.is_ranked],
        empty=[standing.board for standing in found if not _has_entries(standing)],
        badges=BADGES,
        score_title=score_title,
        faults=faults,
        date=date,
        links=links,
        phone=NARROW * 2,
    )
