"""Tries without a reply: which are worth another one, and how many end everything."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sraven.text.waits import LONGEST_ASKED_WAIT

MOST_FAILED = 10
"""So many failures one after the other stop everything."""

FATAL = {
    401: (1, "the key isn't taken"),
    403: (3, "the key isn't allowed this"),
    404: (3, "there is no such address or model"),
    **dict.fromkeys((301, 302, 307, 308), (3, "the address has moved")),
}
"""HTTP statuses of which fewer in a row do, as every question would get them, and what they mean."""

PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 that pass; so do all from 500 on."""

ANY_TRIES = 1 << 30
"""Tries of a question that may pass: as many as are allowed."""

UNREADABLE_TRIES = 2
"""Tries of a question whose replies come, and are paid for, but can't be read."""

LONGEST_RAW = 1 << 20
"""Characters that are kept of what isn't a reply."""


@dataclass(eq=False)
class Failure(Exception):  # noqa: N818
    """A try without a reply.

    Attributes:
        why: there is none.
        status: of HTTP, or what stands for it; 0 for none.
        tries: how many of a question at most, if this is what comes; 1 if once more wouldn't help.
        wait: how long the endpoint asks to wait, in seconds; None if it doesn't say.
        kept: of what came, for the line.
    """

    why: str
    status: int = 0
    tries: int = 1
    wait: float | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def is_fatal(self) -> bool:
        """Whether it asks for a longer wait than is worth it."""
        return (self.wait or 0) > LONGEST_ASKED_WAIT


def why_to_stop(failures: Sequence[Failure]) -> str:
    """Return why no more is asked after failures in a row, behind the endpoint's name; else nothing."""
    last, many = failures[-1], len(failures)
    most, meaning = FATAL.get(last.status, (MOST_FAILED, ""))
    if last.is_fatal:
        return f" asks to wait {last.wait:,.0f} s, which is too long: {last.why}"
    if meaning and [each.status for each in failures[-most:]] == most * [last.status]:
        return f": {meaning} ({last.status}): {last.why.removeprefix(f'{last.status} ')}"
    if many >= MOST_FAILED:
        return f": {many} questions failed one after the other, the last with: {last.why}"
    return ""
