"""Decoding by layer (figures 2B and 5F), every score among its controls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from baselines.analysis.plots.frame import (
    COLOURS,
    COLUMN,
    MARKS,
    MUTED,
    PAGE,
    SMALL,
    STYLES,
    Picture,
    panels_of,
)
from sraven.plots import INK, PAPER

Number = float | None


@dataclass(frozen=True)
class Curve:
    """A score, layer by layer.

    Attributes:
        name: such as ``hyla``, or of a control one of `CONTROLS`.
        values: one for each layer, None where there is no score; or a single one that belongs to no layer, as
            a majority's, which is drawn across.
        low: lower ends of intervals, as many; none, if there are no intervals.
        high: upper ends.
        parts: of each layer the scores that the value is a mean of, such as of each term; drawn as ticks.
        control: what the others are to be read against, drawn in grey.
    """

    name: str
    values: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    parts: Sequence[Sequence[Number]] = ()
    control: bool = False


@dataclass(frozen=True)
class Panel:
    """Scores on one part of the data, such as ``in distribution``."""

    title: str
    curves: Sequence[Curve]


CONTROLS: dict[str, tuple[Any, str]] = {
    "ceiling": ((0, (6, 2)), ""),
    "raw tokens": ((0, (1, 1.2)), ""),
    "untrained": ("-", "D"),
    "permuted": ("-", "v"),
    "majority": ((0, (5, 1.5, 1, 1.5)), ""),
    "always positive": ((0, (3, 1.2, 1, 1.2, 1, 1.2)), ""),
}
"""Style of the line and shape of the points, by control. Other names are controls as well."""


def decoding_picture(
    panels: Sequence[Panel], layers: Sequence[str], quantity: str, part: str = "one term"
) -> Picture:
    """Return the picture of scores by layer, a panel for each part of the data.

    Args:
        panels: at most four.
        layers: their names, from the first.
        quantity: what a score is, such as ``F1, mean over terms``.
        part: what the score is a mean of, where curves have parts.
    """
    drawn = _marks(panels)
    keys = [_key(name, mark) for name, mark in drawn.items()]
    if any(curve.parts for panel in panels for curve in panel.curves):
        keys.append(Line2D([], [], color=COLOURS[0], linestyle="none", label=part, **_TICK))
    columns = min(len(keys), 4 if len(panels) > 1 else 2)

    def draw(figure: Figure) -> None:
        axes = panels_of(figure, len(panels), len(panels), sharey=True)
        for each, panel in zip(axes, panels, strict=True):
            _draw_panel(each, panel, layers, drawn)
        axes[0].set_ylabel(quantity)
        figure.legend(
            handles=keys,
            loc="outside lower center",
            ncols=columns,
            handlelength=3.2,
            columnspacing=1.6,
        )

    return Picture(draw, min(PAGE, COLUMN * len(panels)), 2.3 + 0.16 * -(-len(keys) // columns))


_TICK: dict[str, Any] = {"marker": "_", "markersize": 4, "markeredgewidth": 0.7, "alpha": 0.6}


@dataclass(frozen=True)
class _Mark:
    colour: str
    style: Any
    shape: str
    control: bool


def _marks(panels: Sequence[Panel]) -> dict[str, _Mark]:
    """Return how each name is drawn, in all panels alike: scores first, then controls."""
    curves = {curve.name: curve for panel in panels for curve in panel.curves}
    scores = [name for name, curve in curves.items() if not curve.control]
    controls = sorted(
        (name for name, curve in curves.items() if curve.control),
        key=lambda name: list(CONTROLS).index(name) if name in CONTROLS else len(CONTROLS),
    )
    marks = {
        name: _Mark(COLOURS[i % len(COLOURS)], STYLES[i % len(STYLES)], MARKS[i % len(MARKS)], False)
        for i, name in enumerate(scores)
    }
    for name in controls:
        style, shape = CONTROLS.get(name, ("-", "x"))
        marks[name] = _Mark(INK if name == "ceiling" else MUTED, style, shape, True)
    return marks


def _key(name: str, mark: _Mark) -> Line2D:
    return Line2D(
        [], [], color=mark.colour, linestyle=mark.style, marker=mark.shape, label=name, **_widths(mark)
    )


def _widths(mark: _Mark) -> dict[str, Any]:
    """Return what tells scores from controls: filled points and heavier lines."""
    return {
        "linewidth": 0.9 if mark.control else 1.5,
        "markersize": 3.5 if mark.control else 4.5,
        "markerfacecolor": PAPER if mark.control else mark.colour,
        "markeredgewidth": 0.9,
    }


def _draw_panel(axes: Axes, panel: Panel, layers: Sequence[str], marks: dict[str, _Mark]) -> None:
    scores = [curve for curve in panel.curves if not curve.control]
    for curve in panel.curves:
        mark = marks[curve.name]
        if len(curve.values) == 1 and len(layers) > 1:
            if curve.values[0] is not None:
                axes.axhline(
                    curve.values[0], color=mark.colour, linestyle=mark.style, linewidth=0.9, zorder=2
                )
            continue
        aside = 0.0 if curve.control else 0.1 * (scores.index(curve) - (len(scores) - 1) / 2)
        _draw_curve(axes, curve, mark, np.arange(len(layers)) + aside)
    axes.set_title(panel.title)
    axes.set_xticks(range(len(layers)), list(layers))
    axes.set_xlim(-0.45, len(layers) - 0.55)
    axes.set_xlabel("layer")
    axes.tick_params(labelleft=True, labelsize=SMALL)
    axes.grid(axis="y")


def _draw_curve(axes: Axes, curve: Curve, mark: _Mark, places: Any) -> None:
    """Draw a score with its interval, side by side with others so that no bar hides another."""
    values = np.array(curve.values, float)
    zorder = 3 if mark.control else 4
    axes.plot(
        places,
        values,
        color=mark.colour,
        linestyle=mark.style,
        marker=mark.shape,
        zorder=zorder,
        **_widths(mark),
    )
    if curve.low:
        ends = np.array([curve.low, curve.high], float)
        if mark.control:
            axes.fill_between(places, *ends, color=mark.colour, alpha=0.15, linewidth=0, zorder=1)
        else:
            axes.vlines(places, *ends, color=mark.colour, linewidth=1.1, zorder=zorder)
    for place, parts in zip(places, curve.parts, strict=False):
        dots = np.array(parts, float)
        axes.plot(
            np.full(len(dots), place + 0.16), dots, color=mark.colour, linestyle="none", zorder=2, **_TICK
        )
