"""Functions of two variables as pictures; the only module of the package that imports matplotlib."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fuzzylogic.record import evaluate_terms
from fuzzylogic.show import Puzzle
from sraven.core.ground.errors import ConfigurationError
from sraven.core.system.files import replacing

_GRID = 201


def save_picture(puzzle: Puzzle, path: Path, explain: bool = True) -> None:
    """Write the surface of a function of two variables, with the points shown, as a PNG.

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
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(surface, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=1, cmap="viridis")
    axes.contour(
        axis, axis, surface, levels=np.linspace(0.1, 0.9, 9), colors="white", linewidths=0.5, alpha=0.5
    )
    shown, query = puzzle.inputs[:-1], puzzle.inputs[-1]
    style: dict[str, Any] = {"vmin": 0, "vmax": 1, "cmap": "viridis", "edgecolors": "white"}
    axes.scatter(shown[:, 0], shown[:, 1], s=46, c=puzzle.targets[:-1], **style)
    axes.scatter(query[0], query[1], s=240, color="#ff4d5e", edgecolors="white", marker="*", zorder=3)
    axes.set(xlabel="x₁", ylabel="x₂", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"{puzzle.split} {puzzle.index:,}:  {puzzle.formula}", fontsize=11)
    axes.text(
        0.5,
        -0.16,
        f"★ query, value {puzzle.targets[-1]:.3f};  ○ points shown",
        ha="center",
        transform=axes.transAxes,
    )
    figure.colorbar(image, ax=axes, label="value", shrink=0.9)
    with replacing(Path(path)) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
