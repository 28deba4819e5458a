"""The standing that commands print or compare with: of a checkout, or as the package brings it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.progress import doing
from sraven.core.escape import escape

if TYPE_CHECKING:
    from sraven.leaderboard.evidence import Evidence
    from sraven.leaderboard.standing import Leaderboard

CHECKOUT = Path("docs/leaderboard")
"""The leaderboard's folder, in a checkout."""


def find_standing(folder: Path | None, board_id: str | None, added: Sequence[Path] = ()) -> "Leaderboard":
    """Return the standing of a folder, scored anew, or that in the package, which is said on standard error.

    Args:
        folder: a leaderboard's; None for the package's standing.
        board_id: None for all boards.
        added: submissions of one's own, to stand among the others.

    Raises:
        click.UsageError: if there is no such folder, or something is added to another board.
    """
    from sraven import __version__
    from sraven.leaderboard.evidence import sharing_boards
    from sraven.leaderboard.ranking import gather_own, read_leaderboard, read_snapshot

    if folder is not None and not folder.is_dir():
        raise click.UsageError(
            f"there is no {folder}; run this in a checkout, or leave --leaderboard out for the package's own"
        )
    show = sharing_boards()
    with doing("reading") as on_progress:

        def gather(entry: Path) -> "Evidence":
            on_progress(f"scoring {escape(entry.name)}")
            return show(entry)

        own = gather_own(added, gather)
        for name, evidence in own.items():
            if board_id not in (None, evidence.board.id):
                raise click.UsageError(
                    f"{name} is for {evidence.board.id}, not {board_id}; name that board, or none"
                )
        if folder is not None:
            return read_leaderboard(folder, board_id, gather=gather, own=own)
        found = read_snapshot(board_id, own=own)
    copies = ", and the predictions that yours are compared with for copies" if own else ""
    source = f"the leaderboard of {found.date}, as it came with sraven {__version__}"
    click.echo(f"{source}; --leaderboard {CHECKOUT} of a checkout has what was filed since{copies}", err=True)
    return found
