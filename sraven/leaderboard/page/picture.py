"""The pictures of the page: scores on known and on held-out combinations, a row for each entry.

Every mark lies exactly at its score. Names stand left of the axes and reference levels in the legend, so no
line crosses a letter.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sraven.board.board import Board
from sraven.core.escape import figure
from sraven.leaderboard.standing import REPORTED, Entry, primary_ceiling
from sraven.palette import follow_scheme, palette, save_figure
from sraven.scoring.composing import KNOWN

WIDE, NARROW = 860, 320
"""Widths, in pixels: on a screen and on a phone."""

_AROUND, _LEGEND_LINE = 66, 22  # pixels
_TEXT = {WIDE: 14.0, NARROW: 12.5}
_ROW, _LETTERS, _COLUMNS = {WIDE: 28, NARROW: 36}, {WIDE: 44, NARROW: 19}, {WIDE: 3, NARROW: 1}
_DPI, _POINTS = 96, 96 / 72  # pixels of an inch and of a point
_MOST = 1e6  # beyond it a score is in the table alone

_TEXT_COLOUR, _MUTED, _LINE, _ACCENT, _GROUND = (
    palette()[name].light for name in ("text", "muted", "line", "accent", "surface")
)
_LINES = {"solid": _TEXT_COLOUR, "dashed": _MUTED, "dotted": _MUTED}

_STYLE: Any = {
    "text.color": _TEXT_COLOUR,
    "axes.edgecolor": _LINE,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "xtick.color": _LINE,
    "xtick.labelcolor": _MUTED,
    "ytick.left": False,
    "ytick.labelcolor": _TEXT_COLOUR,
    "legend.frameon": False,
    "svg.fonttype": "path",  # as wide here as there, whatever letters a reader has
    "svg.hashsalt": "sraven",
}

Interval = tuple[float, float] | None


class Bar(NamedTuple):
    """An entry: its name, what it scores on known combinations (None if that isn't known) and held out."""

    name: str
    known: float | None
    held_out: float
    interval: Interval


class Panel(NamedTuple):
    """Entries of a board on one axis; ``levels`` are reference levels by name, each with a style of line."""

    title: str
    bars: Sequence[Bar]
    levels: Mapping[str, tuple[float, Any]]


def levels_of(board: Board) -> dict[str, tuple[float, str]]:
    """Return the ceiling, the best that composes nothing, and chance, by name, with styles of lines."""
    ceiling, best = primary_ceiling(board), board.best_baseline
    found = {} if ceiling is None else {f"ceiling {figure(ceiling)}": (ceiling, "solid")}
    if best:
        found[f"{best.title} {figure(best.value)}"] = best.value, "dashed"
    if board.chance is not None:
        found[f"chance {figure(board.chance)}"] = board.chance, "dotted"
    return found


def bar_of(board: Board, entry: Entry) -> Bar:
    """Return the row of an entry that has a score."""
    value, error = entry.value, entry.standard_error
    assert value is not None, f"{entry.id} has no score"
    interval = entry.shown_interval or (None if error is None else (value - error, value + error))
    known = None if board.primary_split == KNOWN else entry.splits.get(KNOWN, {}).get(board.metric)
    reported = " (reported)" if entry.badge == REPORTED else ""
    name = ", ".join(filter(None, (entry.title, entry.details)))
    return Bar(f"{name}{reported}", known, value, interval)


def _wrapped(text: str, width: int) -> str:
    """Return a name as it stands beside its row: in one line, and on a phone in two."""
    lines = 1 if width == WIDE else 2
    return "\n".join(wrap(text, _LETTERS[width], max_lines=lines, placeholder="…"))


def draw_panel(axes: Axes, panel: Panel, width: int) -> None:
    """Draw the entries of a board, the first on top."""
    for value, style in panel.levels.values():
        axes.axvline(value, color=_LINES[style], linestyle=style, linewidth=1.3, zorder=1)
    for y, bar in enumerate(panel.bars):
        axes.axhline(y, color=_LINE, linewidth=0.8, zorder=0)
        if bar.interval and max(map(abs, bar.interval)) < _MOST:
            axes.plot(bar.interval, (y, y), color=_ACCENT, linewidth=2, solid_capstyle="butt", zorder=2)
        if bar.known is not None:
            axes.plot(bar.known, y, "o", mfc=_GROUND, mec=_TEXT_COLOUR, mew=1.5, ms=7, zorder=3)
        axes.plot(bar.held_out, y, "o", color=_ACCENT, ms=7, zorder=4)
    names = [_wrapped(bar.name, width) for bar in panel.bars]
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_title(panel.title)


def _legend(panels: Sequence[Panel], score: str) -> dict[str, Any]:
    """Return what stands below the panels: the marks and lines by their meaning."""
    marks: dict[str, Any] = {}
    if any(bar.known is not None for panel in panels for bar in panel.bars):
        marks["known combinations"] = {"mfc": _GROUND, "mec": _TEXT_COLOUR, "mew": 1.5}
    marks[score] = {"color": _ACCENT}
    found = {name: Line2D([], [], linestyle="", marker="o", **look) for name, look in marks.items()}
    for panel in panels:
        for name, (_, style) in panel.levels.items():
            found[name] = Line2D([], [], color=_LINES[style], linestyle=style)
    return found


def draw_figure(panels: Sequence[Panel], width: int, score: str) -> Figure:
    """Return panels below one another on the same axis.

    Args:
        panels: of boards of the same metric; rows with scores beyond all measure are left out.
        width: `WIDE` or `NARROW`.
        score: what their scores are on, such as held-out combinations.
    """
    panels = [each._replace(bars=[bar for bar in each.bars if abs(bar.held_out) < _MOST]) for each in panels]
    rows = [_ROW[width] * len(panel.bars) for panel in panels]
    legend, columns = _legend(panels, score), _COLUMNS[width]
    height = sum(rows) + _AROUND * len(panels) + _LEGEND_LINE * -(-len(legend) // columns)
    canvas = Figure(figsize=(width / _DPI, height / _DPI), facecolor="none", layout="constrained")
    found = canvas.subplots(len(panels), sharex=True, squeeze=False, height_ratios=[row + 1 for row in rows])
    for axes, panel in zip(found[:, 0], panels, strict=True):
        axes.set_facecolor("none")
        draw_panel(axes, panel, width)
    canvas.legend(legend.values(), legend, loc="outside lower left", ncols=columns, columnspacing=1.2)
    return canvas


@contextmanager
def _style(width: int) -> Iterator[None]:
    with rc_context({**_STYLE, "font.size": _TEXT[width] / _POINTS}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks is drawn as a box
        yield


def draw(panels: Sequence[Panel], width: int, score: str) -> str:
    """Return what `draw_figure` draws as an SVG file, light or dark as its reader has it."""
    written = StringIO()
    with _style(width):
        metadata = {"Date": None, "Creator": None}
        draw_figure(panels, width, score).savefig(written, format="svg", metadata=metadata)
    return follow_scheme(written.getvalue())


def save_scores(panels: Sequence[Panel], path: Path) -> None:
    """Write a picture of scores, as SVG, PDF or PNG by its name."""
    with _style(WIDE):
        save_figure(draw_figure(panels, WIDE, "held-out combinations"), path, path.suffix[1:])
