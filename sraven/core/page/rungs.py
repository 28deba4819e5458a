"""Plots of a board with rungs: the score on each against one of its settings, with ceilings and chance.

Colours, widths and fonts are the style sheet's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

from sraven.core.leaderboard.standing import Entry, Standing
from sraven.core.page.lettering import text_width
from sraven.core.page.marks import classes, shape_of
from sraven.core.page.plot import draw_line, draw_text, draw_tip
from sraven.core.page.scale import FLOOR, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Box, Point, is_free
from sraven.core.page.svg import element
from sraven.core.page.ticks import ticks
from sraven.core.page.words import REFERENCE, capitalised, kind, metric_name, score, with_error

_MARGIN = 26.0  # between the axis and the outermost rungs
_MOST_LABELS, _MOST_LETTERS, _STEPS = 4, 24, 24

CAPTION = (
    "Bars hold 95 % of bootstrap samples of the questions. The ceilings are those of an observer that is "
    "told the rules: on these questions, each of which has one answer, and (dotted) on questions drawn "
    "without that certificate. Where prompts don’t tell the rules, nobody knows a ceiling."
)
"""What a reader of these plots has to know."""

_CEILINGS = {"board": ("ceiling", "ceiling"), "any": ("ceiling uncertified", "ceiling, several answers")}
"""The ceilings that are drawn, with their classes and words; see `sraven.core.tasks.task.Rung`."""


@dataclass(frozen=True)
class Series:
    """Rungs that differ in one setting alone.

    Attributes:
        setting: its name.
        rungs: in its order, as the board's file has them.
        others: what the rungs have in common, in words.
    """

    setting: str
    rungs: tuple[Mapping[str, Any], ...]
    others: str


def find_series(rungs: Sequence[Mapping[str, Any]]) -> list[Series]:
    """Return, for each setting, the longest series of rungs that differ in it alone; one rung is none."""
    found = []
    for name in rungs[0]["settings"] if rungs else ():
        alike: dict[tuple[tuple[str, int], ...], list[Mapping[str, Any]]] = {}
        for rung in rungs:
            rest = tuple((other, value) for other, value in rung["settings"].items() if other != name)
            alike.setdefault(rest, []).append(rung)
        rest, longest = max(alike.items(), key=lambda item: len(item[1]))
        if len(longest) > 1:
            ordered = tuple(sorted(longest, key=lambda rung: int(rung["settings"][name])))
            found.append(Series(name, ordered, ", ".join(f"{other} = {value}" for other, value in rest)))
    return found


class Places:
    """Where the rungs of a series lie in a panel, and scores from 0 to 1."""

    def __init__(self, series: Series) -> None:
        self.series, self.ticks = series, ticks(0, 1)
        self.values = [int(rung["settings"][series.setting]) for rung in series.rungs]

    def x(self, value: float) -> float:
        """Return where a value of the setting lies."""
        low, high = self.values[0], self.values[-1]
        left, right = LEFT + _MARGIN, WIDTH - RIGHT - _MARGIN
        return left + (value - low) / (high - low) * (right - left)

    def y(self, share: float) -> float:
        """Return where a score lies."""
        return FLOOR - share * (FLOOR - TOP)

    def line(self, shares: Iterable[float], class_: str) -> Element:
        """Return the line through scores, one on each rung."""
        pairs = zip(self.values, shares, strict=True)
        points = " ".join(f"{self.x(value):.1f},{self.y(share):.1f}" for value, share in pairs)
        return element("polyline", points=points, class_=class_)


def _scores(standing: Standing, entry: Entry, series: Series) -> list[float]:
    found = entry.splits[standing.board.primary_split]
    return [found.get(rung["metric"]) or 0.0 for rung in series.rungs]


def _points(standing: Standing, name: str, entry: Entry, places: Places) -> list[Point]:
    """Return the points of an entry, one for each rung."""
    made = []
    pairs = zip(places.series.rungs, _scores(standing, entry, places.series), places.values, strict=True)
    for rung, value, setting in pairs:
        low, high = entry.rungs.get(rung["metric"], (value, value))
        made.append(
            Point(name, entry, places.x(setting), places.y(value), places.y(low), places.y(high), False)
        )
    return made


def _frame(places: Places) -> Element:
    """Return grid, axes, their numbers, chance and the ceilings."""
    frame = element("g", class_="frame", aria_hidden="true")
    for tick in places.ticks:
        y = places.y(tick)
        frame.append(draw_line(LEFT, y, WIDTH - RIGHT, y, "grid"))
        frame.append(draw_text(LEFT - 7, y + 4, f"{tick:g}", "tick", "end"))
    frame.append(draw_line(LEFT, FLOOR, WIDTH - RIGHT, FLOOR, "axis"))
    for value in places.values:
        frame.append(draw_line(places.x(value), FLOOR, places.x(value), FLOOR + 5, "axis"))
        frame.append(draw_text(places.x(value), FLOOR + 21, f"{value}", "tick", "middle"))
    frame.append(places.line((rung["chance"] for rung in places.series.rungs), "chance"))
    for name, text, class_, foot in _ceilings(places):
        best = (rung["ceilings"][name]["value"] for rung in places.series.rungs)
        frame.append(places.line(best, class_))
        frame.append(draw_text(WIDTH - RIGHT, foot, text, "ceiling-label", "end"))
    return frame


def _ceilings(places: Places) -> list[tuple[str, str, str, float]]:
    """Return the ceilings that all rungs have: name, words, class, and where the foot of the words is."""
    last = places.series.rungs[-1]["ceilings"]
    return [
        (name, text, class_, places.y(last[name]["value"]) + (-6 if number == 0 else 20))
        for number, (name, (class_, text)) in enumerate(_CEILINGS.items())
        if all(name in rung["ceilings"] for rung in places.series.rungs)
    ]


def _entry(points: Sequence[Point], told: str, first: bool) -> Element:
    """Return the line, marks and bars of an entry, and in words for those who can't see them."""
    entry = points[0].entry
    through = " ".join(f"{point.x:.1f},{point.y:.1f}" for point in points)
    bars = [draw_line(p.x, p.low, p.x, p.high, "error") for p in points if p.low - p.high >= 1]
    return element(
        "g",
        element("title", told),
        element("polyline", points=through, class_="line"),
        *bars,
        *(part for point in points for part in shape_of(entry, point.x, point.y)),
        *(element("circle", cx=f"{p.x:.1f}", cy=f"{p.y:.1f}", r=9, class_="touch") for p in points),
        class_=classes(entry),
        data_entry=points[0].name,
        role="img",
        aria_label=told,
        tabindex=0 if first else -1,
    )


