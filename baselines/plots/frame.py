"""What all figures of an analysis share: widths, scales of colour, and how a picture becomes files.

Pictures are legible in print: as wide as a column of a paper or as its page, no text below 7 points, and
nothing distinguished by colour alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from matplotlib import rc_context
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from baselines.plots.style import STYLE, TEXT, TITLE
from sraven.palette import palette, save_figure
from sraven.plots import PAPER

COLUMN, PAGE = 3.35, 6.9
"""Widths of a column and of a page of a paper, in inches."""

MUTED = palette()["muted"].light
"""Of controls: grey that is dark enough for thin lines."""

SEQUENTIAL = LinearSegmentedColormap.from_list(
    "sraven", ["#f7fafc", "#b9d7e8", "#4f9dc5", "#0b5c8f", "#08304f"]
)
"""From nothing to much; as dark in grey as in colour."""

DIVERGING = LinearSegmentedColormap.from_list(
    "sraven_diverging", ["#8a3c00", "#d98843", "#fbf7f2", "#4f9dc5", "#08406b"]
)
"""From −1 over 0 to 1."""

_DPI, _COARSE_DPI = 300, 200


@dataclass(frozen=True)
class Picture:
    """A figure to be drawn.

    Attributes:
        draw: draws it on an empty figure.
        width: in inches.
        height: in inches, without the title.
        title: above it all; none if empty.
        coarse: whether its thousands of points are pixels in an SVG.
    """

    draw: Callable[[Figure], None]
    width: float
    height: float
    title: str = ""
    coarse: bool = False


def figure_of(picture: Picture) -> Figure:
    """Return a picture as Matplotlib's figure, drawn with the settings that are in force."""
    size = picture.width, picture.height + 0.25 * bool(picture.title)
    figure = Figure(figsize=size, facecolor=PAPER, layout="constrained")
    if picture.title:
        figure.suptitle(picture.title, x=0.03 / picture.width, ha="left", fontsize=TITLE)
    picture.draw(figure)
    return figure


def save_picture(picture: Picture, stem: Path) -> tuple[Path, Path]:
    """Write a picture as SVG, light or dark as its reader has it, and as PNG of 300 dots an inch.

    The same picture has the same bytes.

    Args:
        picture: what to draw.
        stem: the files to write, without their ending.

    Returns:
        the two files.
    """
    files = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    with rc_context(STYLE):
        figure = figure_of(picture)
        for path in files:
            coarse = path.suffix == ".svg" and picture.coarse
            save_figure(figure, path, path.suffix[1:], _COARSE_DPI if coarse else _DPI)
    return files


def lines_of(text: str, width: float, size: float = TEXT) -> list[str]:
    """Break a text into lines that are at most so wide.

    Args:
        text: may have lines already.
        width: in inches.
        size: of the letters, in points; on average one is 0.54 of it wide.
    """
    letters = max(8, int(width * 72 / (0.54 * size)))
    return [line for each in text.splitlines() for line in wrap(each, letters)]
