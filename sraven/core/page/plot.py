"""Plots of the page: scores against instances and parameters, drawn as SVG.

Colours, widths and fonts are the style sheet's.
"""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from sraven.core.leaderboard.standing import Entry, Standing
from sraven.core.page.labels import Label, bounds, place_labels
from sraven.core.page.lettering import shortened, text_width
from sraven.core.page.marks import arrow, classes, shape_of
from sraven.core.page.scale import (
    FLOOR,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Point,
    Scale,
)
from sraven.core.page.svg import element
from sraven.core.page.ticks import log_ticks, readable_ticks
from sraven.core.page.words import capitalised, compact, kind, metric_name, with_error

_TIP_LETTERS = 44


def draw_text(x: float, y: float, text: str, class_: str, anchor: str = "start", **more: str) -> Element:
    """Return a text that begins, ends or has its middle at a place."""
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", class_=class_, text_anchor=anchor, **more)


def draw_line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Element:
    """Return a line from one place to another."""
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=class_)


def _x_axis(scale: Scale) -> Iterator[Element]:
    """Yield the axis of counts, its numbers, and what stands left of it."""
    yield draw_line(scale.left, FLOOR, WIDTH - RIGHT, FLOOR, "axis")
    marks = [count for count in scale.axis.marks if scale.range[0] <= count <= scale.range[1]]
    counts = [*marks, *(count for count in log_ticks(*scale.range, marks) if count not in marks)]
    places = [(scale.x(count), compact(count)) for count in counts]
    read = readable_ticks(places, scale.left if scale.columns else 0.0)
    for number, (x, text) in enumerate(places):
        if number in read:
            yield draw_line(x, FLOOR, x, FLOOR + 5, "axis")
            yield draw_text(x, FLOOR + 21, text, "tick" if read[number] else "tick spare", "middle")
    for absent, (low, high) in scale.columns.items():
        yield draw_line(low, FLOOR, high, FLOOR, "axis")
        yield draw_text(
            (low + high) / 2, FLOOR + 21, "none" if absent == 0 else "not stated", "tick", "middle"
        )


def _frame(scale: Scale) -> Element:
    """Return grid, axes, their numbers, the ceiling and the lower lines."""
    frame = element("g", class_="frame", aria_hidden="true")
    for tick in scale.ticks:
        y = scale.y(tick)
        frame.append(draw_line(LEFT, y, WIDTH - RIGHT, y, "grid"))
        frame.append(draw_text(LEFT - 7, y + 4, f"{tick:g}".replace("-", "−"), "tick", "end"))
    frame.extend(_x_axis(scale))
    for bound in bounds(scale):
        y, key = scale.y(bound.value), f"{bound.key}-label"
        frame.append(draw_line(LEFT, y, WIDTH - RIGHT, y, bound.key))
        x, anchor = (LEFT + 4, "start") if bound.is_left else (WIDTH - RIGHT, "end")
        frame.append(draw_text(x, y - 6, bound.label, key, anchor))
    return frame


def _mark(point: Point, axis: Axis, first: bool) -> Element:
    """Return the mark of an entry, with its error bar, and in words for those who can't see it."""
    entry, count = point.entry, axis.value(point.entry)
    of = "not stated" if count is None else f"{count:,}"
    told = f"{entry.method}: {with_error(entry)} ({kind(entry)}); {axis.title}: {of}"
    bar = None
    if not point.beyond and point.low - point.high >= 1:
        bar = draw_line(point.x, point.low, point.x, point.high, "error")
    shape = [arrow(point.x, point.y)] if point.beyond else shape_of(entry, point.x, point.y)
    return element(
        "g",
        element("title", told),
        bar,
        *shape,
        element("circle", cx=f"{point.x:.1f}", cy=f"{point.y:.1f}", r=9, class_="touch"),
        class_=classes(entry),
        data_entry=point.name,
        role="img",
        aria_label=told,
        tabindex=0 if first else -1,
    )


def draw_tip(point: Point) -> Element:
    """Return the label that shows while an entry is pointed at."""
    name = shortened(point.entry.method, _TIP_LETTERS)
    half = max(text_width(name), text_width(with_error(point.entry))) / 2
    x = min(max(point.x, half + 2), WIDTH - half - 2)
    y = point.y - 32 if point.y > TOP + 44 else point.y + 24
    lines = [
        element("tspan", name, x=f"{x:.1f}", class_="tip-name"),
        element("tspan", with_error(point.entry), x=f"{x:.1f}", dy="1.25em"),
    ]
    return element(
        "text",
        *lines,
        y=f"{y:.1f}",
        class_="tip",
        text_anchor="middle",
        data_entry=point.name,
        aria_hidden="true",
    )


def _label(label: Label) -> Element:
    """Return the name that stands beside a point."""
    more = {"data_entry": label.name, "aria_hidden": "true"}
    return draw_text(label.x, label.y, label.text, "label", label.anchor, **more)


def plot_title(standing: Standing, axis: Axis) -> str:
    """Return what a plot shows."""
    board = standing.board
    title = f"{capitalised(metric_name(board, board.metric))} on {board.primary_split} against {axis.title}"
    return title if board.higher_is_better else f"{title} (lower is better)"


def draw_plot(standing: Standing, named: Sequence[tuple[str, Entry]], axis: Axis) -> Element:
    """Return a plot of scores against counts.

    Args:
        standing: the board.
        named: entries that have a score, the best first, with the names by which the page knows them.
        axis: what is along the x axis.
    """
    scale = Scale(standing, [entry for _, entry in named], axis)
    points = scale.points(named)
    by_place = sorted(points, key=lambda point: point.x)
    return element(
        "svg",
        _frame(scale),
        element("g", *[_mark(point, axis, number == 0) for number, point in enumerate(by_place)]),
        element("g", *map(_label, place_labels(scale, points))),
        element("g", *map(draw_tip, points)),
        class_="plot",
        view_box=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="group",
        aria_label=f"{plot_title(standing, axis)}; the table below has the same figures",
    )
