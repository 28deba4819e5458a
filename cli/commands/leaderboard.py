"""Print the leaderboard, or write it as a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import any_path, directory, leave_out, needs_extra, output_directory, output_file
from cli.shared.printing import json_option, print_json, print_outcome, print_rows, wants_json
from cli.shared.standing import find_standing
from sraven.core.escape import escape, figure

if TYPE_CHECKING:
    from sraven.board.board import Board
    from sraven.leaderboard.standing import Entry, Leaderboard, Standing


def _remarks(standing: "Standing") -> list[str]:
    """Return why entries aren't ranked, a line each, and what to know of those that are."""
    from sraven.leaderboard.standing import REFERENCE, REPORTED

    remarks = [
        f"{entry.id}: {'' if entry.rank else 'not ranked: '}{escape(entry.remark, 400)}"
        for entry in standing.entries
        if entry.remark and entry.badge != REPORTED and entry.family != REFERENCE
        if not entry.own
    ]
    own = [f"{escape(entry.id)}: {_fate(standing, entry)}" for entry in standing.entries if entry.own]
    return [*remarks, *own]


def _fate(standing: "Standing", entry: "Entry") -> str:
    """Return whether one's own submission would be ranked if it were filed, and where."""
    from sraven.leaderboard.columns import budget_text, place

    board = standing.board
    if entry.rank is None:
        why = escape(entry.remark, 400) or (
            "has no score" if board.is_ranked else f"{board.id} ranks nothing"
        )
        return f"yours, not filed; wouldn't be ranked: {why}"
    form = f"of form {entry.replies.form}, " if entry.replies else ""
    trained = budget_text(board, entry.budget)
    return f"yours, not filed; would have rank {place(entry)} among those {form}trained on {trained}"


def _bounds(board: "Board") -> str:
    """Return the ceiling of a board and the reference levels that lose something, to follow a title."""
    ceiling = board.ceiling(board.primary_split, board.metric)
    bounds = [f"ceiling {figure(ceiling.value)} ({ceiling.answers})"] if ceiling else []
    levels = board.reference_levels(board.primary_split)
    bounds += [f"{level.title} {figure(level.value)}" for level in levels if level.value < 1]
    return "".join(f"; {each}" for each in bounds)


def print_standing(standing: "Standing") -> None:
    """Print a board's table."""
    from sraven.leaderboard.columns import shown_columns

    title = f"{standing.board.id}: {standing.board.title}"
    if not standing.entries:
        click.echo(f"{title} (no entries yet)")
        return
    columns = shown_columns(standing)
    print_rows(
        columns,
        ([escape(cell(entry)) for cell in columns.values()] for entry in standing.entries),
        right=columns.keys() - {"method", "badge"},
        bold=[entry.own for entry in standing.entries],
        title=title + _bounds(standing.board),
        title_justify="left",
    )
    for line in _remarks(standing):
        click.echo(line)


