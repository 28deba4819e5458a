"""The plots of a board: scores against counts (training, parameters), or on the rungs of a ladder.

A plot is a frame (grid, axes, reference levels) and curves, one for each entry: a point with its error bar,
or a line through several. The script shows a curve's tip, its name and score, while it is pointed at. The two
kinds of plots differ in what is along the x axis, and are drawn by the same function.

Lengths are units of the plot's ``viewBox``. Colours, widths and fonts are the style sheet's.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from sraven.board.board import Board
from sraven.leaderboard.page.groups import budgets_of
from sraven.leaderboard.page.marks import Key, arrow, classes, draw_shape, find_legend
from sraven.leaderboard.page.strip import Scale, find_bounds
from sraven.leaderboard.page.svg import element
from sraven.leaderboard.page.words import (
    capitalised,
    compact,
    entry_score,
    kind,
    metric_name,
    score,
    shortened,
)
from sraven.leaderboard.standing import REFERENCE, Entry, Standing

WIDTH, HEIGHT = 480.0, 300.0
LEFT, RIGHT, TOP, FLOOR = 48.0, 470.0, 22.0, 264.0
"""Of the grid."""

_ABSENT = {0: ("none", 60.0), None: ("not stated", 84.0)}
"""What stands left of an axis of counts for entries without one, and how wide."""

_CEILINGS = {
    "board": ("ceiling", "ceiling", -6.0),
    "any": ("ceiling uncertified", "ceiling, several answers", 20.0),
}
"""Ceilings by name (see `sraven.core.task.ScoredLevel`): class, words, and how far below they stand."""

_SLOT = 10.0  # between points side by side
_GAP = 10.0  # between what stands left of the axis, and before the axis
_TICKS = 6  # of an axis of scores at most
_TICKS_APART = 62.0  # numbers have seven letters at most, and are large on a phone
_TIP_LETTERS = 44

COUNTS_CAPTION = (
    "Bars show ± the standard error over seeds. Entries at the same place stand side by side. "
    "Pointing at a mark shows whose it is."
)
RUNGS_CAPTION = (
    "Bars hold 95 % of bootstrap samples of the questions. The ceilings are those of an observer that is "
    "told the rules: on these questions, each of which has one answer, and (dotted) on questions drawn "
    "without that certificate. Where prompts don’t tell the rules, nobody knows a ceiling. "
    "Pointing at a line shows whose it is."
)


TitledPlot = tuple[str, Element]
"""A plot's title, and the plot."""

Pair = tuple[float, float]
"""Both ends of a range, or x and y."""


class BoardPlots(NamedTuple):
    """The plots of a board with their titles, the kinds of marks in them, and a caption."""

    panels: tuple[TitledPlot, ...]
    keys: tuple[Key, ...]
    caption: str


class Axis(NamedTuple):
    """Counts along the x axis: of what, and the numbers that are named first, such as a board's budgets."""

    title: str
    value: Callable[[Entry], int | None]
    marks: tuple[int, ...] = ()


class LevelSeries(NamedTuple):
    """Rungs that differ in one setting alone, in its order, and what they have in common in words."""

    setting: str
    rungs: tuple[Mapping[str, Any], ...]
    others: str


@dataclass(frozen=True)
class PlotPoint:
    """A score in a plot; ``low`` and ``high`` end its error bar, ``beyond`` says that it lies outside."""

    x: float
    y: float
    low: float
    high: float
    beyond: bool = False

    @property
    def reach(self) -> Pair:
        """Top and bottom of its mark and error bar."""
        return min(self.high, self.y - 5), max(self.low, self.y + 5)


class EntryCurve(NamedTuple):
    """An entry in a plot: the name by which the page knows it, its points, and where they lie, in words."""

    name: str
    entry: Entry
    points: Sequence[PlotPoint]
    points_text: str


class ReferenceLine(NamedTuple):
    """What scores are read against: a line through places, and words that begin or end at it."""

    key: str
    places: Sequence[Pair]
    text: str = ""
    foot: float = 0.0
    x: float = RIGHT
    anchor: str = "end"


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers that enclose a range, evenly apart."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / _TICKS))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10, 20))
    step = next(step for step in steps if step * (_TICKS - 1) >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]


