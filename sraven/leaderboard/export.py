"""The standing as a table for other programs: a row for each entry of each board, as JSON."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.leaderboard.columns import COLUMNS
from sraven.leaderboard.ranking import gather_own, read_leaderboard, read_snapshot
from sraven.leaderboard.standing import Leaderboard, Standing

JSON = "leaderboard.json"
"""Name of the file that lies beside the page."""


def make_rows(standings: Iterable[Standing]) -> list[dict[str, Any]]:
    """Return the entries of some boards as rows of plain values by column, in the order of the standing."""
    return [
        {name: column(standing.board, entry) for name, column in COLUMNS.items()}
        for standing in standings
        for entry in standing.entries
    ]


def make_document(found: Leaderboard) -> dict[str, Any]:
    """Return a standing as JSON values: all that is known of it, and its table as ``rows``."""
    return {**found.content, "rows": make_rows(found.standings)}


def standing(
    board: str | None = None, *, leaderboard: str | Path | None = None, add: Sequence[str | Path] = ()
) -> list[dict[str, Any]]:
    """Return the leaderboard as rows, one for each entry of each board, the best of a board first.

    Args:
        board: id of a board; None for all.
        leaderboard: folder of a leaderboard, such as ``docs/leaderboard`` of a checkout: its entries are
            scored again, which takes seconds for each one. None for the standing that the package brings.
        add: directories of submissions of one's own. They are scored and stand among the others, with
            ``own`` true; nothing of them is filed.

    Returns:
        Plain values by name of the column, the same columns in every row, ready for
        ``pandas.DataFrame``; None where there is no value.

    Raises:
        ConfigurationError: if there is no such board, or no such folder.
        SubmissionError: if a submission of one's own is refused.
        BoardError: if this installation doesn't give a board's instances.
    """
    if leaderboard is not None and not Path(leaderboard).is_dir():
        raise ConfigurationError(f"there is no {leaderboard}; expected the folder of a leaderboard, or None")
    own = gather_own([Path(folder) for folder in add])
    if leaderboard is None:
        return make_rows(read_snapshot(board, own=own).standings)
    return make_rows(read_leaderboard(Path(leaderboard), board, own=own).standings)
