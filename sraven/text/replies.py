"""Replies parsed: the last line, read strictly; or, where that says nothing, read as a person would."""

import re

from sraven.core.arguments import check_choice
from sraven.text.lenient import read_panel

READINGS = ("strict", "lenient")
"""How replies are read: rewards and version 1 of the text board read strictly."""

_NUMBER = "(?:0|[1-9][0-9]{0,2})"
_LIST = rf"\[ *({_NUMBER}(?: +{_NUMBER})*) *\]"

_BLANK = " \t\r\n"


_PANEL = re.compile(rf"[ \t]*(?:Answer: *{_LIST}|\*\*Answer: *{_LIST}\*\*|\*\*Answer:\*\* *{_LIST})")
"""What a last line has to look like, bold or not."""


def _read(reply: object) -> str | None:
    if not isinstance(reply, str):
        return None
    whole = reply.rstrip(_BLANK)
    found = _PANEL.fullmatch(whole, whole.rfind("\n") + 1)
    return next((group for group in found.groups() if group is not None), None) if found else None


def parse(reply: object, M: int, K: int, reading: str = "strict") -> tuple[int, ...] | None:
    """Return the panel that a reply answers, or None.

    Read strictly, a reply ends in a line ``Answer: [3 6 2 0]``: exactly M integers from 0 to K - 1 in ASCII
    digits, without sign or leading zero, with one space or more between them. Behind it nothing may stand but
    spaces, tabs and line ends, before it on its line nothing but spaces and tabs; the lines above are never
    read. The line, or ``Answer:`` alone, may be bold as in Markdown: ``**Answer: [3 6 2 0]**``, ``**Answer:**
    [3 6 2 0]``. Lines end in a line feed, with or without a carriage return before it.

    Read leniently, a reply that doesn't end so answers what it names behind its last ``Answer:`` or in its
    last LaTeX box, with commas, in Markdown, on the next line, as `sraven.text.lenient` says; several answers
    that differ are none. What the strict reading finds, the lenient one finds too.

    It takes time in proportion to the length of the reply.

    Args:
        reply: a text; anything else, such as None for a request that failed, answers nothing.
        M: features of a panel.
        K: number of symbols.
        reading: ``strict`` or ``lenient``.

    Raises:
        ConfigurationError: for another reading.
    """
    check_choice("reading", reading, READINGS)
    panel = tuple(map(int, (_read(reply) or "").split()))
    if len(panel) == M and max(panel) < K:
        return panel
    return read_panel(reply, M, K).answer if reading == "lenient" else None
