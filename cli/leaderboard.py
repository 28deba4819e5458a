"""`sraven leaderboard`"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import json_option, print_json, print_table
from cli.submit import leaderboard_option

if TYPE_CHECKING:
    from sraven.core.leaderboard import Entry, Standing


@click.command(name="leaderboard")
@click.argument("board_id", metavar="[BOARD]", required=False)
@click.option(
    "--html", type=click.Path(path_type=Path, file_okay=False), help="Directory to write the page to."
)
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
    leaderboard: Path,
    base: str | None,
    checkout: Path,
    as_json: bool,
) -> None:
    """Print the standing, of all boards or of one, or write its page.

    The page is one file, index.html: it needs no server and asks no other host for anything.

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
    from sraven.core.leaderboard import read_leaderboard

    if not leaderboard.is_dir():
        raise click.UsageError(
            f"there is no {leaderboard}; run this in a checkout, or name it with --leaderboard"
        )
    standings = read_leaderboard(leaderboard, board_id)
    if html:
        from sraven.core.page import write_page

        click.echo(write_page(html, standings))
    elif as_json:
        print_json(
            [
                {
                    "board": found.board.id,
                    "digest": found.board.digest,
                    "entries": [asdict(e) for e in found.entries],
                }
                for found in standings
            ]
        )
    else:
        for standing in standings:
            _print(standing)


def _check_change(base: str, checkout: Path, as_json: bool) -> None:
    """Print which entry a change adds."""
    from sraven.core.change import LEADERBOARD, check_change

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

    from cli.scores import with_error
    from sraven.core.leaderboard import ceiling

    board, best = standing.board, ceiling(standing.board)
    title = f"{board.id}: {board.content['title']}"
    if not standing.entries:
        click.echo(f"{title} (no entries yet)")
        return
    title += f" (ceiling {best:.4f})" if best is not None else ""
    trained = "trained on" if board.budget_unit == "instances" else board.budget_unit
    cells: dict[str, Callable[[Entry], str | Text]] = {
        "rank": lambda entry: str(entry.rank or ""),
        "method": lambda entry: Text(entry.method),  # a stranger's: no markup
        "badge": lambda entry: entry.badge,
        f"{board.primary_split} {board.metric}": lambda entry: with_error(
            {"mean": entry.value, "standard_error": entry.standard_error}
        ),
        "gap": lambda entry: "" if entry.gap is None else f"{entry.gap:.4f}",
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
