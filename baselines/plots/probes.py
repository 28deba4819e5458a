"""Decoding by layer (figures 2B and 5F), every score among its controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from baselines.plots.frame import COLUMN, MUTED, PAGE, Picture
from baselines.plots.style import SMALL, STYLES, look_of, panels_of
from sraven.plots import INK, PAPER

Number = float | None


@dataclass(frozen=True)
class LayerCurve:
    """A score, layer by layer.

    Attributes:
        name: such as ``hyla``, or of a control one of `CONTROLS`.
        values: one for each layer, None where there is no score; or a single one that belongs to no layer, as
            a majority's, which is drawn across.
        low: lower ends of intervals, as many; none, if there are no intervals.
        high: upper ends.
        control: what the others are to be read against, drawn in grey.
    """

    name: str
    values: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    control: bool = False


Panels = Mapping[str, Sequence[LayerCurve]]
"""Scores by title of a panel: the part of the data, such as ``in distribution``."""

CONTROLS: dict[str, tuple[Any, str]] = {
    "ceiling": ((0, (6, 2)), ""),
    "raw tokens": ((0, (1, 1.2)), ""),
    "untrained": ("-", "D"),
    "permuted": ("-", "v"),
    "row3 inputs": ((0, (4, 1.5)), ""),
    "codes with inputs": ("-", "s"),
    "majority": ((0, (5, 1.5, 1, 1.5)), ""),
    "always positive": ((0, (3, 1.2, 1, 1.2, 1, 1.2)), ""),
}
"""Style of the line and shape of the points, by control. Other names are controls as well."""


def decoding_picture(panels: Panels, layers: Sequence[str], quantity: str) -> Picture:
    """Return the picture of scores by layer, a panel for each part of the data.

    Args:
        panels: at most four.
        layers: their names, from the first.
        quantity: what a score is, such as ``F1, mean over terms``.
    """
    looks = _looks(panels)
    keys = [Line2D([], [], label=name, **look) for name, look in looks.items()]
    columns = min(len(keys), 4 if len(panels) > 1 else 2)
    spacing = {"handlelength": 3.2, "columnspacing": 1.6}

    def draw(figure: Figure) -> None:
        axes = panels_of(figure, len(panels), len(panels), sharey=True)
        for each, panel in zip(axes, panels.items(), strict=True):
            _draw_panel(each, *panel, layers, looks)
        axes[0].set_ylabel(quantity)
        figure.legend(handles=keys, loc="outside lower center", ncols=columns, **spacing)

    return Picture(draw, min(PAGE, COLUMN * len(panels)), 2.3 + 0.16 * -(-len(keys) // columns))


def _looks(panels: Panels) -> dict[str, dict[str, Any]]:
    """Return how each name is drawn, in all panels alike: scores first, then controls.

    Scores have filled points and heavier lines.
    """
    curves = {curve.name: curve for curves in panels.values() for curve in curves}
    scores = [name for name, curve in curves.items() if not curve.control]
    looks = {}
    for i, name in enumerate(scores):
        line = {"linestyle": STYLES[i % len(STYLES)], "linewidth": 1.5}
        looks[name] = {**look_of(i), **line, "markersize": 4.5, "markeredgewidth": 0.9}
    order = [*CONTROLS, *curves]
    for name in sorted(curves.keys() - scores, key=order.index):
        style, shape = CONTROLS.get(name, ("-", "x"))
        line = {"color": INK if name == "ceiling" else MUTED, "linestyle": style, "linewidth": 0.9}
        point = {"marker": shape, "markersize": 3.5, "markeredgewidth": 0.9, "markerfacecolor": PAPER}
        looks[name] = {**line, **point}
    return looks


def _draw_panel(
    axes: Axes, title: str, curves: Sequence[LayerCurve], layers: Sequence[str], looks: Mapping[str, Any]
) -> None:
    scores = [curve for curve in curves if not curve.control]
    for curve in curves:
        look = looks[curve.name]
        if len(curve.values) == 1 < len(layers) and (value := curve.values[0]) is not None:
            across = {name: look[name] for name in ("color", "linestyle")}
            axes.axhline(value, linewidth=0.9, zorder=2, **across)
        else:  # side by side, so that no bar of an interval hides another
            aside = 0.0 if curve.control else 0.1 * (scores.index(curve) - (len(scores) - 1) / 2)
            _draw_curve(axes, curve, look, np.arange(len(layers)) + aside)
    axes.set_xticks(range(len(layers)), list(layers))
    axes.set(title=title, xlabel="layer", xlim=(-0.45, len(layers) - 0.55))
    axes.tick_params(labelleft=True, labelsize=SMALL)
    axes.grid(axis="y")


def _draw_curve(axes: Axes, curve: LayerCurve, look: dict[str, Any], places: Any) -> None:
    """Draw a score with its interval."""
    zorder, colour = 3 if curve.control else 4, look["color"]
    axes.plot(places, np.array(curve.values, float), zorder=zorder, **look)
    if curve.low:
        ends = np.array([curve.low, curve.high], float)
        axes.vlines(places, *ends, color=colour, linewidth=1.1, zorder=zorder)
