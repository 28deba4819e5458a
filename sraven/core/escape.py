"""Untrusted text made safe to show, in an error, on a terminal, on the page; and numbers as people read them.

A name of a file or a method may hold what moves a terminal's cursor, turns the direction of a line,
shows as nothing, or never ends. Shown here, it is one line of bounded length in which whatever can't be
seen stands as its escape. Of a giant value, no more is looked at than is shown.
"""

from collections.abc import Iterable, Iterator
from math import floor, log10
from reprlib import Repr
from unicodedata import category

MOST = 100
"""Characters of a text that are shown unless another number is given."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Categories of control and format characters (among them direction marks and those of no width),
halves of pairs, private and unassigned ones, separators of lines, and spaces; the plain one is seen."""

_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
_BLANK = frozenset((*_FILLERS, *map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))))
"""Letters and marks that show as nothing, though their category doesn't say so: Unicode's property
Default_Ignorable_Code_Point beyond `_UNSEEN`, selectors of variants among them; the empty Braille cell."""

MOST_MARKS = 3
"""Combining marks that may follow one another: no writing needs many, and they climb over the lines above."""

_DEEPEST, _PARTS, _LARGEST_BITS = 4, 20, 128  # of nested values, of parts of one, of a number


def is_seen(character: str) -> bool:
    """Return whether a character is one that a reader sees, or the plain space."""
    return character == " " or not (category(character) in _UNSEEN or character in _BLANK)


def is_mark(character: str) -> bool:
    """Return whether a character is drawn onto the one before it."""
    return category(character).startswith("M")


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _legible(text: Iterable[str]) -> Iterator[str]:
    """Yield the characters of a text, with an escape for what can't be seen, and for marks that pile up."""
    marks = 0
    for character in text:
        marks = marks + 1 if is_mark(character) else 0
        yield character if is_seen(character) and marks <= MOST_MARKS else _escape(character)


def one_line(text: str) -> str:
    """Return a text as one legible line: each run of white space becomes a space."""
    return "".join(_legible(" ".join(text.split())))


class _Brief(Repr):
    """Writes values as Python does, of a large one no more than a little of each of its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.fillvalue = _DEEPEST, "…"
        self.maxdict = self.maxlist = self.maxtuple = _PARTS
        self.maxstring = self.maxother = 10 * MOST

    def repr_int(self, value: int, level: int) -> str:
        """Return a number, or how long it is: Python doesn't write down what has thousands of digits."""
        large = value.bit_length() > _LARGEST_BITS
        return f"a number of {value.bit_length():,} bits" if large else repr(value)


_BRIEF = _Brief()


def escape(value: object, most: int = MOST) -> str:
    """Return a value as one line that can be shown to anyone.

    Args:
        value: a text, which is shown without quotes, or anything else, as Python writes it.
        most: characters that are shown; of a longer text, the rest is counted.
    """
    text = value[: most + 1] if isinstance(value, str) else _BRIEF.repr(value)
    parts, length = list[str](), 0
    for part in _legible(text):
        length += len(part)
        if length > most:
            rest = f" ({len(value) - len(parts):,} more characters)" if isinstance(value, str) else ""
            return f"{''.join(parts)}…{rest}"
        parts.append(part)
    return "".join(parts)


def quoted(value: object, most: int = MOST) -> str:
    """Return a value as `escape` does, with quotes around a text, which may be empty."""
    return f"'{escape(value, most)}'" if isinstance(value, str) else escape(value, most)


MOST_DIGITS = 12
"""Decimals of a number with its standard error at most."""


def figure(value: float, digits: int = 4) -> str:
    """Return a number with so many decimals, or in few characters if it is too large for them."""
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.4g}"


def p_value(p: float) -> str:
    """Return a p with three decimals, or that it is below the least of them."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def error_decimals(standard_error: float, least: int = 4) -> int:
    """Return how many decimals a number and its error have: ``least``, or what the error's first digit takes.

    An error of 0.0000 would claim too much, but what takes more than `MOST_DIGITS` is nothing but rounding.
    """
    needed = -floor(log10(standard_error)) if standard_error > 0 else least
    return needed if least < needed <= MOST_DIGITS else least


def dollars(value: float) -> str:
    """Return US dollars with cents, or with the first digit of what is less than one: 0.0005."""
    return f"{value:,.{error_decimals(value, 2)}f} US dollars"


def with_error(value: float, standard_error: float | None, digits: int = 4) -> str:
    """Return a number with its standard error, as `error_decimals` says; None leaves the error out."""
    if standard_error is None:
        return figure(value, digits)
    digits = error_decimals(standard_error, digits)
    return f"{figure(value, digits)} ± {figure(standard_error, digits)}"
