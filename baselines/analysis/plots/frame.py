"""What all figures of an analysis share: sizes, colours, marks, and how a picture becomes files.

Pictures are legible in print: as wide as a column of a paper or as its page, no text below 7 points, and
nothing told apart by colour alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from sraven.core.page.palette import follow_scheme, palette
from sraven.core.system.files import replacing
from sraven.views.plots import FAINT, INK, PAPER

COLUMN, PAGE = 3.35, 6.9
"""Widths of a column and of a page of a paper, in inches."""

SMALL, TEXT, TITLE = 7.0, 7.5, 8.5
"""Sizes of text, in points: of numbers and notes, of labels, of titles."""

MUTED = palette()["muted"].light
"""Of controls: grey that is dark enough for thin lines."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#8c6d31")
"""Of Okabe and Ito, and a brown: apart for all kinds of colour vision. As many as there are rules."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Shapes of points, so that they are apart without colour as well."""

_DASHED, _DASH_DOT, _DOTTED = (0, (5, 1.5)), (0, (4, 1.2, 1, 1.2)), (0, (1.2, 1))
STYLES: tuple[Any, ...] = ("-", _DASHED, _DASH_DOT, _DOTTED, "-", _DASHED, "-", "-")
"""Of lines, for the same."""

SEQUENTIAL = LinearSegmentedColormap.from_list(
    "sraven", ["#f7fafc", "#b9d7e8", "#4f9dc5", "#0b5c8f", "#08304f"]
)
"""From nothing to much; as dark in grey as in colour."""

DIVERGING = LinearSegmentedColormap.from_list(
    "sraven_diverging", ["#8a3c00", "#d98843", "#fbf7f2", "#4f9dc5", "#08406b"]
)
"""From −1 over 0 to 1."""

STYLE: Any = {
    "font.family": "sans-serif",
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
    "axes.unicode_minus": True,
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

_DPI = 300


@dataclass(frozen=True)
class Picture:
    """A figure to be drawn.

    Attributes:
        draw: draws it on an empty figure.
        width: in inches.
        height: in inches, without the title.
        title: above it all; none if empty.
    """

    draw: Callable[[Figure], None]
    width: float
    height: float
    title: str = ""


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
        for path, fixed in zip(files, ({"Date": None, "Creator": None}, {"Software": None}), strict=True):
            with replacing(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], dpi=_DPI, metadata=fixed)
                if path.suffix == ".svg":
                    temporary.write_text(follow_scheme(temporary.read_text("utf-8")), "utf-8")
    return files


def panels_of(figure: Figure, count: int, across: int, **options: Any) -> list[Axes]:
    """Return axes for so many panels in rows of at most ``across``; places that are left are empty."""
    rows = -(-count // across)
    axes = list(figure.subplots(rows, min(count, across), squeeze=False, **options).flat)
    for each in axes[count:]:
        each.set_visible(False)
    return axes[:count]


def lines_of(text: str, width: float, size: float = TEXT) -> list[str]:
    """Break a text into lines that are at most so wide.

    Args:
        text: may have lines already.
        width: in inches.
        size: of the letters, in points; on average one is 0.54 of it wide.
    """
    letters = max(8, int(width * 72 / (0.54 * size)))
    return [line for each in text.splitlines() for line in wrap(each, letters)]
