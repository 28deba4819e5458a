"""Draw scores of entries beside ceiling and baselines."""

from pathlib import Path
from typing import Any

import click

from cli.shared.options import directory, needs_extra, picture_file
from cli.shared.printing import json_option, print_outcome
from cli.shared.standing import CHECKOUT
from sraven.core.escape import escape


@click.command(name="plot")
@click.argument("entries", metavar="ENTRY...", nargs=-1, required=True)
@click.option("--out", required=True, type=picture_file, help="File to write: FILE.svg, .pdf or .png.")
@click.option("--leaderboard", type=directory, help=f"The leaderboard's folder.  [default: {CHECKOUT}]")
@json_option
def command(entries: tuple[str, ...], out: Path, leaderboard: Path | None) -> None:
    """Draw what entries score on known and on held-out combinations, beside ceiling and baselines.

    ENTRY is a submission's directory or the name of a filed entry; each is scored. There is a panel for each
    board, with a row for each entry, the best first: an open mark for known combinations, a filled one for
    held-out ones with its interval, as on the leaderboard's page.

    \b
    Example:
      sraven plot my-submission 20261122-hyla-6-400-000-instances --out scores.pdf
    """
    with needs_extra("sraven plot", "analysis"):
        from sraven.leaderboard.page.picture import Panel, bar_of, levels_of, save_scores
    from sraven.leaderboard.comparison import find_entry
    from sraven.leaderboard.ranking import gather_own, read_snapshot

    own = gather_own(find_entry(name, leaderboard or CHECKOUT) for name in entries)
    panels, found = [], list[dict[str, Any]]()
    for standing in read_snapshot(None, own=own).standings:
        board, shown = standing.board, [entry for entry in standing.entries if entry.own]
        if missing := [escape(entry.id) for entry in shown if entry.value is None]:
            raise click.UsageError(f"{missing[0]} has no score on {board.primary_split} of {board.id}")
        if bars := {entry.id: bar_of(board, entry) for entry in shown}:
            panels.append(Panel(f"{board.id}: {board.metric}", list(bars.values()), levels_of(board)))
        found += [{"entry": name, "board": board.id, **bar._asdict()} for name, bar in bars.items()]
    save_scores(panels, out)
    print_outcome(value=found, text=str(out))
