"""Untrusted texts made fit for the page: every character is visible, and none changes the text around it.

Escaping isn't done here: the template and the drawings do it, for every text.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sraven.core.escape import escape, one_line
from sraven.leaderboard.standing import Entry, Replies, Standing

_OF_ENTRY = ("id", "method", "family", "description", "remark")
_OF_REPLIES = ("model", "revision", "harness", "harness_version")
_SPACES = "\t\n\r\u00a0"  # the last keeps a number and its unit together


def clean(text: str) -> str:
    """Return a text that can be encoded, with an escape for each character that can't be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter in _SPACES else escape(letter) for letter in text)


def _lines(found: Entry | Replies, names: Iterable[str]) -> dict[str, Any]:
    texts = {name: getattr(found, name) for name in names}
    return {name: one_line(text) for name, text in texts.items() if text}


def legible(standing: Standing) -> Standing:
    """Return a board with its entries' texts as they can be shown: lines in which all can be seen."""

    def readable(entry: Entry) -> Entry:
        replies = entry.replies and replace(entry.replies, **_lines(entry.replies, _OF_REPLIES))
        return replace(entry, replies=replies, **_lines(entry, _OF_ENTRY))

    return replace(standing, entries=tuple(map(readable, standing.entries)))
