"""Scores on one line: how far they are from chance, from the baseline and from the ceiling.

A strip is as wide as its place: along it, lengths are per cent. Down it, they are pixels.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from sraven.board.board import Board
from sraven.leaderboard.page.attention import family_of
from sraven.leaderboard.page.marks import classes, draw_shape
from sraven.leaderboard.page.svg import element
from sraven.leaderboard.page.words import entry_score
from sraven.leaderboard.standing import REFERENCE, Entry, Standing, primary_ceiling

LANE = 18
"""Height of a lane, in pixels."""
_FOOT = 14  # below the lanes, for the numbers of the scale
_MARGIN = 0.06  # of a range that the entries give, on both sides


class Bound(NamedTuple):
    """What scores of a board are read against: the class and name of a line, its score, and whose it is."""

    key: str
    title: str
    value: float
    meaning: str


def find_bounds(board: Board) -> tuple[Bound, ...]:
    """Return the ceiling, the baselines and chance of a board, as far as they are known."""
    best = primary_ceiling(board)
    found = [] if best is None else [Bound("ceiling", "ceiling", best, "an ideal observer")]
    levels = [level for level in board.reference_levels(board.primary_split) if level.is_baseline]
    found += [Bound("lower", level.title, level.value, level.meaning) for level in levels]
    return (*found, *([] if board.chance is None else [Bound("chance", "chance", board.chance, "guessing")]))


class Scale(NamedTuple):
    """Where values lie along an axis, given two of them and their places."""

    first: float
    last: float
    start: float = 0.0
    end: float = 1.0

    def __call__(self, value: float) -> float:
        """Return the place of a value; what is beyond an end is at it."""
        share = min(max((value - self.first) / (self.last - self.first), 0.0), 1.0)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Return whether a value lies between the two."""
        return min(self.first, self.last) <= value <= max(self.first, self.last)


def find_scale(standing: Standing) -> Scale | None:
    """Return the scale of a board's strips, the worst left: from 0 to 1 if its ceiling is 1 or less.

    Else its entries give one; None if there are none.
    """
    best = primary_ceiling(standing.board)
    if standing.board.higher_is_better and best is not None and 0 < best <= 1:
        return Scale(0.0, 1.0)
    values = [entry.value for entry in standing.entries if entry.value is not None]
    values += [] if best is None else [best]
    if not values:
        return None
    low, high = min(values), max(values)
    margin = _MARGIN * (high - low) or 0.1 * abs(low) or 1.0
    ends = low - margin, high + margin
    return Scale(*ends) if standing.board.higher_is_better else Scale(*reversed(ends))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _lane(
    scale: Scale, entries: Sequence[Entry], y: float, start: float, is_named: bool
) -> Iterator[Element]:
    """Yield a lane: a bar up to the best of the entries, their errors and marks."""
    for entry in entries[:1]:
        best, family = scale(entry.value or 0.0), family_of(entry).key
        if best > start and family != REFERENCE:
            place = {"x": _percent(start), "width": _percent(best - start)}
            yield element("rect", y=y - 2.5, height=5, class_=f"bar-of {family} {entry.badge}", **place)
    for entry in reversed(entries):
        value, error = entry.value or 0.0, entry.standard_error or 0.0
        ends = [_percent(scale(value + sign * error)) for sign in (-1, 1)]
        bar = element("line", x1=ends[0], x2=ends[1], y1=y, y2=y, class_="error across") if error else None
        # A drawing inside, since a path can't be placed by per cent.
        mark = element("svg", *draw_shape(entry, 0, 0), x=_percent(scale(value)), y=y, class_="at")
        title = element("title", f"{entry.method}: {entry_score(entry)}") if is_named else None
        yield element("g", title, bar, mark, class_=classes(entry))


def draw_strip(
    scale: Scale, bounds: Sequence[Bound], lanes: Sequence[Sequence[Entry]], *, is_summary: bool = False
) -> Element:
    """Return entries on one scale, in lanes.

    Args:
        scale: of the board.
        bounds: lines across all lanes.
        lanes: entries of each that have a score, the best first; a lane may be empty.
        is_summary: whether the scale has numbers below it, and entries their names, also for those who can't
            see them; else other words beside it say the same.
    """
    height = LANE * len(lanes)
    start = next((scale(bound.value) for bound in bounds if bound.key == "chance"), 0.0)
    middles = [LANE * (number + 0.5) for number in range(len(lanes))]
    parts = [element("line", x1="0%", x2="100%", y1=y, y2=y, class_="track") for y in middles]
    for bound in bounds:
        if scale.holds(bound.value):
            x = _percent(scale(bound.value))
            parts.append(element("line", x1=x, x2=x, y1=0, y2=height, class_=f"bound {bound.key}"))
    for y, entries in zip(middles, lanes, strict=True):
        parts += _lane(scale, entries, y, start, is_summary)
    if not is_summary:
        return element("svg", *parts, class_="strip", height=height, aria_hidden="true")
    for place, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        value = scale.first + place * (scale.last - scale.first)
        more = {"x": _percent(place), "text_anchor": anchor}
        parts.append(element("text", f"{value:.3g}", y=height + _FOOT - 3, class_="end", **more))
    names = ", ".join(f"{entry.method} {entry_score(entry)}" for lane in lanes for entry in lane)
    label = names or "no entries"
    return element("svg", *parts, class_="strip", height=height + _FOOT, role="img", aria_label=label)
