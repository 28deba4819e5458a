"""Codes as points: t-SNE (figures 2D, 5A, 5B, A2, A6, A7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from baselines.plots.frame import COLUMN, MUTED, PAGE, SEQUENTIAL, Picture, lines_of
from baselines.plots.style import COLOURS, MARKS, SMALL, TITLE, look_of, panels_of
from sraven.plots import PAPER


@dataclass(frozen=True)
class Cloud:
    """Points of one embedding, coloured by one label.

    Attributes:
        title: such as ``rule``.
        positions: float ``[n, 2]``.
        labels: ``[n]``: integers from 0 are categories, floats are values.
        names: of the categories, for a key. If there are more of them than `MARKS`, as of functions, or none,
            colour and shape together distinguish them, and there is no key.
        note: what goes with the picture, such as how alike neighbours are, and how alike by chance.
    """

    title: str
    positions: NDArray[Any]
    labels: NDArray[Any]
    names: Sequence[str] = ()
    note: str = ""


def cloud_picture(clouds: Sequence[Cloud], across: int = 2, title: str = "") -> Picture:
    """Return the picture of embeddings, a panel each; those with categories of the same names share a key.

    Args:
        clouds: the panels, row by row.
        across: panels in a row.
        title: of the whole; none if empty.
    """
    across = min(across, len(clouds))
    rows = -(-len(clouds) // across)
    width = COLUMN if across < 3 else PAGE
    keyed = {tuple(cloud.names): None for cloud in clouds if _is_keyed(cloud)}
    handles = [each for names in keyed for each in _keys(names)]
    columns = _columns([str(each.get_label()) for each in handles], width)
    side = width / across
    heads = max(len(_head(cloud, side)) for cloud in clouds)
    notes = max(len(lines_of(cloud.note, side, SMALL)) for cloud in clouds)

    def draw(figure: Figure) -> None:
        for axes, cloud in zip(panels_of(figure, len(clouds), across), clouds, strict=True):
            _draw_cloud(figure, axes, cloud, side)
        if handles:
            figure.legend(handles=handles, loc="outside lower center", ncols=columns, **_TIGHT)

    below = 0.16 * -(-len(handles) // columns) + 0.06
    height = rows * (0.96 * side + 0.14 * heads + 0.12 * notes + 0.12) + below
    return Picture(draw, width, height, title, coarse=True)


_TIGHT: dict[str, Any] = {"columnspacing": 1.0, "handletextpad": 0.3, "handlelength": 1.2}


def _columns(names: Sequence[str], width: float) -> int:
    """Return how many columns a key has room for: a letter takes about 0.058 inches."""
    widest = max(map(len, names), default=1) * 0.058 + 0.35
    return max(1, min(len(names) or 1, int(width / widest)))


def _is_keyed(cloud: Cloud) -> bool:
    return bool(cloud.names) and len(cloud.names) <= len(MARKS)


def _keys(names: Sequence[str]) -> list[Line2D]:
    """Return what a key shows of categories: their shape and name."""
    look: dict[str, Any] = {"linestyle": "none", "markersize": 4}
    return [Line2D([], [], label=name, **look_of(i), **look) for i, name in enumerate(names)]


def _has_values(cloud: Cloud) -> bool:
    return np.asarray(cloud.labels).dtype.kind == "f"


def _head(cloud: Cloud, side: float) -> list[str]:
    """Return the lines of a panel's title, which leave room for a key beside it."""
    return lines_of(cloud.title, side * (0.7 if _has_values(cloud) else 1.0), TITLE)


def _draw_cloud(figure: Figure, axes: Axes, cloud: Cloud, side: float) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title("\n".join(_head(cloud, side)), y=1.0)  # which keeps it in line with the key beside it
    if cloud.note:
        axes.set_xlabel("\n".join(lines_of(cloud.note, side, SMALL)), fontsize=SMALL, loc="left", labelpad=2)
    if _has_values(cloud):
        x, y = cloud.positions.T
        drawn = axes.scatter(x, y, s=4, c=cloud.labels, cmap=SEQUENTIAL, edgecolor=MUTED, **_POINT)
        _draw_scale(figure, axes, drawn, cloud)
    else:
        _draw_categories(axes, cloud)
    axes.margins(0.03)
    axes.set_aspect("equal", adjustable="datalim")


def _draw_scale(figure: Figure, axes: Axes, drawn: Any, cloud: Cloud) -> None:
    """Draw which shade is which value, at the right of the title."""
    low, high = float(np.min(cloud.labels)), float(np.max(cloud.labels))
    digits = 1 if high - low >= 0.1 else 3
    texts = [f"{round(end, digits):g}" for end in (low, high)]
    bar = axes.inset_axes((0.85 - 0.04 * len(texts[1]), 1.04, 0.11, 0.035))
    figure.colorbar(drawn, cax=bar, orientation="horizontal", ticks=[]).outline.set_visible(False)
    for text, place, align in zip(texts, (-0.08, 1.08), ("right", "left"), strict=True):
        bar.text(place, 0.4, text, transform=bar.transAxes, ha=align, va="center", fontsize=SMALL)


_POINT: dict[str, Any] = {"linewidth": 0.12, "rasterized": True}
"""Points are pixels in an SVG as well: thousands of them are a large file."""

_LAYERS = 5
"""Points of all categories are drawn in so many turns, so that the last category doesn't cover the others."""

_LARGER = {"*": 2.2, "^": 1.3, "v": 1.3, "P": 1.4, "X": 1.4}
"""Shapes that cover less of a square of one size."""


def _draw_categories(axes: Axes, cloud: Cloud) -> None:
    """Draw categories by colour and shape."""
    categories = np.unique(cloud.labels)
    for part, category in product(range(_LAYERS), categories):
        x, y = cloud.positions[cloud.labels == category][part::_LAYERS].T
        colour, shape = COLOURS[category % len(COLOURS)], MARKS[category // len(COLOURS) % len(MARKS)]
        if _is_keyed(cloud):
            shape = MARKS[category]
        size = 4 * _LARGER.get(shape, 1.0)
        axes.scatter(x, y, s=size, color=colour, marker=shape, edgecolor=PAPER, **_POINT)
