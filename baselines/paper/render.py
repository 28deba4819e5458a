"""Pages of results and their pictures: written where they aren't what the records give."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from baselines.model.names import look_up
from baselines.paper.cells import Figures
from baselines.paper.figures import FIGURES
from baselines.paper.pages import pages_of
from baselines.paper.plots import drawn_digest, pictures_of, save_picture
from baselines.paper.results import FigureStanding, standings_of
from sraven.files.files import write_text


def render(results: Path, names: Collection[str] = (), *, figures: Figures = FIGURES) -> list[Path]:
    """Write the pages and pictures that aren't what the records give; return their paths.

    Args:
        results: folder of results, with the records.
        names: of the figures whose pages and pictures are written alone; none for all, and what they share.
        figures: all of them.

    Raises:
        ConfigurationError: for an unknown name.
        OutputError: if a record can't be read; then nothing is written.
    """
    for name in names:
        look_up("figure", name, figures)
    standings = standings_of(results, figures=figures)
    found = stale([each for each in standings if not names or each.figure.name in names], results)
    written = [path for path in found if not names or path.stem in names]
    for path in written:
        found[path]()
    return written


def stale(standings: list[FigureStanding], results: Path) -> dict[Path, Callable[[], None]]:
    """Return what writes each page and each picture that isn't what the records give, by its path."""
    pages = {
        path: partial(write_text, path, text)
        for path, text in pages_of(standings, results).items()
        if not path.is_file() or path.read_text("utf-8") != text
    }
    pictures = {
        path: partial(save_picture, picture, path)
        for path, picture in pictures_of(standings, results).items()
        if drawn_digest(path) != picture.digest
    }
    return {**pages, **pictures}