def _read_links(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Return addresses by the texts that lead to them."""
    links = {text: address for text, _, address in (each.partition("=") for each in given)}
    if not all(links.values()):
        raise click.UsageError("--link is TEXT=ADDRESS, such as Documentation=../index.html")
    return links


@click.command(name="leaderboard")
@click.argument("board_id", metavar="[BOARD]", required=False)
@click.option(
    "--add",
    "added",
    metavar="DIR",
    type=any_path,
    multiple=True,
    help="Show a submission of your own among the others; may be given several times. It isn't filed.",
)
@click.option(
    "--html",
    type=output_directory,
    help="Directory to write the page to, and leaderboard.json beside it; needs the extra analysis.",
)
@click.option(
    "--link",
    "links",
    metavar="TEXT=ADDRESS",
    multiple=True,
    callback=_read_links,
    help="html: what the page's head leads to; may be given several times.",
)
@click.option(
    "--leaderboard",
    type=directory,
    help="A leaderboard's folder, to be scored anew: docs/leaderboard.  [default: the package's snapshot]",
)
@click.option(
    "--check-change",
    "base",
    metavar="BASE",
    help="Check that HEAD adds one submission to the commit BASE, and nothing else to the leaderboard.",
)
@click.option(
    "--checkout",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="The repository for --check-change.  [default: here]",
)
@click.option(
    "--snapshot",
    metavar="FILE",
    type=output_file,
    help="File to write the snapshot of the leaderboard to; for maintainers.",
)
@json_option
def command(
    board_id: str | None,
    added: tuple[Path, ...],
    html: Path | None,
    links: dict[str, str],
    leaderboard: Path | None,
    base: str | None,
    checkout: Path,
    snapshot: Path | None,
) -> None:
    """Print the leaderboard, of all boards or of one, or write its page.

    The page is one file, index.html: it needs no server and sends no requests. What is shown
    came with the package. With --leaderboard, ranks and numbers are recomputed from the predictions there,
    which takes seconds for each entry. An entry that can't be read is left out, named on standard error, and
    makes the exit code 1.

    With --add, your own submission stands where it would if it were filed, and below the table is what
    would keep it from being ranked. Without BOARD, only the boards of what you add are printed; --html and
    --json have them all.

    With --check-change, nothing is printed but whether a pull request may be merged as a submission. Any
    fault refuses it with one line and exit code 2; what has no say in ranks isn't looked at.

    \b
    Example:
      sraven leaderboard sraven-v1
      sraven leaderboard --add my-submission
      sraven leaderboard --check-change main
    """
    if base is not None:
        _check_change(base, checkout)
        return
    leave_out(["checkout"], "--checkout is for --check-change")
    if snapshot and leaderboard is None:
        raise click.UsageError("--snapshot needs --leaderboard, the folder of what is filed")
    if snapshot:
        leave_out(["board_id", "added", "html", "as_json"], "--snapshot writes all that is filed")
    if html:
        with needs_extra("--html", "analysis"):
            import sraven.leaderboard.page.page  # noqa: F401  # before anything is scored
    else:
        leave_out(["links"], "--link is for --html")
    from sraven.leaderboard.export import make_document
    from sraven.leaderboard.snapshot import write_snapshot

    found = find_standing(leaderboard, board_id, added)
    if snapshot:
        write_snapshot(snapshot, found)
        click.echo(snapshot)
    elif html:
        _write_page(html, found, links)
    elif wants_json():
        print_json(make_document(found))
    else:
        for standing in found.standings:
            if board_id or not added or any(entry.own for entry in standing.entries):
                print_standing(standing)
    _end(found)


def _end(found: "Leaderboard") -> None:
    """Name what was left out, which makes the exit code 1."""
    for fault in found.faults:
        click.echo(f"left out: {fault.place}: {fault.reason}", err=True)
    if found.faults:
        raise SystemExit(1)


def _write_page(html: Path, found: "Leaderboard", links: Mapping[str, str]) -> None:
    """Write the page and what it offers for download; print where it is."""
    from sraven.files.files import json_text, write_text
    from sraven.leaderboard.export import JSON, make_document
    from sraven.leaderboard.page.page import make_page

    path = html / "index.html"
    html.mkdir(parents=True, exist_ok=True)
    write_text(path, make_page(found.standings, found.faults, date=found.date, links=links))
    write_text(html / JSON, json_text(make_document(found)))
    print_outcome(value={"path": str(path)}, text=str(path))


def _check_change(base: str, checkout: Path) -> None:
    """Print which entry a change adds."""
    others = ["board_id", "added", "html", "links", "leaderboard", "snapshot"]
    leave_out(others, "--check-change looks at a change")
    from sraven.leaderboard.contribution.change import check_change

    found = check_change(base, checkout)
    if wants_json():
        print_json(found)
    elif found:
        click.echo(f"{found['folder']}: one new entry, and nothing else is touched")
    else:
        click.echo("nothing that decides ranks is changed")
