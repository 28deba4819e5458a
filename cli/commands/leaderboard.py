"""Print the standing, or write it as a page or tables."""

from pathlib import Path

import click

from cli.shared.options import any_path, directory
from cli.shared.outputs import output_directory, output_file
from cli.shared.printing import json_option, print_json, print_outcome, wants_json
from cli.shared.standing import find_standing, print_standing


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
    help="Directory to write the page to, and beside it leaderboard.json and leaderboard.csv.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, for programs.")
@click.option("--fresh", is_flag=True, help="Score all entries again, whatever is cached.")
@click.option(
    "--leaderboard",
    type=directory,
    help="The leaderboard's folder.  [default: docs/leaderboard in a checkout, else the package's snapshot]",
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
    help="File to write the standing to, as the package brings it; for maintainers.",
)
@json_option
def command(
    board_id: str | None,
    added: tuple[Path, ...],
    html: Path | None,
    as_csv: bool,
    fresh: bool,
    leaderboard: Path | None,
    base: str | None,
    checkout: Path,
    snapshot: Path | None,
) -> None:
    """Print the standing, of all boards or of one, or write its page.

    The page is one file, index.html: it needs no server and sends no requests. Ranks and numbers are
    recomputed from the predictions, which takes seconds for each entry, and cached. An entry that can't be
    read is left out, named on standard error, and makes the exit code 1. Outside a checkout there are no
    predictions, and the standing is the one that came with the package.

    With --add, your own submission stands where it would if it were filed, and below the table is what
    would keep it from being ranked. Without BOARD, only the boards of what you add are printed; --html,
    --json and --csv have them all.

    With --check-change, nothing is printed but whether a pull request may be merged as a submission. Any
    fault refuses it with one line and exit code 2; what isn't the leaderboard's isn't looked at.

    \b
    Example:
      sraven leaderboard sraven-v1
      sraven leaderboard --add my-submission
      sraven leaderboard --csv > standing.csv
      sraven leaderboard --check-change main
    """
    if base is not None:
        if board_id or html or added or as_csv or snapshot:
            raise click.UsageError(
                "--check-change takes no board, and none of --add, --html, --csv, --snapshot; leave them out"
            )
        _check_change(base, checkout)
        return
    if as_csv and (wants_json() or html):
        raise click.UsageError("--csv goes with neither --json nor --html; leave it or them out")
    if snapshot and (board_id or added or html or wants_json() or as_csv):
        raise click.UsageError("--snapshot writes all that is filed; leave the board and other outputs out")
    from sraven.core.leaderboard.export import make_csv, make_document, write_tables
    from sraven.core.leaderboard.snapshot import write_snapshot

    found = find_standing(leaderboard, board_id, added, fresh=fresh)
    if snapshot:
        write_snapshot(snapshot, found)
        click.echo(snapshot)
    elif html:
        from sraven.core.page.page import write_page

        write_tables(html, found)  # what the page offers for download
        path = str(write_page(html, found.standings, found.faults))
        print_outcome(value={"path": path}, text=path)
    elif as_csv:
        click.echo(make_csv(found), nl=False)
    elif wants_json():
        print_json(make_document(found))
    else:
        for standing in found.standings:
            if board_id or not added or any(entry.own for entry in standing.entries):
                print_standing(standing)
    for fault in found.faults:
        click.echo(f"left out: {fault.place}: {fault.reason}", err=True)
    if found.faults:
        raise SystemExit(1)


def _check_change(base: str, checkout: Path) -> None:
    """Print which entry a change adds."""
    from sraven.core.contribution.change import LEADERBOARD, check_change

    found = check_change(base, checkout)
    if wants_json():
        print_json(found)
    elif found:
        click.echo(f"{found['folder']}: one new entry, and nothing else is touched")
    else:
        click.echo(f"nothing below {LEADERBOARD} is changed")
