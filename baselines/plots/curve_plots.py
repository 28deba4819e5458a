"""Learning curves as pictures."""

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, ScalarFormatter

from baselines.plots.curves import LOSS, Curves, Group, thin, view
from baselines.plots.style import COLOURS, SMALL, STYLE, STYLES, panels_of
from sraven.palette import save_figure
from sraven.plots import INK, PAPER

_POINTS = 150
"""Of a curve at most: more are noise at this size."""

_POINTS_COMPARED = 25
"""Of a curve over scores, which go up and down by chance from one to the next."""

_PANEL = (3.5, 2.55)
"""Width and height of one quantity, in inches."""

_LEGEND = 100
"""Characters of a line of the legend."""

_BOUNDS = {"ceiling": (0, (4, 2)), "chance": (0, (1, 2))}
_REFERENCE_LEVEL = (0, (4, 2, 1, 2))


def _plain(text: str) -> str:
    """Return a text in which no dollar begins a formula."""
    return text.replace("$", r"\$")


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
    """Draw ceiling, reference levels and chance as lines with their names."""
    for name, value in curves.bounds(quantity).named.items():
        axes.axhline(value, color=INK, linewidth=0.8, linestyle=_BOUNDS.get(name, _REFERENCE_LEVEL), zorder=1)
        side: dict[str, Any] = {"xytext": (-2, 2), "va": "bottom"}
        if name == "chance":
            side = {"xytext": (-2, -2), "va": "top"}
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes.annotate(f"{name} {value:.3g}", (1, value), ha="right", fontsize=SMALL, **place, **side)


def _frame(axes: Axes, curves: Curves, quantity: str) -> None:
    """Set title, scales and grid."""
    low, high = view(curves, quantity)
    if quantity == LOSS and low > 0:
        axes.set_yscale("log")
    else:
        margin = 0.09 * (high - low or 1.0)
        axes.set_ylim(low - margin, high + margin)
    axes.set_title(_plain(curves.title(quantity)))
    axes.set_xlim(left=0)
    axes.set_xlabel("steps")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid()


def _draw_compared(axes: Axes, curves: Curves, known: str, held_out: str) -> None:
    """Draw scores on held-out combinations over those on known ones at the same step."""
    for number, group in enumerate(curves.groups):
        if {known, held_out} <= group.curves.keys():
            x, y = (thin(group.curves[split], _POINTS_COMPARED).mean for split in (known, held_out))
            colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
            axes.plot(x, y, color=colour, linestyle=style, linewidth=1.3, zorder=3)
            axes.plot(x[-1:], y[-1:], "o", color=colour, markersize=4, zorder=4)
    _frame(axes, curves, held_out)
    axes.axline((0, 0), slope=1, color=INK, linewidth=0.8, linestyle=_REFERENCE_LEVEL, zorder=1)
    axes.set_title(_plain(f"{curves.title(held_out)}, by that on {known}"))
    axes.set_xlim(axes.get_ylim())
    axes.set_xlabel(_plain(f"{curves.title(known)}; on the line, all is kept"))
    axes.xaxis.set_major_formatter(ScalarFormatter())


def _draw(figure: Figure, curves: Curves, across: int) -> None:
    """Draw a panel for each quantity, one of two splits, and below them the names of the configurations."""
    *panels, last = panels_of(figure, len(curves.quantities) + bool(curves.compared), across)
    if curves.compared:
        _draw_compared(last, curves, *curves.compared)
    else:
        panels.append(last)
    lines: dict[str, Any] = {}
    for axes, quantity in zip(panels, curves.quantities, strict=True):
        for number, group in enumerate(curves.groups):
            if quantity in group.curves:
                lines[_plain(group.title)] = _draw_group(axes, group, quantity, number)
        _draw_bounds(axes, curves, quantity)
        _frame(axes, curves, quantity)
    several = any(len(group.folders) > 1 for group in curves.groups)
    band = ": mean, and one standard error either way" if several else ""
    figure.suptitle(f"{curves.heading}{band}", x=0.01, ha="left")
    columns = max(1, min(3, _LEGEND // (max(map(len, lines)) + 8)))
    figure.legend(list(lines.values()), list(lines), loc="outside lower center", ncols=columns)


def save_curves(curves: Curves, path: Path, file_format: str) -> None:
    """Write learning curves as a picture, a panel for each quantity, and one of held-out by known scores.

    Args:
        curves: what to draw.
        path: the file to write.
        file_format: ``png``, ``pdf`` or ``svg``.
    """
    count = len(curves.quantities) + bool(curves.compared)
    across = count if count < 4 else 2 if count == 4 else 3
    size = _PANEL[0] * max(across, 1.5), _PANEL[1] * -(-count // across) + 0.5
    with rc_context(STYLE):
        figure = Figure(figsize=size, facecolor=PAPER, layout="constrained")
        _draw(figure, curves, across)
        save_figure(figure, Path(path), file_format)
