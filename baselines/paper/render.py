"""Pages of results and their pictures: written where they aren't what the records give."""

from collections.abc import Collection
from pathlib import Path

from baselines.model.names import look_up
from baselines.paper.cells import Figures
from baselines.paper.figures import FIGURES
from baselines.paper.pages import pages_of
from baselines.paper.plots import ResultPicture, drawn_digest, pictures_of, save_picture
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
    standings = [
        each for each in standings_of(results, figures=figures) if not names or each.figure.name in names
    ]
    own = {results / f"{name}.{end}" for name in names for end in ("md", "svg")}
    pages, pictures = stale_pages(standings, results), stale_pictures(standings, results)
    written = [path for path in (*pages, *pictures) if not own or path in own]
    for path in written:
        if path in pages:
            write_text(path, pages[path])
        else:
            save_picture(pictures[path], path)
    return written


def stale_pages(standings: list[FigureStanding], results: Path) -> dict[Path, str]:
    """Return the pages that aren't what the records give, and what they should say."""
    pages = pages_of(standings, results).items()
    return {at: text for at, text in pages if not at.is_file() or at.read_text("utf-8") != text}


def stale_pictures(standings: list[FigureStanding], results: Path) -> dict[Path, ResultPicture]:
    """Return the pictures that aren't what the records give."""
    pictures = {results / name: picture for name, picture in pictures_of(standings).items()}
    return {path: each for path, each in pictures.items() if drawn_digest(path) != each.digest}
