"""The contents of the leaderboard's folder: filed submissions, and what is left out with a reason."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from sraven.board.board import board_ids
from sraven.core.errors import SubmissionError
from sraven.core.escape import escape
from sraven.core.versions import VERSIONS
from sraven.leaderboard.submissions.submission import SUBMISSIONS

FIRST_DAY = date.fromisoformat(next(iter(VERSIONS.values())))
"""When the benchmark was published: nothing was filed before."""

_NAME = re.compile(r"([0-9]{8})-[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST = 80
_LONGEST_REASON = 400


@dataclass(frozen=True)
class Fault:
    """What was left out of the standing, and why.

    Attributes:
        place: of the folder or file below the leaderboard's, as a line that can be shown to anyone.
        reason: such a line, too.
    """

    place: str
    reason: str


def make_fault(place: str, reason: object) -> Fault:
    """Return a fault, its texts made fit to be shown."""
    return Fault(escape(place), escape(" ".join(str(reason).split()), _LONGEST_REASON))


def fault_of(place: str, error: Exception) -> Fault:
    """Return the fault that an error in reading or scoring a submission is reported as, whatever broke."""
    is_ours = isinstance(error, ValueError | OSError)
    return make_fault(place, error if is_ours else f"{type(error).__name__}: {error}")


def today() -> date:
    """Return the day in UTC, by which submissions are filed."""
    return datetime.now(UTC).date()


def filing_date(name: str, last: date) -> date:
    """Return the day that the name of an entry's folder begins with. It is shown, and decides nothing.

    Args:
        name: such as ``20261121-hyla``.
        last: the latest day that is possible: today.

    Raises:
        SubmissionError: if the name is of another form, or the day is none, comes before the
            benchmark's first, or is still to come.
    """
    matched = _NAME.fullmatch(name)
    if not matched or len(name) > _LONGEST:
        raise SubmissionError(
            "isn't the name of an entry; expected <YYYYMMDD>-<name>, the name in lower-case letters, digits "
            "and single hyphens, as `sraven submit` gives it"
        )
    try:
        day = date(int(name[:4]), int(name[4:6]), int(name[6:8]))
    except ValueError:
        raise SubmissionError(f"{matched[1]} is no date; expected one from {FIRST_DAY} to {last}") from None
    if not FIRST_DAY <= day <= last:
        raise SubmissionError(f"{day} isn't possible; expected a date from {FIRST_DAY} to {last}")
    return day


def _fault_of_directory(path: Path) -> str | None:
    """Return why something is no directory of its own; None if it is one."""
    if path.is_symlink():
        return "is a link; links aren't followed"
    return None if path.is_dir() else "isn't a directory"


def _fault_of_entry(folder: Path, last: date) -> str | None:
    """Return why something can't be an entry by its kind or name; None if it can."""
    if reason := _fault_of_directory(folder):
        return reason
    try:
        filing_date(folder.name, last)
    except SubmissionError as error:
        return str(error)
    return None


def _within(folder: Path) -> list[Path]:
    """Return what lies in a directory, ascending; hidden files are those of an editor or unfinished."""
    return [folder / name for name in sorted(os.listdir(folder)) if not name.startswith(".")]


def walk_filed(leaderboard: Path, last: date, only: str | None = None) -> Iterator[Path | Fault]:
    """Yield the folders of filed submissions, ascending, and a fault for whatever else lies there.

    Args:
        leaderboard: the leaderboard's folder.
        last: the latest day on which something can have been filed.
        only: id of a board, to see nothing of others; None for all.
    """
    root = leaderboard / SUBMISSIONS
    if not os.path.lexists(root):
        return
    if reason := _fault_of_directory(root):
        yield make_fault(SUBMISSIONS, reason)
        return
    known = set(board_ids())
    for board in _within(root):
        if only is not None and board.name != only:
            continue
        if board.name not in known:
            yield make_fault(board.name, "isn't the id of a board; `sraven boards` lists all")
        elif reason := _fault_of_directory(board):
            yield make_fault(board.name, reason)
        else:
            for entry in _within(board):
                fault = _fault_of_entry(entry, last)
                yield make_fault(f"{board.name}/{entry.name}", fault) if fault else entry
