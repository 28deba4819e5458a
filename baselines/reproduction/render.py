"""Writing the pages of results, with their pictures; and telling which aren't what the records give."""

from pathlib import Path
from typing import TYPE_CHECKING

from baselines.analysis.pages import PAGE, RECORDS, render_page
from baselines.reproduction.cells import Figures, ReadBoard, read_board_once
from baselines.reproduction.pages import pages_of
from baselines.reproduction.sets import FIGURES
from baselines.reproduction.standing import FigureStanding, standings_of
from sraven.core.system.files import write_text

if TYPE_CHECKING:
    from baselines.reproduction.plots import ResultPicture


def render(results: Path, *, figures: Figures = FIGURES, read: ReadBoard = read_board_once) -> list[Path]:
    """Write the pages and pictures that aren't what the records give; return their paths.

    Args:
        results: folder of results, with the records.
        figures: all of them.
        read: returns a board, given its id.

    Raises:
        OutputError: if a record can't be read; then nothing is written.
    """
    from baselines.reproduction.plots import save_picture

    standings = standings_of(results, figures=figures, read=read)
    pages, pictures = stale_pages(standings, results, read), stale_pictures(standings, results, read)
    for path, text in pages.items():
        write_text(path, text)
    for path, picture in pictures.items():
        save_picture(picture, path)
    return [*pages, *pictures]


def stale_pages(
    standings: list[FigureStanding], results: Path, read: ReadBoard = read_board_once
) -> dict[Path, str]:
    """Return the pages that aren't what the records give, and what they should say."""
    pages = dict(pages_of(standings, results, read=read))
    if (results / RECORDS).is_dir():
        pages[results / PAGE] = render_page(results)
    return {
        path: text for path, text in pages.items() if not path.is_file() or path.read_text("utf-8") != text
    }


def stale_pictures(
    standings: list[FigureStanding], results: Path, read: ReadBoard = read_board_once
) -> "dict[Path, ResultPicture]":
    """Return the pictures that aren't what the records give."""
    from baselines.reproduction.plots import drawn_digest, pictures_of

    pictures = {results / name: picture for name, picture in pictures_of(standings, read).items()}
    return {path: each for path, each in pictures.items() if drawn_digest(path) != each.digest}
