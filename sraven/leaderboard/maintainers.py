"""What maintainers say of filed entries, in two files that no pull request with a submission may touch.

``reproduced.yaml`` has the entries that a maintainer has run again, each pinned to the submission and to
the code that was run. ``confirmed.yaml`` has what can't be computed: which entry stands for another one, and
whose seeds were trained apart although they err alike.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sraven.core.errors import SubmissionError
from sraven.core.escape import escape
from sraven.core.untrusted.read import parse_yaml, read_file
from sraven.core.untrusted.schemas import find_problem
from sraven.leaderboard.evidence import Evidence
from sraven.leaderboard.filed import Fault, make_fault

REPRODUCED, CONFIRMED = "reproduced.yaml", "confirmed.yaml"

_MOST_BYTES = 1 << 20


class Maintained(NamedTuple):
    """What maintainers say of entries, named by their folders, such as ``sraven-v1/20261121-hyla``.

    Attributes:
        reproduced: those that have been run again as they are now.
        points: entries that are a point of another one's grid, which ``test`` chose: that one.
        replaced: entries that another one replaces: that one.
        apart: those whose seeds were trained apart, although they err alike.
    """

    reproduced: frozenset[str] = frozenset()
    points: Mapping[str, str] = {}
    replaced: Mapping[str, str] = {}
    apart: frozenset[str] = frozenset()


def _read(leaderboard: Path, name: str) -> Mapping[str, Any]:
    if not os.path.lexists(leaderboard / name):
        return {}
    content = parse_yaml(read_file(leaderboard, name, _MOST_BYTES), name)
    if not isinstance(content, dict | None):
        raise SubmissionError(f"{name}: is {escape(content)}; expected entries by their folders")
    return content or {}


def _misfit_of_pin(pin: Any, evidence: Evidence | None) -> str | None:
    """Return why a pin gives no badge; None if it fits its entry."""
    if problem := find_problem(pin, "reproduced"):
        return problem
    if evidence is None:
        return "there is no such entry"
    named = evidence.content["method"].get("code_commit")
    if pin["submission_digest"] != evidence.digest:
        return (
            f"submission_digest is {pin['submission_digest'][:12]}…, but the entry's submission.yaml has "
            f"{evidence.digest[:12]}…: another submission was run again"
        )
    if pin["code_commit"] != named:
        other = "names none" if named is None else f"names {escape(named, 64)}"
        return f"code_commit is {pin['code_commit'][:12]}…, but the entry {other}: other code was run"
    return None


def _misfits_of_confirmed(
    content: Mapping[str, Any], entries: Mapping[str, Evidence]
) -> Iterator[tuple[str, str, str]]:
    """Yield what is confirmed of entries that isn't so: under which name, of which entry, and why."""
    for kind in ("points", "replaced"):
        for entry_id, other in content.get(kind, {}).items():
            if entry_id not in entries or other not in entries or entry_id == other:
                yield kind, entry_id, f"names {escape(other)}; expected two entries that there are"
            elif entries[entry_id].board.id != entries[other].board.id:
                yield kind, entry_id, f"names {escape(other)}, which is of another board"
            elif kind == "replaced" and entries[other].content.get("replaces") != entry_id:
                yield kind, entry_id, f"names {escape(other)}, whose submission.yaml doesn't say 'replaces'"
    for entry_id in content.get("apart", ()):
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

    def concerns(entry_id: str) -> bool:
        return only is None or entry_id.partition("/")[0] == only

    faults, found = [], dict[str, Mapping[str, Any]]()
    for name in (REPRODUCED, CONFIRMED):
        try:
            found[name] = _read(leaderboard, name)
            if name == CONFIRMED and (problem := find_problem(found[name], "confirmed")):
                raise SubmissionError(problem)
        except SubmissionError as error:
            found[name] = {}
            faults.append(make_fault(name, str(error).removeprefix(f"{name}: ")))
    badges = set()
    for entry_id, pin in found[REPRODUCED].items():
        if not concerns(entry_id):
            continue
        if misfit := _misfit_of_pin(pin, entries.get(entry_id)):
            faults.append(make_fault(f"{REPRODUCED}: {escape(entry_id)}", misfit))
        else:
            badges.add(entry_id)
    confirmed = found[CONFIRMED]
    said: dict[str, Any] = {
        kind: {entry: confirmed[kind][entry] for entry in filter(concerns, confirmed.get(kind, ()))}
        for kind in ("points", "replaced")
    }
    said["apart"] = list(filter(concerns, confirmed.get("apart", ())))
    for kind, entry_id, why in list(_misfits_of_confirmed(said, entries)):
        faults.append(make_fault(f"{CONFIRMED}: {kind}: {escape(entry_id)}", why))
        said[kind].pop(entry_id) if kind != "apart" else said[kind].remove(entry_id)
    return Maintained(frozenset(badges), said["points"], said["replaced"], frozenset(said["apart"])), faults
