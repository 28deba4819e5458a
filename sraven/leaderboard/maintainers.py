"""What maintainers say of filed entries, in a file that no pull request with a submission may touch.

``confirmed.yaml`` has what can't be computed: which entry was run again, pinned to its submission, which
names the code; which one stands for another; and whose seeds were trained apart although they err alike.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sraven.core.errors import SubmissionError
from sraven.core.escape import escape
from sraven.files.schemas import find_problem
from sraven.files.untrusted import parse_yaml, read_file
from sraven.leaderboard.evidence import Evidence
from sraven.leaderboard.folder import Fault, make_fault

CONFIRMED = "confirmed.yaml"

_MOST_BYTES = 1 << 20


class Maintained(NamedTuple):
    """What maintainers say of entries, named by their folders, such as ``sraven-v1/20261121-hyla``.

    Attributes:
        reproduced: those that have been run again as they are now, with the digest of the submission.
        points: entries that are a point of another one's grid, which ``test`` chose: that one.
        replaced: entries that another one replaces: that one.
        apart: those whose seeds were trained apart, although they err alike, or like others.
    """

    reproduced: Mapping[str, str] = {}
    points: Mapping[str, str] = {}
    replaced: Mapping[str, str] = {}
    apart: frozenset[str] = frozenset()


def _read(leaderboard: Path) -> dict[str, Any]:
    if not os.path.lexists(leaderboard / CONFIRMED):
        return {}
    content = parse_yaml(read_file(leaderboard, CONFIRMED, _MOST_BYTES), CONFIRMED) or {}
    if problem := find_problem(content, "confirmed"):
        raise SubmissionError(problem)
    return dict(content)


def _replaces(content: Mapping[str, Any], entry_id: str, old: Evidence) -> bool:
    """Return whether a description says that it replaces an entry, or has a file of that."""
    files, others = ({run.get("sha256") for run in each["runs"]} for each in (content, old.content))
    return content.get("replaces") == entry_id or bool(files & others - {None})


def _misfit(kind: str, entry_id: str, said: str, entries: Mapping[str, Evidence]) -> str:
    """Return why what is confirmed of an entry isn't so, an empty text if it is.

    Args:
        kind: an attribute of `Maintained`.
        entry_id: the entry.
        said: what that has of it: a digest, or another entry.
        entries: all that can be read.
    """
    entry, other = entries.get(entry_id), entries.get(said)
    if kind in ("points", "replaced"):
        named = f"names {escape(said)}"
        if entry is None or other is None or entry_id == said:
            return f"{named}; expected two entries that there are"
        if entry.board.id != other.board.id:
            return f"{named}, which is of another board"
        if kind == "replaced" and not _replaces(other.content, entry_id, entry):
            return f"{named}, whose submission.yaml neither says 'replaces' nor names a file of it"
    elif entry is None:
        return "there is no such entry"
    elif kind == "reproduced" and entry.digest != said:
        held = f"the entry's submission.yaml has {entry.digest[:12]}…"
        return f"is {said[:12]}…, but {held}: another submission was run again"
    return ""


def read_maintained(
    leaderboard: Path, entries: Mapping[str, Evidence], only: str | None = None
) -> tuple[Maintained, list[Fault]]:
    """Return what maintainers say of entries, and what of it fits none.

    Args:
        leaderboard: the leaderboard's folder.
        entries: all that can be read, by their folders.
        only: id of a board, to look at what is said of its entries alone; None for all.
    """
    try:
        confirmed = _read(leaderboard)
    except SubmissionError as error:
        return Maintained(), [make_fault(CONFIRMED, str(error).removeprefix(f"{CONFIRMED}: "))]
    confirmed["apart"] = dict.fromkeys(confirmed.get("apart", ()), "")
    found: dict[str, dict[str, str]] = {kind: {} for kind in Maintained._fields}
    faults = []
    for kind, fitting in found.items():
        for entry_id, said in confirmed.get(kind, {}).items():
            if only is not None and entry_id.partition("/")[0] != only:
                continue
            if why := _misfit(kind, entry_id, said, entries):
                faults.append(make_fault(f"{CONFIRMED}: {kind}: {escape(entry_id)}", why))
            else:
                fitting[entry_id] = said
    apart = frozenset(found.pop("apart"))
    return Maintained(**found, apart=apart), faults
