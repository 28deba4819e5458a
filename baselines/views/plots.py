"""Learning curves as pictures; the only module of the package that imports matplotlib."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from baselines.views.curves import LOSS, Curves, Group, thin, view
from sraven.core.page.palette import follow_scheme
from sraven.core.system.files import replacing
from sraven.views.plots import FAINT, INK, PAPER

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", INK)
"""Of Okabe and Ito: apart for all kinds of colour vision; dark ones first, for print."""

STYLES = ("-", "--", "-.", (0, (1, 1)))
"""Of lines, so that they are apart without colour as well."""

_POINTS = 150
"""Of a curve at most: more are noise at this size."""

_PANEL = (3.5, 2.55)
"""Width and height of one quantity, in inches."""

_LEGEND = 100
"""Characters of a line of the legend."""

_BOUNDS = {"ceiling": (0, (4, 2)), "chance": (0, (1, 2))}
_LOWER_LINE = (0, (4, 2, 1, 2))


def _draw_group(axes: Axes, group: Group, quantity: str, number: int) -> Any:
    """Draw the curve of a configuration and the band of its error; return the line."""
    curve = thin(group.curves[quantity], _POINTS)
    colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
    (line,) = axes.plot(curve.steps, curve.mean, color=colour, linestyle=style, linewidth=1.3, zorder=3)
    if len(curve.by_seed) > 1:
        low, high = curve.mean - curve.error, curve.mean + curve.error
        axes.fill_between(curve.steps, low, high, color=colour, alpha=0.18, linewidth=0, zorder=2)
    return line


def _draw_bounds(axes: Axes, curves: Curves, quantity: str) -> None:
    """Draw ceiling, baselines and chance as lines with their names."""
    for name, value in curves.bounds(quantity).named.items():
        axes.axhline(value, color=INK, linewidth=0.8, linestyle=_BOUNDS.get(name, _LOWER_LINE), zorder=1)
        axes.annotate(
            f"{name} {value:.3g}",
            (1, value),
            (-2, -2 if name == "chance" else 2),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="top" if name == "chance" else "bottom",
            fontsize=7,
            color=INK,
        )


def _frame(axes: Axes, curves: Curves, quantity: str) -> None:
    """Set title, scales and grid."""
    low, high = view(curves, quantity)
    if quantity == LOSS and low > 0:
        axes.set_yscale("log")
    else:
        margin = 0.09 * (high - low or 1.0)
        axes.set_ylim(low - margin, high + margin)
    axes.set_title(curves.title(quantity), loc="left", fontsize=9, color=INK)
    axes.set_xlim(left=0)
    axes.set_xlabel("steps", fontsize=8, color=INK)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.tick_params(which="both", labelsize=8, color=FAINT, labelcolor=INK)
    axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


def _add_legend(figure: Figure, lines: Mapping[str, Any]) -> None:
    """Name the configurations below all panels, in as many columns as there is room for."""
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="outside lower center",
        ncols=max(1, min(3, _LEGEND // (max(map(len, lines)) + 8))),
        fontsize=8,
        frameon=False,
        labelcolor=INK,
    )


def save_curves(curves: Curves, path: Path, file_format: str) -> None:
    """Write learning curves as a picture, a panel for each quantity.

    Args:
        curves: what to draw.
        path: the file to write.
        file_format: ``png`` or ``svg``.
    """
    quantities = curves.quantities
    across = len(quantities) if len(quantities) < 4 else 2 if len(quantities) == 4 else 3
    down = -(-len(quantities) // across)
    figure = Figure(
        figsize=(_PANEL[0] * max(across, 1.5), _PANEL[1] * down + 0.5), facecolor=PAPER, layout="constrained"
    )
    panels = figure.subplots(down, across, squeeze=False).ravel()
    lines: dict[str, Any] = {}
    for axes, quantity in zip(panels, quantities, strict=False):
        for number, group in enumerate(curves.groups):
            if quantity in group.curves:
                lines[group.title] = _draw_group(axes, group, quantity, number)
        _draw_bounds(axes, curves, quantity)
        _frame(axes, curves, quantity)
    for axes in panels[len(quantities) :]:
        axes.set_visible(False)
    several = any(len(group.folders) > 1 for group in curves.groups)
    band = ": mean, and one standard error either way" if several else ""
    figure.suptitle(f"{curves.board.id}{band}", x=0.01, ha="left", fontsize=10, color=INK)
    _add_legend(figure, lines)
    fixed = {"Date": None} if file_format == "svg" else None
    with replacing(Path(path)) as temporary, rc_context({"svg.hashsalt": curves.board.id}):
        figure.savefig(temporary, dpi=150, format=file_format, metadata=fixed)  # the same bytes again
        if file_format == "svg":
            temporary.write_text(follow_scheme(temporary.read_text("utf-8")), "utf-8")
