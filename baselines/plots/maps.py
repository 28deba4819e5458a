"""Matrices: cosines of mean codes (figures 5E, A8B, A8C), single codes (A8A)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from baselines.plots.frame import COLUMN, DIVERGING, MUTED, PAGE, Picture
from baselines.plots.style import SMALL, panels_of
from sraven.plots import INK

Matrices = Mapping[str, ArrayLike]
"""By title, such as ``centred``: float ``[n, n]``; NaN where there is no number, which is left empty."""


def similarity_picture(matrices: Matrices, names: Sequence[str], title: str = "") -> Picture:
    """Return the picture of cosines between mean codes, side by side.

    Args:
        matrices: raw and centred, say: ``[n, n]`` each, from −1 to 1.
        names: of the n rules, or terms.
        title: of the whole.
    """
    across = min(2, len(matrices))
    down = -(-len(matrices) // across)

    def draw(figure: Figure) -> None:
        # Names that stand aslant reach beyond what the layout sets aside for them.
        figure.set_layout_engine("constrained", h_pad=0.09)
        panels = panels_of(figure, len(matrices), across, sharey=True)
        for axes, matrix in zip(panels, matrices.items(), strict=True):
            _draw_matrix(axes, *matrix, names)
        bar = figure.colorbar(panels[0].images[0], ax=panels, shrink=0.5, aspect=22, pad=0.015)
        _name_scale(bar, "cosine")

    cell = 0.29 if across == 2 else 0.272
    return Picture(draw, PAGE if across == 2 else COLUMN, down * (cell * len(names) + 0.95), title)


def _name_scale(bar: Colorbar, quantity: str) -> None:
    bar.outline.set_visible(False)
    bar.set_label(quantity, fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL, length=2)


def _draw_matrix(axes: Axes, title: str, matrix: ArrayLike, names: Sequence[str]) -> None:
    axes.imshow(np.asarray(matrix, float), cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest")
    axes.set_title(title)
    axes.set_xticks(range(len(names)), list(names), rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), list(names))
    axes.tick_params(length=0, labelsize=SMALL)
    axes.spines[:].set_visible(False)


def codes_picture(
    codes: NDArray[Any],
    participation: Sequence[float],
    labels: Sequence[str],
    title: str = "",
    note: str = "",
) -> Picture:
    """Return the picture of single codes (figure A8A): a row each, and how many heads take part in it.

    Args:
        codes: float ``[n, H]``; some tens of them, in the order in which they are to be shown.
        participation: float ``[n]``: (Σ|a|)² / (H Σ a²), from 1 / H for a single head to 1 for all alike.
        labels: ``[n]``, such as rules; equal ones that follow one another are named once.
        title: of the whole.
        note: below, such as the mean participation ratio of all codes.
    """
    array = np.asarray(codes, float)
    n, H = array.shape
    largest = np.abs(array).max() or 1.0

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": [3, 1]})
        scale = {"cmap": DIVERGING, "vmin": -largest, "vmax": largest}
        shown = left.imshow(array, aspect="auto", interpolation="nearest", **scale)
        some = range(0, H, 1 if H <= 8 else 4)
        left.set_xticks(some, [str(h + 1) for h in some])
        left.set_xlabel("head")
        left.tick_params(length=0)
        left.spines[:].set_visible(False)
        _name_runs(left, labels, n)
        bar = figure.colorbar(shown, ax=left, location="bottom", aspect=30, pad=0.02)
        _name_scale(bar, "attention score")
        right.barh(range(n), participation, height=0.75, color=MUTED)
        right.axvline(1 / H, color=INK, linewidth=0.8, linestyle=(0, (1, 1.2)))
        right.set_xticks([1 / H, 1], [f"1/{H}", "1"])
        right.set(xlabel="participation\nratio", xlim=(0, 1))
        right.tick_params(axis="y", length=0)
        right.spines["left"].set_visible(False)
        if note:
            figure.supxlabel(note, x=0.03 / COLUMN, ha="left", fontsize=SMALL)

    return Picture(draw, COLUMN, 0.055 * n + 1.25 + 0.15 * bool(note), title)


def _name_runs(axes: Axes, labels: Sequence[str], n: int) -> None:
    """Name rows that follow one another by their common label, and draw lines between them."""
    starts = [i for i in range(n) if i == 0 or labels[i] != labels[i - 1]]
    ends = [*starts[1:], n]
    axes.set_yticks([(a + b - 1) / 2 for a, b in zip(starts, ends, strict=True)], [labels[a] for a in starts])
    for start in starts[1:]:
        axes.axhline(start - 0.5, color=INK, linewidth=0.6)
