"""The leaderboard's page: one file of HTML that needs no server, no build and no other host."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from sraven.board.board import Board
from sraven.board.ceilings import ANSWERS
from sraven.core.system.files import write_text
from sraven.leaderboard.filed import Fault
from sraven.leaderboard.page import words
from sraven.leaderboard.page.attention import family_of
from sraven.leaderboard.page.groups import budget_key, name_entries, reported_notes
from sraven.leaderboard.page.legible import legible
from sraven.leaderboard.page.marks import draw_mark, draw_project, find_legend
from sraven.leaderboard.page.mistakes import MistakeKind, legend
from sraven.leaderboard.page.plots import BoardPlots, make_figure
from sraven.leaderboard.page.render import Asset, render
from sraven.leaderboard.page.strip import Bound, draw_strip, find_bounds, find_scale
from sraven.leaderboard.page.table import Table, make_table
from sraven.leaderboard.page.words import BADGES, compact, kind, score
from sraven.leaderboard.standing import REFERENCE, REPORTED, SCORED, Entry, Standing

PAGE = "index.html"
"""Name of the page's file."""

_LONGEST_SETTING = 40  # of what is longer, such as a digest, the beginning tells


class BoardSummary(NamedTuple):
    """A board on the first screen.

    Attributes:
        bests: label, key and entry of the best that is ranked (where none is, of the best that isn't; None
            if there is none either), the best that a paper reports, and the reader's own.
        bounds: the ceiling, the baselines, chance.
        strip: all of it on one scale; None if nothing gives one.
        entries: how many entries it has, references apart.
    """

    bests: tuple[tuple[str, str, Entry | None], ...]
    bounds: tuple[Bound, ...]
    strip: Element | None
    entries: int


def _best_of_families(entries: Iterable[Entry]) -> list[Entry]:
    best: dict[str, Entry] = {}
    for entry in entries:
        best.setdefault(family_of(entry).key, entry)
    return list(best.values())


def leaders(standing: Standing) -> list[Entry]:
    """Return the best ranked entry of each family, the best first: of the board's own budget, if any is."""
    ranked = [entry for entry in standing.entries if entry.rank is not None and not entry.own]
    own = [entry for entry in ranked if entry.budget == standing.board.train_budget]
    return _best_of_families(own or ranked)


def make_summary(standing: Standing) -> BoardSummary:
    """Return what the first screen says of a board."""
    scale, bounds = find_scale(standing), find_bounds(standing.board)
    scored = [entry for entry in standing.entries if entry.value is not None]
    ranked = leaders(standing)
    reported = _best_of_families(entry for entry in scored if entry.badge == REPORTED)
    yours = [entry for entry in scored if entry.own]
    unranked = _best_of_families(entry for entry in scored if entry.is_filed and kind(entry) != REFERENCE)
    lanes = [ranked or unranked, *filter(None, (reported, yours))]
    bests: list[tuple[str, str, Entry | None]] = [(SCORED, "verified", ranked[0] if ranked else None)]
    if unranked and not ranked:
        bests = [("not ranked", "unranked", unranked[0])]
    bests += [(REPORTED, REPORTED, entry) for entry in reported[:1]]
    bests += [("yours", "own", entry) for entry in yours[:1]]
    return BoardSummary(
        bests=tuple(bests),
        bounds=bounds,
        strip=draw_strip(scale, bounds, lanes, is_summary=True) if scale else None,
        entries=sum(kind(entry) != REFERENCE for entry in standing.entries),
    )


class BoardSection(NamedTuple):
    """A board.

    Attributes:
        board: the board.
        summary: what the first screen says of it.
        ceilings: what an ideal observer scores, whether it knows the split, and what it answers with.
        setting: of the task, in a line.
        kinds: those of its wrong answers, if they are sorted.
        figure: None if no plot would tell more than the table.
        table: None if it has no entries.
        notes: where reported figures are from, and remarks on them.
    """

    board: Board
    summary: BoardSummary
    ceilings: tuple[tuple[str, bool, str], ...]
    setting: str
    kinds: tuple[MistakeKind, ...]
    figure: BoardPlots | None
    table: Table | None
    notes: tuple[tuple[str, str], ...]


def _ceilings(board: Board) -> tuple[tuple[str, bool, str], ...]:
    known = [board.ceiling(board.primary_split, board.metric, who) for who in ("split", "all combinations")]
    return tuple((score(each.value), each.knows == "split", ANSWERS[each.answers]) for each in known if each)


def _setting(board: Board) -> str:
    config = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in board.config.items()
    }
    return ", ".join(
        f"{name}={value if ' ' in value or len(value) <= _LONGEST_SETTING else f'{value[:12]}…'}"
        for name, value in config.items()
        if name not in ("task", "version")
    )


def _section(standing: Standing) -> BoardSection:
    """Return what the page says of a board."""
    board = standing.board
    return BoardSection(
        board=board,
        summary=make_summary(standing),
        ceilings=_ceilings(board),
        setting=_setting(board),
        kinds=legend(standing),
        figure=make_figure(standing, name_entries(standing)),
        table=make_table(standing) if standing.entries else None,
        notes=tuple(reported_notes(standing)),
    )


def _budgets(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return the budgets that entries can be filtered by: key, and what to read."""
    found = {budget_key(entry): entry.budget for entry in entries}
    ordered = sorted(found.items(), key=lambda item: (item[1] is None, item[1] or 0))
    special = {None: "none", 0: "no training"}
    return [(key, special.get(most, f"up to {compact(most or 0)}")) for key, most in ordered]


def make_page(standings: Sequence[Standing], faults: Sequence[Fault] = ()) -> str:
    """Return the page of some boards, ranked ones first, as HTML.

    What submitters wrote (names, descriptions, addresses) is text in it, and never markup. Entries that are
    the reader's own stand out.
    """
    found = [legible(standing) for standing in standings]
    entries = [entry for standing in found for entry in standing.entries]
    return render(
        "page.html.jinja",
        style=Asset("palette.css", "frame.css", "page.css", "drawings.css", "table.css"),
        script=Asset("page.js"),
        mark=draw_project(),
        legend=find_legend(entries),
        badges=BADGES,
        badge_filters=[badge for badge in BADGES if any(entry.badge == badge for entry in entries)],
        budget_filters=_budgets(entries),
        ranked=[_section(standing) for standing in found if standing.board.is_ranked],
        diagnostic=[_section(standing) for standing in found if not standing.board.is_ranked],
        faults=faults,
        words=words,
        budget_key=budget_key,
        draw_mark=draw_mark,
        family_of=family_of,
    )


def write_page(html_dir: Path, standings: Sequence[Standing], faults: Sequence[Fault] = ()) -> Path:
    """Write the page of some boards as ``index.html``, whole or not at all.

    Args:
        html_dir: a directory; made if it doesn't exist.
        standings: from `sraven.leaderboard.ranking.read_leaderboard`.
        faults: what was left out, from there too.

    Returns:
        The path of the file.
    """
    html_dir.mkdir(parents=True, exist_ok=True)
    path = html_dir / PAGE
    write_text(path, make_page(standings, faults))
    return path
