"""What strangers wrote, made fit to be shown: in an error, on a terminal, on the page.

A name of a file or a method may hold what moves a terminal's cursor, turns the direction of a line,
shows as nothing, or never ends. Shown here, it is one line of bounded length in which whatever can't be
seen stands as its escape.
"""

from unicodedata import category

MOST = 100
"""Characters of a text that are shown unless another number is given."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of control and format characters (among them direction marks and those of no width),
halves of pairs, private and unassigned ones, and separators of lines."""

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that show as nothing, though their category doesn't say so."""

_MARKS = 2
"""Combining marks that may follow one another: more of them climb over the lines above."""


def is_seen(character: str) -> bool:
    """Tell whether a character is one that a reader sees, or the plain space."""
    kind = category(character)
    return character == " " or not (kind in _UNSEEN or kind == "Zs" or character in _BLANK)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def shown(value: object, most: int = MOST) -> str:
    """Return a value as one line that can be shown to anyone.

    Args:
        value: a text, which is shown without quotes, or anything else, by its ``repr``.
        most: characters of the value that are shown; of a longer one, the rest is counted.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4 * most:
        return f"a number of {value.bit_length():,} bits"
    text = value if isinstance(value, str) else repr(value)
    marks, parts = 0, []
    for character in text[:most]:
        marks = marks + 1 if category(character).startswith("M") else 0
        parts.append(character if is_seen(character) and marks <= _MARKS else _escape(character))
    rest = len(text) - most
    return "".join(parts) + (f"… ({rest:,} more characters)" if rest > 0 else "")
