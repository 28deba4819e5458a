"""The leaderboard's page: one file of HTML that needs no server, no build and no other host."""

from collections.abc import Sequence
from pathlib import Path

from sraven.core.leaderboard.filed import Fault
from sraven.core.leaderboard.standing import Entry, Standing
from sraven.core.page.attention import family_of
from sraven.core.page.groups import budget_key
from sraven.core.page.legible import legible
from sraven.core.page.marks import draw_mark, draw_project, find_legend
from sraven.core.page.render import Asset, render
from sraven.core.page.sections import make_section
from sraven.core.page.words import (
    BADGES,
    compact,
    kind,
    metric_name,
    passes,
    score,
    score_and_error,
    shortened,
)
from sraven.core.system.files import write_text

PAGE = "index.html"
"""Name of the page's file."""

HELPERS = (
    budget_key,
    compact,
    draw_mark,
    family_of,
    kind,
    metric_name,
    passes,
    score,
    score_and_error,
    shortened,
)
"""Functions that the templates call by their names."""


def _budgets(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return the budgets that entries can be filtered by: key, and what to read."""
    found = {budget_key(entry): entry.budget for entry in entries}
    ordered = sorted(found.items(), key=lambda item: (item[1] is None, item[1] or 0))
    words = {None: "none", 0: "no training"}
    return [(key, words.get(most, f"up to {compact(most or 0)}")) for key, most in ordered]


def make_page(standings: Sequence[Standing], faults: Sequence[Fault] = ()) -> str:
    """Return the page of some boards, ranked ones first, as HTML.

    What submitters wrote (names, descriptions, addresses) is text in it, and never markup. Entries that are
    the reader's own stand out.
    """
    found = [legible(standing) for standing in standings]
    entries = [entry for standing in found for entry in standing.entries]
    return render(
        "page.html.jinja",
        style=Asset("palette.css", "frame.css", "page.css", "drawings.css", "table.css"),
        script=Asset("page.js"),
        mark=draw_project(),
        legend=find_legend(entries),
        badges=BADGES,
        badge_filters=[badge for badge in BADGES if any(entry.badge == badge for entry in entries)],
        budget_filters=_budgets(entries),
        ranked=[make_section(standing) for standing in found if standing.board.is_ranked],
        diagnostic=[make_section(standing) for standing in found if not standing.board.is_ranked],
        faults=faults,
        **{helper.__name__: helper for helper in HELPERS},
    )


def write_page(html_dir: Path, standings: Sequence[Standing], faults: Sequence[Fault] = ()) -> Path:
    """Write the page of some boards as ``index.html``, whole or not at all.

    Args:
        html_dir: a directory; made if it doesn't exist.
        standings: from `sraven.core.leaderboard.ranking.read_leaderboard`.
        faults: what was left out, from there too.

    Returns:
        The path of the file.
    """
    html_dir.mkdir(parents=True, exist_ok=True)
    path = html_dir / PAGE
    write_text(path, make_page(standings, faults))
    return path