def _covered(lines: Sequence[Sequence[Point]], places: Places) -> list[Box]:
    """Return what is taken: marks, steps along the lines between them, and the words at the ceilings."""
    boxes: list[Box] = [
        (WIDTH - RIGHT - text_width(text), foot - 14, WIDTH, foot + 4)
        for _, text, _, foot in _ceilings(places)
    ]
    for points in lines:
        boxes += [(p.x - 5, p.y - 5, p.x + 5, p.y + 5) for p in points]
        for one, other in pairwise(points):
            for step in range(1, _STEPS):
                x = one.x + (other.x - one.x) * step / _STEPS
                y = one.y + (other.y - one.y) * step / _STEPS
                boxes.append((x - 1, y - 1, x + 1, y + 1))
    return boxes


def _labels(lines: Sequence[Sequence[Point]], places: Places) -> list[Element]:
    """Return a few names, given the best line first: each beside a point of its line, where room is."""
    boxes = _covered(lines, places)
    made: list[Element] = []
    for points in [each for each in lines if kind(each[0].entry) != REFERENCE] or lines:
        text = points[0].entry.title
        if len(text) > _MOST_LETTERS:
            continue
        width = text_width(text)
        for point in points:
            box = (point.x + 8, point.y - 20, point.x + 8 + width, point.y - 4)
            if box[1] > TOP and box[2] < WIDTH - RIGHT and is_free(box, boxes):
                more = {"data_entry": point.name, "aria_hidden": "true"}
                made.append(draw_text(box[0], box[3] - 3, text, "label", **more))
                boxes.append(box)
                break
        if len(made) == _MOST_LABELS:
            break
    return made


def series_title(standing: Standing, series: Series) -> str:
    """Return what a plot shows."""
    metric = capitalised(metric_name(standing.board, standing.board.metric))
    return f"{metric} over {series.setting}" + (f" at {series.others}" if series.others else "")


def draw_series(standing: Standing, named: Sequence[tuple[str, Entry]], series: Series) -> Element:
    """Return a plot of scores on the rungs of a series.

    Args:
        standing: the board.
        named: entries that have a score, the best first, with the names by which the page knows them.
        series: the rungs.
    """
    places = Places(series)
    lines = [_points(standing, name, entry, places) for name, entry in named]
    drawn = []
    for number, points in enumerate(sorted(lines, key=lambda points: kind(points[0].entry) != REFERENCE)):
        entry = points[0].entry
        scores = zip(places.values, _scores(standing, entry, series), strict=True)
        rungs = ", ".join(f"{series.setting} = {value}: {score(found)}" for value, found in scores)
        told = f"{entry.method}: {with_error(entry)} ({kind(entry)}); {rungs}"
        drawn.append(_entry(points, told, number == 0))
    middle = len(places.values) // 2
    return element(
        "svg",
        _frame(places),
        element("g", *drawn),
        element("g", *_labels(lines, places)),
        element("g", *(draw_tip(points[middle]) for points in lines)),
        class_="plot",
        view_box=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="group",
        aria_label=f"{series_title(standing, series)}; the table below has the same figures",
    )
