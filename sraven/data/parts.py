"""Which part of a dataset a job of an array writes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape


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
