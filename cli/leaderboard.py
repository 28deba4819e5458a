"""`sraven leaderboard`"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import json_option, print_json, print_table
from cli.submit import leaderboard_option

if TYPE_CHECKING:
    from sraven.core.leaderboard.evidence import Evidence
    from sraven.core.leaderboard.ranking import Entry, Leaderboard, Standing


@click.command(name="leaderboard")
@click.argument("board_id", metavar="[BOARD]", required=False)
@click.option(
    "--html", type=click.Path(path_type=Path, file_okay=False), help="Directory to write the page to."
)
@click.option("--fresh", is_flag=True, help="Score all entries anew, whatever earlier runs have kept.")
@leaderboard_option
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
@json_option
def command(
    board_id: str | None,
    html: Path | None,
    fresh: bool,
    leaderboard: Path,
    base: str | None,
    checkout: Path,
    as_json: bool,
) -> None:
    """Print the standing, of all boards or of one, or write its page.

    The page is one file, index.html: it needs no server and asks no other host for anything. Ranks and
    numbers are recomputed from the predictions, which takes seconds for each entry; what was computed is
    kept for the next time. An entry that can't be read is left out, named on standard error, and makes the
    exit code 1.

    With --check-change, nothing is printed but whether a pull request may be merged as a submission. Any
    fault refuses it with one line and exit code 2; what isn't the leaderboard's isn't looked at.

    \b
    Example:
      sraven leaderboard sraven-v1
      sraven leaderboard --check-change main
    """
    if base is not None:
        if board_id or html:
            raise click.UsageError("--check-change takes neither a board nor --html; leave them out")
        _check_change(base, checkout, as_json)
        return
    from sraven.core.leaderboard.ranking import read_leaderboard

    if not leaderboard.is_dir():
        raise click.UsageError(
            f"there is no {leaderboard}; run this in a checkout, or name it with --leaderboard"
        )
    with _told(fresh) as gather:
        found = read_leaderboard(leaderboard, board_id, gather=gather)
    if html:
        from sraven.core.page.page import write_page

        click.echo(write_page(html, found.standings, found.faults))
    elif as_json:
        print_json(_as_json(found))
    else:
        for standing in found.standings:
            _print(standing)
    for fault in found.faults:
        click.echo(f"left out: {fault.place}: {fault.reason}", err=True)
    if found.faults:
        raise SystemExit(1)


@contextmanager
def _told(fresh: bool) -> "Iterator[Callable[[Path], Evidence]]":
    """Yield what gathers the evidence of an entry; a terminal is shown which one it is at."""
    from rich.console import Console

    from sraven.core.ground.echo import shown
    from sraven.core.leaderboard.evidence import gather_evidence

    console = Console(stderr=True)
    with console.status("reading") as status:

        def gather(folder: Path) -> "Evidence":
            status.update(f"scoring {shown(folder.name)}")
            return gather_evidence(folder, fresh=fresh)

        yield gather


def _as_json(found: "Leaderboard") -> dict[str, Any]:
    """Return the standing as JSON values."""
    boards = [
        {
            "board": standing.board.id,
            "digest": standing.board.digest,
            "note": standing.note,
            "entries": [asdict(entry) for entry in standing.entries],
        }
        for standing in found.standings
    ]
    return {"boards": boards, "left_out": [asdict(fault) for fault in found.faults]}


def _remarks(standing: "Standing") -> list[str]:
    """Return why entries aren't ranked, a line each, and what to know of those that are."""
    from sraven.core.ground.echo import shown
    from sraven.core.leaderboard.eligibility import REFERENCE
    from sraven.core.leaderboard.ranking import REPORTED

    told = [
        f"{entry.id}: {'' if entry.rank else 'not ranked: '}{shown(entry.remark, 400)}"
        for entry in standing.entries
        if entry.remark not in ("", standing.note) and entry.badge != REPORTED and entry.family != REFERENCE
    ]
    return [standing.note, *told] if standing.note else told


def _check_change(base: str, checkout: Path, as_json: bool) -> None:
    """Print which entry a change adds."""
    from sraven.core.contribution.change import LEADERBOARD, check_change

    found = check_change(base, checkout)
    if as_json:
        print_json(found)
    elif found:
        click.echo(f"{found['folder']}: one new entry, and nothing else is touched")
    else:
        click.echo(f"nothing below {LEADERBOARD} is changed")


def _print(standing: "Standing") -> None:
    """Print a board's table."""
    from rich.table import Table
    from rich.text import Text

    from sraven.core.ground.echo import figure, shown, with_error
    from sraven.core.leaderboard.ranking import ceiling
    from sraven.core.page.groups import look_notes

    board, best = standing.board, ceiling(standing.board)
    title = f"{board.id}: {board.title}"
    if not standing.entries:
        click.echo(f"{title} (no entries yet)" + (f"; {standing.note}" if standing.note else ""))
        return
    title += f" (ceiling {best:.4f})" if best is not None else ""
    trained = "trained on" if board.budget_unit == "instances" else board.budget_unit
    cells: dict[str, Callable[[Entry], str | Text]] = {
        "rank": lambda entry: str(entry.rank or ""),
        "method": lambda entry: Text(shown(entry.method)),  # a stranger's: no markup
        "badge": lambda entry: entry.badge,
        f"{board.primary_split} {board.metric}": lambda entry: (
            "–" if entry.value is None else with_error(entry.value, entry.standard_error)
        ),
        "gap": lambda entry: "" if entry.gap is None else figure(entry.gap),
        "parameters": lambda entry: "" if entry.parameters is None else f"{entry.parameters:,}",
        trained: lambda entry: f"{entry.train_instances:,}" if entry.train_instances else "",
    }
    if best is None:
        del cells["gap"]
    table = Table(title=title, title_justify="left")
    for heading in cells:
        table.add_column(heading, justify="left" if heading in ("method", "badge") else "right")
    for entry in standing.entries:
        table.add_row(*(cell(entry) for cell in cells.values()))
    print_table(table)
    for line in _remarks(standing):
        click.echo(line)
    for entry_id, note in look_notes(standing).items():
        click.echo(f"{shown(entry_id)}: {note}", err=True)
