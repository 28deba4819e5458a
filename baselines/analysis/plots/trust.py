"""A model's probabilities against the exact posterior: reliability, open positions, excess loss."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from baselines.analysis.calibration import Bin, Calibration, Open
from baselines.analysis.plots.frame import COLUMN, MUTED, PAGE, Picture, name_rows, write_beside
from baselines.views.style import COLOURS, look_of
from sraven.core.estimate import Mean
from sraven.plots import INK, PAPER


def reliability_picture(found: Mapping[str, Calibration], title: str = "") -> Picture:
    """Return the picture of reliability: by bins of the exact posterior, and of the model's own probability.

    Args:
        found: by split, or by run.
        title: of the whole.
    """

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        for i, (name, each) in enumerate(found.items()):
            _draw_bins(left, each.by_posterior, "exact", "model", i, name)
            _draw_bins(right, each.by_model, "model", "exact", i, name)
        _frame(left, "exact probability, mean of a bin", "model's probability, mean")
        _frame(right, "model's probability, mean of a bin", "exact probability, mean")
        left.set_title("given the posterior")
        right.set_title("given what the model says")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)

    return Picture(draw, PAGE, 3.15, title)


def _draw_bins(axes: Axes, bins: Sequence[Bin], x: str, y: str, number: int, name: str) -> None:
    """Draw bins as points, larger where more symbols are in them; small ones are too noisy to be drawn."""
    some = [each for each in bins if each.count >= _LEAST]
    sizes = [6 + 5 * np.log10(each.count / _LEAST) for each in some]
    places, values = [getattr(each, x) for each in some], [getattr(each, y) for each in some]
    look = look_of(number)
    axes.plot(places, values, color=look["color"], linewidth=0.8, zorder=3)
    axes.scatter(places, values, s=sizes, zorder=4, label=name, edgecolor=PAPER, linewidth=0.4, **look)


_LEAST = 50
"""Symbols at positions that a bin has at least, if it is drawn."""


def _frame(axes: Axes, x: str, y: str) -> None:
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel=x, ylabel=y, aspect="equal")
    axes.grid()


def open_picture(found: Mapping[str, Open], title: str = "") -> Picture:
    """Return the picture of open positions: does a model match the posterior, or pick its maximum?

    Two rows for each: the posterior's, or the best, as an open mark, the model's as a filled one.

    Args:
        found: by split, or by run.
        title: of the whole.
    """
    names = list(found)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(_PAIRS), sharey=True)
        for axes, (quantity, (of_model, reference, meaning)) in zip(panels, _PAIRS.items(), strict=True):
            for i, name in enumerate(names):
                _draw_pair(axes, i, getattr(found[name], of_model), getattr(found[name], reference))
            axes.set(title=quantity, xlabel=meaning, xlim=(0, 1.04 * axes.get_xlim()[1]))
            name_rows(axes, [f"{name}\n{_exponent(found[name])}" for name in names])

    return Picture(draw, PAGE, 0.4 * len(names) + 0.85, title)


_PAIRS = {
    "entropy, nats": ("entropy_of_model", "entropy", "○ posterior   ● model"),
    "distance of the model": ("to_posterior", "to_maximum", "● to the posterior   ○ to its maximum"),
    "accuracy": ("accuracy", "best_accuracy", "○ best possible   ● model"),
}
"""What is compared on open positions: the model's field, what it is read against, and what the marks are."""


def _draw_pair(axes: Axes, row: int, model: Mean, reference: Mean) -> None:
    axes.plot([model.value, reference.value], [row, row], color=MUTED, linewidth=0.9, zorder=2)
    look: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "markersize": 5, "elinewidth": 0.9}
    for each, face in ((reference, PAPER), (model, COLOURS[0])):
        error = 1.96 * each.standard_error
        axes.errorbar(each.value, row, xerr=error, markerfacecolor=face, zorder=3, **look)


def _exponent(found: Open) -> str:
    return "" if found.exponent is None else f"exponent {found.exponent:.2g}"


def loss_picture(found: Mapping[str, Calibration], title: str = "") -> Picture:
    """Return the picture of losses: what the context leaves open, and what the model adds to it.

    Args:
        found: by split, or by run.
        title: of the whole.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for row, each in enumerate(found.values()):
            _draw_loss(axes, row, each)
        name_rows(axes, list(found))
        axes.set(xlabel="nats a position", xlim=(0, 1.42 * axes.get_xlim()[1]))
        axes.xaxis.set_major_locator(MaxNLocator(5))
        figure.legend(loc="outside lower left", ncols=1)

    return Picture(draw, COLUMN, 0.3 * len(found) + 1.2, title)


def _draw_loss(axes: Axes, row: int, found: Calibration) -> None:
    """Draw what a loss is made of, end to end, and the loss itself with its error across them."""
    floor, kl, loss = found.floor.value, found.kl.value, found.cross_entropy.value
    error = 1.96 * found.cross_entropy.standard_error
    names: Sequence[str | None] = (None, None, None)
    if row == 0:  # for the key
        names = "floor: exact entropy", "excess: KL(exact ‖ model)", "cross-entropy on targets"
    axes.barh(row, floor, height=0.55, color=MUTED, label=names[0])
    hatched: dict[str, Any] = {"color": COLOURS[4], "edgecolor": INK, "linewidth": 0.6, "hatch": "////"}
    axes.barh(row, kl, left=floor, height=0.55, label=names[1], **hatched)
    bar: dict[str, Any] = {"marker": "|", "markersize": 9, "markeredgewidth": 1.4, "linestyle": "none"}
    axes.errorbar(loss, row, xerr=error, color=INK, elinewidth=1, label=names[2], **bar)
    write_beside(axes, f"{floor:.4f} + {kl:.4f}", max(floor + kl, loss + error), row)
