"""Print the standing, or write its page."""

from pathlib import Path

import click

from cli.shared.options import json_option, leaderboard_option
from cli.shared.printing import print_json
from cli.shared.progress import gathering
from cli.shared.standing import print_standing


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
    with gathering(fresh) as gather:
        found = read_leaderboard(leaderboard, board_id, gather=gather)
    if html:
        from sraven.core.page.page import write_page

        click.echo(write_page(html, found.standings, found.faults))
    elif as_json:
        print_json(found.content)
    else:
        for standing in found.standings:
            print_standing(standing)
    for fault in found.faults:
        click.echo(f"left out: {fault.place}: {fault.reason}", err=True)
    if found.faults:
        raise SystemExit(1)


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
