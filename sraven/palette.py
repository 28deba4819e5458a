"""The project's colours, read from the style sheet that the page and the documentation share; pictures that
follow the reader's light or dark scheme.
"""

import re
import warnings
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from sraven.files.files import replacing

_COLOUR = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")


class Colour(NamedTuple):
    """A colour on a light ground and on a dark one, as ``#rrggbb``."""

    light: str
    dark: str


@cache
def palette() -> Mapping[str, Colour]:
    """Return the colours by name, such as ``text``, ``surface``, ``accent`` and ``hyla``."""
    sheet = (files(__package__) / "assets" / "palette.css").read_text(encoding="utf-8")
    return {name: Colour(*both) for name, *both in _COLOUR.findall(sheet)}


def follow_scheme(svg: str) -> str:
    """Return an SVG file that was drawn in the light colours, such that it turns dark with its reader.

    Only what is drawn in a colour of the palette changes. Where there are no schemes, as on paper, the light
    colours stay.
    """
    rules = "".join(
        f'[style*="{part}: {colour.light}"]{{{part}:{colour.dark} !important}}'
        for colour in palette().values()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    return re.sub(r"<svg\b[^>]*>", lambda opening: f"{opening[0]}{style}", svg, count=1)


def save_figure(figure: Any, path: Path, file_format: str, dpi: float = 150, **metadata: str) -> None:
    """Write a figure as PNG, PDF, or SVG that is light or dark as its reader has it; byte-identical again.

    Args:
        figure: Matplotlib's.
        path: the file to write.
        file_format: ``png``, ``pdf`` or ``svg``.
        dpi: dots an inch.
        **metadata: what the file says of itself, by Matplotlib's names.
    """
    names = {"svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer"), "png": ("Software",)}
    unset = dict.fromkeys(names[file_format])
    with replacing(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a letter that the font lacks is a box
        figure.savefig(temporary, dpi=dpi, format=file_format, metadata={**unset, **metadata})
        if file_format == "svg":
            temporary.write_text(follow_scheme(temporary.read_text("utf-8")), "utf-8")