def count_ticks(scale: Scale, marks: Iterable[int]) -> list[tuple[float, str]]:
    """Return places and words of counts along a log axis: the marks, then round ones that find room."""
    found: list[tuple[float, str]] = []
    for count in (*marks, *(factor * 10**power for factor in (1, 2, 5, 3) for power in range(19))):
        x = scale(math.log(count))
        has_room = all(abs(x - other) >= _TICKS_APART for other, _ in found)
        if scale.holds(math.log(count)) and has_room and x - scale.start >= _TICKS_APART / 2:
            found.append((x, compact(count)))
    return found


def move_apart(point: PlotPoint, placed: Iterable[PlotPoint], left: float, right: float) -> PlotPoint:
    """Return a point, moved sideways to the nearest place where it covers none that is placed.

    Points that share a place stay around it, so that their spread can't be taken for a trend. What finds no
    room between left and right stays where it was.
    """
    top, bottom = point.reach
    beside = [other.x for other in placed if top < other.reach[1] and other.reach[0] < bottom]
    for step in sorted(range(-80, 81), key=abs):
        x = point.x + step * _SLOT / 2
        is_within = left <= x - _SLOT / 2 and x + _SLOT / 2 <= right
        if is_within and all(abs(x - other) >= _SLOT for other in beside):
            return replace(point, x=x)
    return point


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Element:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=class_)


def _through(places: Iterable[Pair], class_: str) -> Element:
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_=class_)


def _text(x: float, y: float, text: str, class_: str, anchor: str) -> Element:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", class_=class_, text_anchor=anchor)


def _frame(
    heights: Iterable[tuple[float, str]],
    pieces: Iterable[Pair],
    numbers: Iterable[tuple[float, str]],
    levels: Iterable[ReferenceLine],
) -> Element:
    """Return what is behind the curves.

    Args:
        heights: places and numbers of the grid's lines.
        pieces: of the x axis.
        numbers: places and numbers along it.
        levels: what scores are read against.
    """
    parts = element("g", class_="frame", aria_hidden="true")
    for y, number in heights:
        parts.append(_line(LEFT, y, RIGHT, y, "grid"))
        parts.append(_text(LEFT - 7, y + 4, number, "tick", "end"))
    parts.extend(_line(start, FLOOR, end, FLOOR, "axis") for start, end in pieces)
    for x, number in numbers:
        parts.append(_line(x, FLOOR, x, FLOOR + 5, "axis"))
        parts.append(_text(x, FLOOR + 21, number, "tick", "middle"))
    for level in levels:
        parts.append(_through(level.places, level.key))
        if level.text:
            key = f"{level.key.split()[0]}-label"
            parts.append(_text(level.x, level.foot, level.text, key, level.anchor))
    return parts


def _curve(curve: EntryCurve, is_first: bool) -> Element:
    """Return the marks of an entry, and in words for those who can't see them."""
    label = f"{curve.entry.method}: {entry_score(curve.entry)} ({kind(curve.entry)}); {curve.points_text}"
    parts = [element("title", label)]
    if len(curve.points) > 1:
        parts.append(_through(((point.x, point.y) for point in curve.points), "line"))
    for point in curve.points:
        if not point.beyond and point.low - point.high >= 1:
            parts.append(_line(point.x, point.low, point.x, point.high, "error"))
        parts += [arrow(point.x, point.y)] if point.beyond else draw_shape(curve.entry, point.x, point.y)
        parts.append(element("circle", cx=f"{point.x:.1f}", cy=f"{point.y:.1f}", r=9, class_="touch"))
    look = {"class_": classes(curve.entry), "data_entry": curve.name, "role": "img", "aria_label": label}
    return element("g", *parts, **look, tabindex=0 if is_first else -1)


