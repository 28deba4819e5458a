"""The first screen's summary of a board: its best entries on one scale, and its reference levels."""

from collections.abc import Iterable
from typing import NamedTuple
from xml.etree.ElementTree import Element

from sraven.core.leaderboard.standing import REFERENCE, REPORTED, SCORED, SELF_REPORTED, Entry, Standing
from sraven.core.page.attention import family_of
from sraven.core.page.strip import Bound, draw_strip, find_bounds, find_scale
from sraven.core.page.words import kind


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
    board, scale, bounds = standing.board, find_scale(standing), find_bounds(standing.board)
    scored = [entry for entry in standing.entries if entry.value is not None]
    ranked = leaders(standing)
    reported = _best_of_families(entry for entry in scored if entry.badge == REPORTED)
    yours = [entry for entry in scored if entry.own]
    unranked = _best_of_families(entry for entry in scored if entry.is_filed and kind(entry) != REFERENCE)
    lanes = [ranked or unranked, *filter(None, (reported, yours))]
    badge = SELF_REPORTED if board.is_corpus else SCORED
    bests: list[tuple[str, str, Entry | None]] = [(badge, "verified", ranked[0] if ranked else None)]
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
