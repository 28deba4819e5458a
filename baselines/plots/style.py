"""Style of the pictures of runs: sizes of text, colours, marks, Matplotlib's settings."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sraven.plots import FAINT, INK

SMALL, TEXT, TITLE = 7.0, 7.5, 8.5
"""Sizes of text, in points: of numbers and notes, of labels, of titles."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#8c6d31")
"""Of Okabe and Ito, and a brown: apart for all kinds of colour vision. As many as there are rules."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Shapes of points, so that they are apart without colour as well."""

_DASHED, _DASH_DOT, _DOTTED = (0, (5, 1.5)), (0, (4, 1.2, 1, 1.2)), (0, (1.2, 1))
STYLES: tuple[Any, ...] = ("-", _DASHED, _DASH_DOT, _DOTTED, "-", _DASHED, "-", "-")
"""Of lines, for the same."""

STYLE: Any = {
    "font.size": TEXT,
    "axes.titlesize": TITLE,
    "axes.titlelocation": "left",
    "axes.labelsize": TEXT,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "grid.alpha": 0.6,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "sraven",
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
}
"""Matplotlib's settings, in which pictures are drawn and written."""


RESULTS: Any = {
    "font.size": 11,
    "svg.fonttype": "none",
    "svg.hashsalt": "sraven",
    "font.family": "sans-serif",
}
"""Matplotlib's settings for pictures of results."""

LEGEND: Any = {"loc": "outside upper left", "frameon": False, "fontsize": 10, "labelcolor": INK}
"""Of pictures of results."""


def look_of(number: int) -> dict[str, Any]:
    """Return colour and shape of the points of the n-th of several things."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}


def panels_of(figure: Figure, count: int, across: int, **options: Any) -> list[Axes]:
    """Return axes for so many panels in rows of at most ``across``; places that are left are empty."""
    rows = -(-count // across)
    axes = list(figure.subplots(rows, min(count, across), squeeze=False, **options).flat)
    for each in axes[count:]:
        each.set_visible(False)
    return axes[:count]


def frame(axes: Axes, title: str, **options: Any) -> None:
    """Set title, ticks and grid."""
    axes.set_title(title, loc="left", color=INK, **{"fontsize": 11, **options})
    axes.tick_params(labelsize=10, color=FAINT, labelcolor=INK, labelbottom=True)
    axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
