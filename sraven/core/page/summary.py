"""What the first screen says of a board: its best entries on one scale, and what they are read against."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from sraven.core.leaderboard.standing import REPORTED, SCORED, SELF_REPORTED, Entry, Standing
from sraven.core.page.attention import family_of
from sraven.core.page.marks import draw_mark
from sraven.core.page.strip import Bound, draw_strip, find_bounds, find_span
from sraven.core.page.words import REFERENCE, capitalised, kind, metric_name, score_and_error, with_error


@dataclass(frozen=True)
class Best:
    """The best of a kind of entries.

    Attributes:
        label: of which kind.
        key: the kind: ``verified``, ``reported`` or ``own``.
        method: its title; empty if there is none.
        score: its score, and the error over seeds, in words.
        mark: its mark; None if there is none.
        note: how it was asked; where there is none, that.
    """

    label: str
    key: str
    method: str
    score: tuple[str, str]
    mark: Element | None
    note: str


@dataclass(frozen=True)
class Summary:
    """A board on the first screen.

    Attributes:
        metric: what it scores, and on which split.
        told: who leads, and what that is read against; empty if nobody does.
        bests: the best verified entry, the best reported one if any is reported, and the reader's own.
        bounds: the ceiling, the lower lines, chance.
        strip: all of it on one scale; None if nothing gives one.
        count: how many entries it has, references apart, in words.
    """

    metric: str
    told: str
    bests: tuple[Best, ...]
    bounds: tuple[Bound, ...]
    strip: Element | None
    count: str


def leaders(standing: Standing) -> list[Entry]:
    """Return the best ranked entry of each family, the best first: of the board's own budget, if any is."""
    ranked = [entry for entry in standing.entries if entry.rank is not None and not entry.own]
    own = [entry for entry in ranked if entry.budget == standing.board.train_budget]
    return _best_of_families(own or ranked)


def _reported(standing: Standing) -> list[Entry]:
    found = (entry for entry in standing.entries if entry.badge == REPORTED and entry.value is not None)
    return _best_of_families(found)


def _best_of_families(entries: Iterable[Entry]) -> list[Entry]:
    best: dict[str, Entry] = {}
    for entry in entries:
        best.setdefault(family_of(entry).key, entry)
    return list(best.values())


def _best(standing: Standing, entries: list[Entry], label: str, key: str, nobody: str) -> Best:
    if not entries:
        return Best(label, key, "", ("", ""), None, nobody)
    best = entries[0]
    note = f"asked {best.replies.form}" if best.replies else ""
    return Best(label, key, best.title, score_and_error(best), draw_mark(best), note)


def _leads(standing: Standing, ranked: Sequence[Entry]) -> str:
    """Return who leads a board, before whom, and whether that takes what the board asks for."""
    if not ranked:
        return ""
    board, first = standing.board, ranked[0]
    told = f"{capitalised(first.title)} leads with {with_error(first)}"
    if len(ranked) > 1:
        told += f", before {ranked[1].title} with {with_error(ranked[1])}"
    lines = [line for line in board.lines(board.primary_split, board.metric) if line.is_lower]
    higher = [f"above {line.title}" for line in lines if (first.value or 0) > line.value]
    lower = [f"below {line.title}" for line in lines if (first.value or 0) <= line.value]
    against = " and ".join(higher + lower)
    return f"{told}: {against}, which compose{'s' * (len(lines) == 1)} nothing." if lines else f"{told}."


def _told(standing: Standing, lanes: list[list[Entry]], bounds: tuple[Bound, ...]) -> str:
    """Return what a strip shows, in words."""
    entries = [f"{entry.method} {with_error(entry)} ({kind(entry)})" for lane in lanes for entry in lane]
    lines = [f"{bound.title} {bound.told}" for bound in bounds]
    return f"{metric_name(standing.board, standing.board.metric)}: {', '.join(entries + lines)}"


def make_summary(standing: Standing) -> Summary:
    """Return what the first screen says of a board."""
    board, span, bounds = standing.board, find_span(standing), find_bounds(standing)
    ranked, reported = leaders(standing), _reported(standing)
    yours = [entry for entry in standing.entries if entry.own and entry.value is not None]
    lanes = [lane for lane in (ranked, reported, yours) if lane or lane is ranked]
    badge = SELF_REPORTED if board.is_corpus else SCORED
    bests = [_best(standing, ranked, badge, "verified", "none ranked yet")]
    if reported:
        bests.append(_best(standing, reported, "reported", "reported", ""))
    if yours:
        bests.append(_best(standing, yours, "yours", "own", ""))
    count = sum(kind(entry) != REFERENCE for entry in standing.entries)
    return Summary(
        metric=f"{metric_name(board, board.metric)} on {board.primary_split}"
        + ("" if board.higher_is_better else ", the lowest is best"),
        told=_leads(standing, ranked),
        bests=tuple(bests),
        bounds=bounds,
        strip=draw_strip(span, bounds, lanes, _told(standing, lanes, bounds)) if span else None,
        count=f"{count} {'entry' if count == 1 else 'entries'}" if count else "no entries yet",
    )
