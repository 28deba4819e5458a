"""Instances as pictures; the only module of the package that imports matplotlib."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from sraven.palette import palette, save_figure
from sraven.show import ANSWERS_SHOWN, Puzzle, colour

_CELL = 0.6
INK, PAPER, FAINT = (palette()[name].light for name in ("text", "surface", "line"))
"""Colours of text, of the background and of lines, which all pictures share."""

_ON_LIGHT = "#101415"
"""Of text on a coloured area, which stays what it is where `follow_scheme` turns a picture dark."""


def _shade(value: int, total: int) -> tuple[float, ...]:
    return tuple(part / 255 for part in colour(value, total))


def draw_grid(axes: Axes, puzzle: Puzzle, *, by_feature: bool, reveal: bool) -> None:
    """Draw nine panels, each a row of symbols, coloured by symbol or by feature."""
    M = puzzle.panels.shape[1]
    width, height, rounded = M * _CELL + 0.5, 1.1, "round,pad=0,rounding_size=0.08"
    for panel in range(9):
        row, column = divmod(panel, 3)
        left, bottom = column * (width + 0.25), (2 - row) * (height + 0.25)
        axes.add_patch(FancyBboxPatch((left, bottom), width, height, rounded, fc=PAPER, ec=FAINT))
        for position in range(M):
            symbol = int(puzzle.panels[panel, position])
            hidden = panel == 8 and not reveal
            shade = puzzle.permutations[column, position] if by_feature else symbol
            face = "#f1f2f5" if hidden else _shade(int(shade), M if by_feature else puzzle.K)
            x, y = left + 0.25 + position * _CELL, bottom + (height - _CELL) / 2
            axes.add_patch(Rectangle((x + 0.04, y + 0.04), _CELL - 0.08, _CELL - 0.08, facecolor=face))
            text = "?" if hidden else str(symbol)
            axes.text(
                x + _CELL / 2, y + _CELL / 2, text, ha="center", va="center", color=_ON_LIGHT, fontsize=13
            )
    axes.set_xlim(-0.1, 3 * width + 0.6)
    axes.set_ylim(-0.1, 3 * height + 0.6)
    axes.set_aspect("equal")
    axes.axis("off")


def _explanation(puzzle: Puzzle) -> str:
    known = [puzzle.known_rules[rule] for rule in puzzle.rules]
    lines = [f"feature {f}: {rule.name:<17}  row: {rule.row}" for f, rule in enumerate(known)]
    answers = ",  ".join(" ".join(map(str, answer)) for answer in puzzle.answers[:ANSWERS_SHOWN])
    more = len(puzzle.answers) - ANSWERS_SHOWN
    answers += f"  and {more} more" if more > 0 else ""
    best = " ".join(map(str, puzzle.most_probable))
    lines += ["", f"valid answers ({len(puzzle.answers)}): {answers}"]
    return "\n".join([*lines, f"most probable: {best}  (probability {puzzle.probability:.3f})"])


def save_picture(puzzle: Puzzle, path: Path, explain: bool = False) -> None:
    """Write a puzzle as PNG, PDF, or SVG that is light or dark as its reader has it.

    Args:
        puzzle: what to show.
        path: the file to write, which ends in ``.png``, ``.pdf`` or ``.svg``.
        explain: also show the answer, coloured by feature, the rules and all valid answers.
    """
    M, n_grids = puzzle.panels.shape[1], 2 if explain else 1
    width = (3 * (M * _CELL + 0.5) + 0.7) * n_grids * 0.8
    text = _explanation(puzzle) if explain else ""
    text_height = 0.19 * (len(text.splitlines()) + 1) if explain else 0.0
    figure = Figure(figsize=(width, 4.1 * 0.8 + 0.4 + text_height), facecolor=PAPER)
    grids = figure.subplots(1, n_grids, squeeze=False, gridspec_kw={"wspace": 0.02})[0]
    total = figure.get_figheight()
    figure.subplots_adjust(left=0.01, right=0.99, top=1 - 0.4 / total, bottom=(text_height + 0.05) / total)
    titles = [f"{puzzle.split} {puzzle.index:,}", "answer, coloured by feature"]
    for number, axes in enumerate(grids):
        draw_grid(axes, puzzle, by_feature=number == 1, reveal=number == 1)
        axes.set_title(titles[number], color=INK, fontsize=12, loc="left")
    figure.text(
        0.02, (text_height - 0.05) / total, text, va="top", family="monospace", fontsize=10, color=INK
    )
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "sraven"}):
        save_figure(figure, path, path.suffix[1:])
