"""What strangers wrote, made fit for the page: all of it is seen, and none turns the text around it.

Escaping isn't done here: the template and the drawings do it, for every text.
"""

from dataclasses import replace

from sraven.core.ground.echo import one_line, shown
from sraven.core.leaderboard.standing import Entry, Replies, Standing

_SPACES = "\t\n\r\u00a0"  # the last keeps a number and its unit together


def clean(text: str) -> str:
    """Return a text that can be encoded, with an escape for each character that can't be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter in _SPACES else shown(letter) for letter in text)


def _readable(replies: Replies) -> Replies:
    return replace(
        replies,
        model=one_line(replies.model),
        revision=one_line(replies.revision),
        harness=one_line(replies.harness),
        harness_version=one_line(replies.harness_version),
    )


def legible(standing: Standing) -> Standing:
    """Return a board with its entries' texts as they can be shown: lines in which all can be seen."""

    def readable(entry: Entry) -> Entry:
        return replace(
            entry,
            id=one_line(entry.id),
            method=one_line(entry.method),
            family=entry.family and one_line(entry.family),
            description=one_line(entry.description),
            remark=one_line(entry.remark),
            replies=entry.replies and _readable(entry.replies),
        )

    return replace(standing, entries=tuple(map(readable, standing.entries)))
