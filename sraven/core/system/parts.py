"""A directory in parts: for a job array, whose jobs know nothing of each other, and one merge at the end.

A part is the unfinished directory of the whole, see `sraven.core.system.staging`, with some of its shards. So
it is resumed like any other, and the same command without a part would finish it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import escape
from sraven.core.system.staging import Plan

Note = TypeVar("Note")
"""What a part notes of a shard."""

_NAMED = 3
"""Missing things that an error names; it counts the others."""


@dataclass(frozen=True)
class Part:
    """One of several parts of equal work.

    Attributes:
        number: from 1.
        of: how many there are.
    """

    number: int
    of: int

    def choose(self, items: Sequence[Any]) -> list[Any]:
        """Return every so many-th item, which is this part's."""
        return list(items[self.number - 1 :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def read_part(text: str) -> Part:
    """Return the part that a text says, such as 3/64 for the third of 64.

    Raises:
        ConfigurationError: if it says none.
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    part = Part(int(found[1]), int(found[2])) if found else None
    if part is None or not 1 <= part.number <= part.of:
        raise ConfigurationError(
            f"part={escape(repr(text))}: expected 3/64 for the third of 64 parts, from 1/64 to 64/64"
        )
    return part


def gather_parts(
    folders: Sequence[Path],
    read: Callable[[Path], tuple[Plan, Mapping[str, Note]]],
    differences: Callable[[Plan, Plan], Sequence[str]],
    another: str,
) -> tuple[Plan, dict[str, tuple[Path, Note]]]:
    """Return the plan that all parts share, and by shard, whose it is and what that part notes of it.

    Args:
        folders: the directories of the parts.
        read: returns the plan of a part, and its notes by shard.
        differences: returns the names of what differs between two plans.
        another: what a part of another plan is one of.

    Raises:
        OutputError: if there are no parts, they have not the same plan, or two have the same shard.
    """
    if not folders:
        raise OutputError("there are no parts; name their directories")
    plans: list[Plan] = []
    found: dict[str, tuple[Path, Note]] = {}
    for folder in folders:
        plan, notes = read(folder)
        plans.append(plan)
        if different := differences(plans[0], plan):
            raise OutputError(
                f"{folder} is part of {another} than {folders[0]} ({', '.join(different)} differ)"
            )
        for name, note in notes.items():
            if name in found:
                raise OutputError(f"{name} is in {found[name][0]} and in {folder}; leave out one of them")
            found[name] = folder, note
    return plans[0], found


def refuse_missing(missing: Sequence[str], count: int, nouns: str) -> None:
    """Refuse parts that lack something of the whole.

    Args:
        missing: the names of what they lack.
        count: how many things the whole has.
        nouns: what these are.

    Raises:
        OutputError: if anything is missing.
    """
    if missing:
        named = ", ".join(map(escape, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        raise OutputError(
            f"{len(missing):,} of {count:,} {nouns} are in none of these parts ({named}); "
            "name the other parts, or finish them"
        )
