"""Scores on one line: how far they are from chance, from the lower line and from the ceiling.

A strip is as wide as its place: along it, lengths are per cent. Down it, they are pixels.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from sraven.core.boards.board import Board
from sraven.core.leaderboard.standing import REFERENCE, Entry, Standing, ceiling
from sraven.core.page.attention import family_of
from sraven.core.page.marks import classes, shape_of
from sraven.core.page.svg import element
from sraven.core.page.words import with_error

LANE = 18
"""Height of a lane, in pixels."""
_FOOT = 14  # below the lanes, for the numbers of the scale
_MARGIN = 0.06  # of a range that the entries give, on both sides


class Bound(NamedTuple):
    """What scores of a board are read against: the class and name of a line, where it is, and whose."""

    key: str
    title: str
    value: float
    meaning: str


def find_bounds(board: Board) -> tuple[Bound, ...]:
    """Return the ceiling, the lower lines and chance of a board, as far as they are known."""
    best = ceiling(board)
    found = [] if best is None else [Bound("ceiling", "ceiling", best, "an ideal observer")]
    lines = board.lines(board.primary_split)
    found += [Bound("lower", line.title, line.value, line.meaning) for line in lines if line.is_lower]
    return (*found, *([] if board.chance is None else [Bound("chance", "chance", board.chance, "guessing")]))


class Span(NamedTuple):
    """The scale of a board's strips: the worst is left, the best right."""

    left: float
    right: float

    def share(self, value: float) -> float:
        """Return where a score lies, from 0 to 1; what is beyond an end is at it."""
        return min(max((value - self.left) / (self.right - self.left), 0.0), 1.0)

    def holds(self, value: float) -> bool:
        """Return whether a score lies between the ends."""
        return min(self.left, self.right) <= value <= max(self.left, self.right)


def find_span(standing: Standing) -> Span | None:
    """Return the scale of a board: from 0 to 1 for all whose ceiling is 1 or less, else by its entries.

    None if there is nothing to give one.
    """
    best = ceiling(standing.board)
    if standing.board.higher_is_better and best is not None and 0 < best <= 1:
        return Span(0.0, 1.0)
    values = [entry.value for entry in standing.entries if entry.value is not None]
    values += [] if best is None else [best]
    if not values:
        return None
    low, high = min(values), max(values)
    margin = _MARGIN * (high - low) or 0.1 * abs(low) or 1.0
    ends = low - margin, high + margin
    return Span(*ends) if standing.board.higher_is_better else Span(*reversed(ends))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _lane(span: Span, entries: Sequence[Entry], y: float, start: float, is_named: bool) -> Iterator[Element]:
    """Yield a lane: a bar up to the best of the entries, their errors and marks."""
    for entry in entries[:1]:
        best, family = span.share(entry.value or 0.0), family_of(entry).key
        if best > start and family != REFERENCE:
            place = {"x": _percent(start), "width": _percent(best - start)}
            yield element("rect", y=y - 2.5, height=5, class_=f"bar-of {family} {entry.badge}", **place)
    for entry in reversed(entries):
        value, error = entry.value or 0.0, entry.standard_error or 0.0
        ends = [_percent(span.share(value + sign * error)) for sign in (-1, 1)]
        bar = element("line", x1=ends[0], x2=ends[1], y1=y, y2=y, class_="error across") if error else None
        # A drawing inside, since a path can't be placed by per cent.
        mark = element("svg", *shape_of(entry, 0, 0), x=_percent(span.share(value)), y=y, class_="at")
        title = element("title", f"{entry.method}: {with_error(entry)}") if is_named else None
        yield element("g", title, bar, mark, class_=classes(entry))


def draw_strip(
    span: Span, bounds: Sequence[Bound], lanes: Sequence[Sequence[Entry]], *, is_summary: bool = False
) -> Element:
    """Return entries on one scale, in lanes.

    Args:
        span: the scale.
        bounds: lines across all lanes.
        lanes: entries of each that have a score, the best first; a lane may be empty.
        is_summary: whether the scale has numbers below it, and entries their names, also for those who can't
            see them; else other words beside it say the same.
    """
    height = LANE * len(lanes)
    start = next((span.share(bound.value) for bound in bounds if bound.key == "chance"), 0.0)
    middles = [LANE * (number + 0.5) for number in range(len(lanes))]
    parts = [element("line", x1="0%", x2="100%", y1=y, y2=y, class_="track") for y in middles]
    for bound in bounds:
        if span.holds(bound.value):
            x = _percent(span.share(bound.value))
            parts.append(element("line", x1=x, x2=x, y1=0, y2=height, class_=f"bound {bound.key}"))
    for y, entries in zip(middles, lanes, strict=True):
        parts += _lane(span, entries, y, start, is_summary)
    if not is_summary:
        return element("svg", *parts, class_="strip", height=height, aria_hidden="true")
    for place, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        value = span.left + place * (span.right - span.left)
        more = {"x": _percent(place), "text_anchor": anchor}
        parts.append(element("text", f"{value:.3g}", y=height + _FOOT - 3, class_="end", **more))
    names = ", ".join(f"{entry.method} {with_error(entry)}" for lane in lanes for entry in lane)
    label = names or "no entries"
    return element("svg", *parts, class_="strip", height=height + _FOOT, role="img", aria_label=label)
