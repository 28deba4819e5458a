"""What maintainers say of filed entries, in a file that no pull request with a submission may touch.

``confirmed.yaml`` has what can't be computed: which entry was run again, pinned to its submission, which
names the code; which one stands for another; and whose seeds were trained apart although they err alike.
"""

import os
from collections.abc import Iterator, Mapping
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


def _read(leaderboard: Path) -> Mapping[str, Any]:
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


def _misfits(content: Mapping[str, Any], entries: Mapping[str, Evidence]) -> Iterator[tuple[str, str, str]]:
    """Yield what is confirmed of entries that isn't so: under which name, of which entry, and why."""
    for entry_id, digest in content["reproduced"].items():
        if entry_id not in entries:
            yield "reproduced", entry_id, "there is no such entry"
        elif (held := entries[entry_id].digest) != digest:
            other = f"is {digest[:12]}…, but the entry's submission.yaml has {held[:12]}…"
            yield "reproduced", entry_id, f"{other}: another submission was run again"
    for kind in ("points", "replaced"):
        for entry_id, other in content[kind].items():
            if entry_id not in entries or other not in entries or entry_id == other:
                yield kind, entry_id, f"names {escape(other)}; expected two entries that there are"
            elif entries[entry_id].board.id != entries[other].board.id:
                yield kind, entry_id, f"names {escape(other)}, which is of another board"
            elif kind == "replaced" and not _replaces(entries[other].content, entry_id, entries[entry_id]):
                said = "whose submission.yaml neither says 'replaces' nor names a file of it"
                yield kind, entry_id, f"names {escape(other)}, {said}"
    for entry_id in content["apart"]:
        if entry_id not in entries:
            yield "apart", entry_id, "there is no such entry"


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

    def concerning(kind: str) -> dict[str, Any]:
        found = confirmed.get(kind, {})
        named = [each for each in found if only is None or each.partition("/")[0] == only]
        return {each: found[each] if kind != "apart" else None for each in named}

    said = {kind: concerning(kind) for kind in Maintained._fields}
    faults = []
    for kind, entry_id, why in list(_misfits(said, entries)):
        faults.append(make_fault(f"{CONFIRMED}: {kind}: {escape(entry_id)}", why))
        said[kind].pop(entry_id, None)
    apart = frozenset(said.pop("apart"))
    return Maintained(**said, apart=apart), faults
