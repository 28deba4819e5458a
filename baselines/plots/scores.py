"""Scores on known and on held-out combinations, a row for each network, beside what bounds them."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from baselines.config import TextRecipe
from baselines.plots.style import COLOURS, LEGEND, MARKS, frame
from sraven.board.board import Board
from sraven.core.palette import palette
from sraven.plots import INK, PAPER

_MUTED, _CAUTION = (palette()[name].light for name in ("muted", "caution"))

_DIGITS = 6
"""Decimal places of what is drawn: more than can be seen, fewer than differ between machines."""

_LONGEST = 24
"""Characters of a line of a name."""

Score = tuple[float, float, str]
"""Mean, standard error, and both in words."""


class Scores(NamedTuple):
    """What a row shows.

    Attributes:
        known: on known combinations; None if nobody knows.
        held_out: on held-out ones.
        reported: those, as a paper reports them.
    """

    known: Score | None
    held_out: Score | None
    reported: Score | None = None


class Panel(NamedTuple):
    """Scores on one board.

    Attributes:
        title: above them.
        rows: by the name of a network, from the top.
        bounds: of scores on held-out combinations: value, style of the line, and label.
        looks: colour and shape of points by the name of a network; others are by their place.
    """

    title: str
    rows: Mapping[str, Scores]
    bounds: Sequence[tuple[float, str, str]]
    looks: Mapping[str, tuple[str, str]] = {}


def score_of(mean: float, error: float | None, text: str) -> Score:
    """Return a score as it is drawn."""
    return round(mean, _DIGITS), round(error or 0.0, _DIGITS), text


def bounds_of(board: Board | TextRecipe) -> list[tuple[float, str, str]]:
    """Return the ceiling on held-out combinations, and the baselines: value, style and label of each."""
    split = board.primary_split
    ceiling = board.ceiling(split, board.metric)
    found = [(ceiling.value, "--", f"ceiling {ceiling.value:.3g}")] if ceiling else []
    lower = [line for line in board.reference_levels(split) if line.is_baseline]
    return found + [(line.value, ":", f"{line.title} {line.value:.2g}") for line in reversed(lower)]


def draw_scores(panels: Sequence[Panel], size: tuple[float, float]) -> Figure:
    """Draw panels below one another.

    Args:
        panels: at least one.
        size: of the whole, in inches.
    """
    canvas = Figure(figsize=size, facecolor=PAPER)
    canvas.set_layout_engine("constrained", h_pad=0.08)
    heights = [len(panel.rows) + 1 for panel in panels]
    every = canvas.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
    for axes, panel in zip(every.flat, panels, strict=True):
        _draw_panel(axes, panel)
    marks: dict[str, Any] = {"markeredgecolor": INK, "marker": "o", "linestyle": ""}
    handles = [
        Line2D([], [], markerfacecolor=PAPER, label="known combinations", **marks),
        Line2D([], [], markerfacecolor=INK, label="held-out combinations", **marks),
    ]
    if any(row.reported for panel in panels for row in panel.rows.values()):
        line: dict[str, Any] = {"marker": "|", "markersize": 14, "linestyle": ""}
        handles.append(Line2D([], [], color=_MUTED, label="those, as the paper reports", **line))
    canvas.legend(handles=handles, ncols=2, **LEGEND)
    return canvas


def _draw_panel(axes: Axes, panel: Panel) -> None:
    labels = {True: 0, False: 0}  # of bounds on either half: they stand in lines of their own
    for value, style, text in panel.bounds:
        is_right = value > 0.5
        line: dict[str, Any] = {"color": _CAUTION, "clip_on": False, "zorder": 1}
        axes.axvline(value, ymax=1 + 0.09 * labels[is_right], linestyle=style, linewidth=1.2, **line)
        side: dict[str, Any] = {"ha": "right" if is_right else "left", "color": _CAUTION, "fontsize": 10}
        above = 4 if is_right else -4, 4 + 13 * labels[is_right]
        axes.annotate(text, (value, 1), above, ("data", "axes fraction"), "offset points", **side)
        labels[is_right] += 1
    for place, (name, scores) in enumerate(panel.rows.items()):
        by_place = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        _draw_scores(axes, place, panel.looks.get(name, by_place), scores)
    pad = 10 + 13 * max(labels.values())
    frame(axes, panel.title, x=-0.15, fontsize=12, fontweight="bold", pad=pad)
    names = ["\n".join(wrap(name, _LONGEST)) for name in panel.rows]
    axes.set_yticks(range(len(names)), names, fontweight="bold")
    axes.set_ylim(len(panel.rows) - 0.5, -0.8)
    axes.set_xlim(0, 1)
    axes.grid(visible=False, axis="y")
    axes.tick_params(length=0)


def _draw_scores(axes: Axes, place: int, look: tuple[str, str], scores: Scores) -> None:
    """Draw a row: what a paper reports as a band, and a score on known and on held-out combinations."""
    ink, known, held_out = look[0], scores.known, scores.held_out
    mark: dict[str, Any] = {"marker": look[1], "markersize": 8}
    score, colour = held_out or scores.reported, INK if held_out else _MUTED
    if scores.reported:
        mean, error, _ = scores.reported
        axes.barh(place, 2 * error, 0.5, left=mean - error, color=_MUTED, alpha=0.25, zorder=1)
        axes.plot([mean, mean], [place - 0.25, place + 0.25], color=_MUTED, linewidth=1.5, zorder=2)
    if known and held_out:
        axes.plot([held_out[0], known[0]], [place, place], color=ink, linestyle=":", linewidth=1, zorder=3)
        axes.plot(known[0], place, color=ink, markerfacecolor=PAPER, clip_on=False, zorder=4, **mark)
    if held_out:
        axes.errorbar(held_out[0], place, xerr=held_out[1], color=ink, linewidth=1.6, zorder=5, **mark)
    if score:
        at: dict[str, Any] = {"xytext": (0, 14), "textcoords": "offset points", "ha": "center"}
        axes.annotate(score[2], (score[0], place), **at, fontsize=10, color=colour)