def _tip(curve: EntryCurve) -> Element:
    """Return name and score of an entry, above its middle point if there is room."""
    point = curve.points[len(curve.points) // 2]
    y = point.y - 32 if point.y > TOP + 44 else point.y + 24
    third = 3 * point.x / WIDTH
    x = f"{point.x:.1f}"
    name = element("tspan", shortened(curve.entry.method, _TIP_LETTERS), x=x, class_="tip-name")
    return element(
        "text",
        name,
        element("tspan", entry_score(curve.entry), x=x, dy="1.25em"),
        y=f"{y:.1f}",
        class_="tip",
        text_anchor="start" if third < 1 else "end" if third > 2 else "middle",
        data_entry=curve.name,
        aria_hidden="true",
    )


def _draw(title: str, frame: Element, curves: Sequence[EntryCurve]) -> TitledPlot:
    """Return a plot with its title."""
    ordered = sorted(curves, key=lambda curve: curve.points[0].x)  # as arrow keys walk them
    drawing = element(
        "svg",
        frame,
        element("g", *(_curve(curve, number == 0) for number, curve in enumerate(ordered))),
        element("g", *map(_tip, curves)),
        class_="plot",
        view_box=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="group",
        aria_label=f"{title}; the table below has the same figures",
    )
    return title, drawing


def _height(board: Board, bars: Iterable[Pair], levels: Iterable[float]) -> list[float]:
    """Return the numbers up a plot that holds scores with their errors, and levels."""
    ends = [*levels, *(value + sign * error for value, error in bars for sign in (-1, 1))]
    low, high = min(ends), max(ends)
    # From 0 on, where scores are on both sides: what lies below is an arrow on the edge.
    return ticks(0.0 if board.higher_is_better and low < 0 < high else low, high)


def _across(counts: Collection[int | None], marks: Iterable[int]) -> tuple[dict[int | None, Pair], Scale]:
    """Return what lies along the x axis: pieces for entries without a count, and the log axis after them."""
    pieces: dict[int | None, Pair] = {}
    left = LEFT
    for absent, (_, width) in _ABSENT.items():
        if absent in counts:
            pieces[absent] = left + _GAP, left + _GAP + width
            left += _GAP + width
    known = [count for count in (*counts, *marks) if count]
    smallest, largest = min(known, default=10**5), max(known, default=10**6)
    margin = math.log(max(1.6, 3.3 / (largest / smallest) ** 0.5))
    left += _GAP if pieces else 0.0
    return pieces, Scale(math.log(smallest) - margin, math.log(largest) + margin, left, RIGHT)


def draw_counts(standing: Standing, named: Sequence[tuple[str, Entry]], axis: Axis) -> TitledPlot:
    """Return a plot of scores against counts along a log axis, with its title.

    Args:
        standing: the board.
        named: entries that have a score, the best first, with the names by which the page knows them.
        axis: what is along the x axis.
    """
    board = standing.board
    bounds = [bound for bound in find_bounds(board) if bound.key != "chance"]
    bars = [(entry.value or 0.0, entry.standard_error or 0.0) for _, entry in named]
    heights = _height(board, bars, (bound.value for bound in bounds))
    counts = [axis.value(entry) for _, entry in named]
    y, (pieces, x) = Scale(heights[0], heights[-1], FLOOR, TOP), _across(counts, axis.marks)
    levels = []
    for bound in bounds:
        height, text = y(bound.value), f"{bound.title} {score(bound.value)}"
        # High up, marks are at the right, where most training is; and so are the words of a ceiling.
        is_left = bound.key == "lower" and (height < (TOP + FLOOR) / 2 or height - y(bounds[0].value) < 14)
        place = (x.start + 4, "start") if is_left else (RIGHT, "end")
        levels.append(ReferenceLine(bound.key, ((LEFT, height), (RIGHT, height)), text, height - 6, *place))

    placed: list[PlotPoint] = []
    curves = []
    for (name, entry), (value, error), count in zip(named, bars, counts, strict=True):
        start, end = pieces.get(count, (x.start, x.end))
        middle = x(math.log(count)) if count else (start + end) / 2
        is_beyond = not heights[0] <= value <= heights[-1]
        point = PlotPoint(middle, y(value), y(value - error), y(value + error), is_beyond)
        placed.append(move_apart(point, placed, start, end))
        points_text = f"{axis.title}: {'not stated' if count is None else f'{count:,}'}"
        curves.append(EntryCurve(name, entry, placed[-1:], points_text))

    title = f"{capitalised(metric_name(board, board.metric))} on {board.primary_split} against {axis.title}"
    absences = [((start + end) / 2, _ABSENT[absent][0]) for absent, (start, end) in pieces.items()]
    frame = _frame(
        [(y(tick), f"{tick:g}".replace("-", "−")) for tick in heights],
        [*pieces.values(), (x.start, x.end)],
        [*absences, *count_ticks(x, axis.marks)],
        levels,
    )
    return _draw(title if board.higher_is_better else f"{title} (lower is better)", frame, curves)


def find_series(rungs: Sequence[Mapping[str, Any]]) -> list[LevelSeries]:
    """Return, for each setting, the longest series of rungs that differ in it alone; one rung is none."""
    found = []
    for name in rungs[0]["settings"] if rungs else ():
        alike: dict[str, list[Mapping[str, Any]]] = {}
        for rung in rungs:
            others = ", ".join(f"{key} = {value}" for key, value in rung["settings"].items() if key != name)
            alike.setdefault(others, []).append(rung)
        others, longest = max(alike.items(), key=lambda item: len(item[1]))
        if len(longest) > 1:
            ordered = sorted(longest, key=lambda rung: int(rung["settings"][name]))
            found.append(LevelSeries(name, tuple(ordered), others))
    return found


def draw_series(standing: Standing, named: Sequence[tuple[str, Entry]], series: LevelSeries) -> TitledPlot:
    """Return a plot of scores on the rungs of a series, with its title; for the others see `draw_counts`."""
    board, rungs = standing.board, series.rungs
    values = [int(rung["settings"][series.setting]) for rung in rungs]
    x, y = Scale(values[0], values[-1], LEFT + 26, RIGHT - 26), Scale(0, 1, FLOOR, TOP)

    across = [x(value) for value in values]
    levels = [ReferenceLine("chance", list(zip(across, (y(rung["chance"]) for rung in rungs), strict=True)))]
    for name, (key, text, drop) in _CEILINGS.items():
        if all(name in rung["ceilings"] for rung in rungs):
            best = [y(rung["ceilings"][name]["value"]) for rung in rungs]
            levels.append(ReferenceLine(key, list(zip(across, best, strict=True)), text, best[-1] + drop))

    def curve(name: str, entry: Entry) -> EntryCurve:
        found = entry.splits[board.primary_split]
        scores = [found.get(rung["metric"]) or 0.0 for rung in rungs]
        points: list[PlotPoint] = []
        texts: list[str] = []
        for rung, value, height in zip(rungs, values, scores, strict=True):
            low, high = entry.rungs.get(rung["metric"], (height, height))
            points.append(PlotPoint(x(value), y(height), y(low), y(high)))
            texts.append(f"{series.setting} = {value}: {score(height)}")
        return EntryCurve(name, entry, points, ", ".join(texts))

    title = f"{capitalised(metric_name(board, board.metric))} over {series.setting}"
    frame = _frame(
        [(y(tick), f"{tick:g}") for tick in ticks(0, 1)],
        [(LEFT, RIGHT)],
        list(zip(across, map(str, values), strict=True)),
        levels,
    )
    behind = sorted(named, key=lambda each: kind(each[1]) != REFERENCE)
    title += f" at {series.others}" if series.others else ""
    return _draw(title, frame, [curve(name, entry) for name, entry in behind])


def _is_telling(axis: Axis, entries: Iterable[Entry]) -> bool:
    """Return whether a plot would tell more than a list: entries that were trained lie at several counts."""
    counts = {axis.value(entry) for entry in entries if kind(entry) != REFERENCE}
    return len(counts - {None, 0}) > 1


def make_figure(standing: Standing, named: Iterable[tuple[str, Entry]]) -> BoardPlots | None:
    """Return the plots of a board that tell more than its table; None if none does.

    Args:
        standing: the board.
        named: its entries with the names by which the page knows them.
    """
    board = standing.board
    scored = [(name, entry) for name, entry in named if entry.value is not None]
    entries = [entry for _, entry in scored]
    if entries and (all_series := find_series(board.rungs)):
        drawn = tuple(draw_series(standing, scored, series) for series in all_series)
        return BoardPlots(drawn, find_legend(entries), RUNGS_CAPTION)
    axes = (
        Axis(f"training {board.budget_unit}", lambda entry: entry.train_instances, budgets_of(board)),
        Axis("parameters", lambda entry: entry.parameters),
    )
    drawn = tuple(draw_counts(standing, scored, axis) for axis in axes if _is_telling(axis, entries))
    return BoardPlots(drawn, find_legend(entries), COUNTS_CAPTION) if drawn else None
