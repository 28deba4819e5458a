"""Where a plot of the page puts what it shows: places along its axes, points apart, room for words.

Lengths are units of the plot's ``viewBox``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sraven.core.leaderboard.standing import Entry, Standing, ceiling
from sraven.core.page.lettering import text_width
from sraven.core.page.ticks import ticks

WIDTH, HEIGHT = 480.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 10.0, 22.0, 36.0
FLOOR = HEIGHT - BOTTOM

_SLOT = 10.0  # between points side by side
_STEP = _SLOT / 2
_GAP = 10.0  # between the places left of the axis, and before the axis

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Axis:
    """What a panel has along its x axis.

    Attributes:
        title: in the words of a heading.
        value: of an entry; None if it isn't known.
        marks: numbers that the axis includes and names, such as a board's budgets, the most important first.
    """

    title: str
    value: Callable[[Entry], int | None]
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Point:
    """An entry in a panel; ``low`` and ``high`` end its error bar."""

    name: str
    entry: Entry
    x: float
    y: float
    low: float
    high: float
    beyond: bool


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def is_free(box: Box, taken: Sequence[Box]) -> bool:
    """Return whether a box overlaps none of those that are taken."""
    return not any(_meet(box, other) for other in taken)


def place_apart(boxes: Sequence[Box], low: float, high: float) -> list[float]:
    """Return how far to move each box sideways so that it covers none of those before it.

    Each goes to the nearest free place, left and right in turn, so that boxes that share a place
    stay around it, and their spread can't be taken for a trend.

    Args:
        boxes: the most important first; none is wider than `_SLOT`.
        low: where they may begin.
        high: where they may end; a box that finds no room between the two stays where it was.
    """
    taken: list[Box] = []
    moves = []
    for left, top, right, bottom in boxes:
        steps = range(1, int((high - low) / _STEP) + 1)
        tried = (0.0, *(sign * step * _STEP for step in steps for sign in (1, -1)))
        within = (move for move in tried if low <= left + move and right + move <= high)
        move = next((m for m in within if is_free((left + m, top, right + m, bottom), taken)), 0.0)
        taken.append((left + move, top, right + move, bottom))
        moves.append(move)
    return moves


class Scale:
    """Where values lie in a panel: scores upwards, counts along a log axis, the others left of it."""

    def __init__(self, standing: Standing, entries: Sequence[Entry], axis: Axis) -> None:
        self.axis, self.best = axis, ceiling(standing.board)
        self.lower = tuple(
            line for line in standing.board.lines(standing.board.primary_split) if line.is_lower
        )
        values = [entry.value or 0.0 for entry in entries]
        errors = [entry.standard_error or 0.0 for entry in entries]
        ends = [v - e for v, e in zip(values, errors, strict=True)]
        ends += [v + e for v, e in zip(values, errors, strict=True)]
        ends += [] if self.best is None else [self.best]
        ends += [line.value for line in self.lower]
        low, high = min(ends), max(ends)
        if standing.board.higher_is_better and low < 0 < high:
            low = 0.0  # far below nothing is shown as below nothing
        self.ticks = ticks(low, high)
        counts = [axis.value(entry) for entry in entries]
        self.columns = self._columns(counts)
        known = [count for count in (*counts, *axis.marks) if count]
        smallest, largest = min(known, default=10**5), max(known, default=10**6)
        margin = max(1.6, 3.3 / (largest / smallest) ** 0.5)
        self.range = (smallest / margin, largest * margin)

    def _columns(self, counts: Sequence[int | None]) -> dict[int | None, tuple[float, float]]:
        """Return where entries without a count stand, left of the axis: those of 0, those of None."""
        columns, left = {}, LEFT + _GAP
        for count, label in ((0, "none"), (None, "not stated")):
            if (found := counts.count(count)) > 0:
                width = min(max(text_width(label), found * _SLOT), 120.0)
                columns[count] = (left, left + width)
                left += width + _GAP
        self.left = left if columns else LEFT
        return columns

    def x(self, count: float) -> float:
        """Return where a count above 0 lies."""
        low, high = (math.log(end) for end in self.range)
        return self.left + (math.log(count) - low) / (high - low) * (WIDTH - RIGHT - self.left)

    def y(self, value: float) -> float:
        """Return where a score lies; the panel's edge if it is beyond."""
        low, high = self.ticks[0], self.ticks[-1]
        return FLOOR - (min(max(value, low), high) - low) / (high - low) * (FLOOR - TOP)

    def points(self, named: Sequence[tuple[str, Entry]]) -> list[Point]:
        """Return the points of entries, in their order, side by side where they would cover each other."""
        points, half = {}, _SLOT / 2
        columns: dict[int | None, list[Point]] = {}
        for name, entry in named:
            count = self.axis.value(entry)
            x = self.x(count) if count else sum(self.columns[count]) / 2
            columns.setdefault(count and 1, []).append(self._point(name, entry, x))
        for column, found in columns.items():
            low, high = (self.left, WIDTH - RIGHT) if column else self.columns[column]
            boxes = [(p.x - half, min(p.high, p.y - 5), p.x + half, max(p.low, p.y + 5)) for p in found]
            for point, move in zip(found, place_apart(boxes, low, high), strict=True):
                points[point.name] = replace(point, x=point.x + move)
        return [points[name] for name, _ in named]

    def _point(self, name: str, entry: Entry, x: float) -> Point:
        value, error = entry.value or 0.0, entry.standard_error or 0.0
        beyond = not self.ticks[0] <= value <= self.ticks[-1]
        return Point(name, entry, x, self.y(value), self.y(value - error), self.y(value + error), beyond)
