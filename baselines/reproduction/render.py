"""Writing the pages of results, with their pictures; and telling which aren't what the records give."""

from collections.abc import Mapping
from pathlib import Path

from baselines.analysis.pages import PAGE, RECORDS, render_page
from baselines.reproduction.cells import Figures, ReadBoard, read_board_once
from baselines.reproduction.claims import CLAIMS, Claim
from baselines.reproduction.headline import NAME, headline
from baselines.reproduction.pages import is_drawn, pages_of, picture_name
from baselines.reproduction.sets import FIGURES
from baselines.reproduction.standing import Standing, standings_of
from sraven.core.system.files import write_text


def render(
    results: Path,
    *,
    figures: Figures = FIGURES,
    claims: Mapping[str, Claim] = CLAIMS,
    read: ReadBoard = read_board_once,
) -> list[Path]:
    """Write the pages and pictures that aren't what the records give; return their paths.

    Args:
        results: folder of results, with the records.
        figures: all of them.
        claims: the prose of each.
        read: returns a board, given its id.

    Raises:
        OutputError: if a record can't be read; then nothing is written.
    """
    from baselines.reproduction.plots import save_picture

    standings = standings_of(results, figures=figures, read=read)
    stale = stale_pages(standings, results, claims, read)
    drawn = stale_pictures(standings, results)
    for path, text in stale.items():
        write_text(path, text)
    for path, standing in drawn.items():
        save_picture(standing.figure, standing.summaries[0], path, read)
    return [*stale, *drawn]


def stale_pages(
    standings: list[Standing],
    results: Path,
    claims: Mapping[str, Claim] = CLAIMS,
    read: ReadBoard = read_board_once,
) -> dict[Path, str]:
    """Return the pages that aren't what the records give, and what they should say."""
    pages = dict(pages_of(standings, results, claims=claims, read=read))
    if drawing := headline(standings, read):
        pages[results / NAME] = drawing
    if (results / RECORDS).is_dir():
        pages[results / PAGE] = render_page(results)
    return {
        path: text for path, text in pages.items() if not path.is_file() or path.read_text("utf-8") != text
    }


def stale_pictures(standings: list[Standing], results: Path) -> dict[Path, Standing]:
    """Return the pictures that aren't what the records give, and the figures that they are of."""
    from baselines.reproduction.plots import drawn_digest, picture_digest

    found = {}
    for standing in filter(is_drawn, standings):
        path = results / picture_name(standing.figure)
        if drawn_digest(path) != picture_digest(standing.figure, standing.summaries[0]):
            found[path] = standing
    return found
