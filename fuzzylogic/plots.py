"""Functions of two variables as pictures; the only module of the package that imports matplotlib."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fuzzylogic.record import evaluate_terms
from fuzzylogic.show import Puzzle
from sraven.core.errors import ConfigurationError
from sraven.core.palette import palette, save_figure

Array = NDArray[np.float32]

_GRID = 201

_LIGHT = "#fefefe"  # on the surface, in a dark scheme as well


def save_picture(puzzle: Puzzle, path: Path, explain: bool = True) -> None:
    """Write the surface of a function of two variables, with the points shown: SVG if the name ends so,
    else PNG.

    Args:
        puzzle: what to draw.
        path: of the picture.
        explain: not asked: a surface shows the function in any case.

    Raises:
        ConfigurationError: unless the function has two variables.
    """
    L = puzzle.inputs.shape[1]
    if L != 2:
        raise ConfigurationError(f"L={L}: a picture needs two variables; use --L 2")
    axis = np.linspace(0, 1, _GRID, dtype=np.float32)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(1, -1, 2)
    surface = evaluate_terms(grid, puzzle.terms[None]).reshape(_GRID, _GRID)
    with rc_context(_style()):
        figure = Figure(figsize=(5.0, 4.6), layout="constrained", facecolor=palette()["surface"].light)
        _draw(figure, puzzle, axis, surface)
        file_format = "svg" if Path(path).suffix == ".svg" else "png"
        save_figure(figure, Path(path), file_format, 200)


def _style() -> Any:
    """Return matplotlib's settings: text and lines in the project's colours."""
    text = palette()["text"].light
    named = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {**dict.fromkeys(named, text), "svg.fonttype": "none", "svg.hashsalt": "sraven"}


def _draw(figure: Figure, puzzle: Puzzle, axis: Array, surface: Array) -> None:
    """Draw the surface, the points shown and the query."""
    axes = figure.subplots()
    image = axes.imshow(surface, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=1, cmap="viridis")
    axes.contour(
        axis, axis, surface, levels=np.linspace(0.1, 0.9, 9), colors=_LIGHT, linewidths=0.5, alpha=0.5
    )
    shown, query = puzzle.inputs[:-1], puzzle.inputs[-1]
    style: dict[str, Any] = {"vmin": 0, "vmax": 1, "cmap": "viridis", "edgecolors": _LIGHT}
    axes.scatter(shown[:, 0], shown[:, 1], s=46, c=puzzle.targets[:-1], **style)
    axes.scatter(query[0], query[1], s=240, color="#ff4d5e", edgecolors=_LIGHT, marker="*", zorder=3)
    axes.set(ylabel="x₂", xlim=(0, 1), ylim=(0, 1))
    axes.set_xlabel(f"x₁\n★ query, value {puzzle.targets[-1]:.3f};  ○ points shown")
    axes.set_title(f"{puzzle.split} {puzzle.index:,}:  {puzzle.formula}", fontsize=11)
    figure.colorbar(image, ax=axes, label="value", shrink=0.9).outline.set_visible(False)
