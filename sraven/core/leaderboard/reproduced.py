"""Entries that a maintainer has run again, each pinned to the submission and to the code that was run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sraven.core.base.errors import SubmissionError
from sraven.core.base.escape import escape
from sraven.core.leaderboard.evidence import Evidence
from sraven.core.leaderboard.filed import Fault, make_fault
from sraven.core.untrusted.read import parse_yaml, read_file
from sraven.core.untrusted.schemas import find_problem

REPRODUCED = "reproduced.yaml"

_MOST_BYTES = 1 << 20


def _read(leaderboard: Path) -> Mapping[str, Any]:
    if not os.path.lexists(leaderboard / REPRODUCED):
        return {}
    content = parse_yaml(read_file(leaderboard, REPRODUCED, _MOST_BYTES), REPRODUCED)
    if not isinstance(content, dict | None):
        raise SubmissionError(f"{REPRODUCED}: is {escape(content)}; expected entries by their folders")
    return content or {}


def _misfit(pin: Any, evidence: Evidence | None) -> str | None:
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


def read_reproduced(
    leaderboard: Path, entries: Mapping[str, Evidence], only: str | None = None
) -> tuple[set[str], list[Fault]]:
    """Return which entries have been reproduced as they are now, and which pins fit none.

    Args:
        leaderboard: the leaderboard's folder.
        entries: all that can be read, by their folders, such as ``sraven-v1/20261121-hyla``.
        only: id of a board, to look at its pins alone; None for all.
    """
    try:
        pins = _read(leaderboard)
    except SubmissionError as error:
        return set(), [make_fault(REPRODUCED, str(error).removeprefix(f"{REPRODUCED}: "))]
    badges, faults = set(), []
    for entry_id, pin in pins.items():
        if only is not None and entry_id.partition("/")[0] != only:
            continue
        if misfit := _misfit(pin, entries.get(entry_id)):
            faults.append(make_fault(f"{REPRODUCED}: {escape(entry_id)}", misfit))
        else:
            badges.add(entry_id)
    return badges, faults
