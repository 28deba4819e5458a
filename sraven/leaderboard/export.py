"""The standing as a table for other programs: a row for each entry of each board, as JSON and as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.core.escape import one_line
from sraven.core.system.files import json_text, write_text
from sraven.leaderboard.columns import COLUMNS
from sraven.leaderboard.ranking import gather_own, read_leaderboard, read_snapshot
from sraven.leaderboard.standing import Leaderboard, Standing

JSON, CSV = "leaderboard.json", "leaderboard.csv"
"""Names of the files that lie beside the page."""

_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
"""What a text begins with that a spreadsheet would compute, the wide forms among them."""


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


def _cell(value: Any) -> Any:
    """Return what CSV has of a value: a text as one line that no spreadsheet takes for a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return "" if value is None else value
    text = one_line(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def make_csv(found: Leaderboard) -> str:
    """Return the table as CSV: a line of names, then a line for each row; nothing where there is no value."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(value) for value in row.values()] for row in make_rows(found.standings))
    return written.getvalue()


def write_tables(folder: Path, found: Leaderboard) -> None:
    """Write a standing as ``leaderboard.json`` and ``leaderboard.csv``, each whole or not at all.

    Args:
        folder: made if it doesn't exist.
        found: the standing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / JSON, json_text(make_document(found)))
    write_text(folder / CSV, make_csv(found))


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
