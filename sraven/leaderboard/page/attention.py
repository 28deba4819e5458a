"""The family of attention of an entry: what the paper compares, and what the page colours entries by.

There is no field for it in a submission. So it is read from the entry's own words, by `FAMILIES` alone.
"""

import re
from typing import NamedTuple

from sraven.leaderboard.standing import REFERENCE, Entry


class MethodFamily(NamedTuple):
    """Methods that stand together.

    Attributes:
        key: how the style sheet knows it.
        title: what stands beside its mark.
        words: any of which, as a whole word and in letters of any size, decides for it.
    """

    key: str
    title: str
    words: tuple[str, ...] = ()


METHOD_FAMILIES = (
    MethodFamily("hyla", "HYLA", ("hyla", "hypernetwork")),
    MethodFamily("softmax", "softmax attention", ("softmax",)),
    MethodFamily("linear", "linear attention", ("linear",)),
    MethodFamily("other", "other methods"),
    MethodFamily(REFERENCE, "references"),
)
"""All families, in the order of the legend.

The first word of an entry's ``method.family`` that is listed decides. A family with none makes it
another method, unless it says nothing of attention (`_SILENT`): then the first such word of the entry's name
decides, so that *HYLA + softmax*, which is HYLA with a softmax in it, is HYLA. The last two have no
words: what is left, and what has the family ``reference``.
"""

_SILENT = ("", "transformer")
_OF_WORD = {word: family for family in METHOD_FAMILIES for word in family.words}
_WORD = re.compile(rf"\b({'|'.join(_OF_WORD)})\b", re.IGNORECASE)
_BY_KEY = {family.key: family for family in METHOD_FAMILIES}


def family_of(entry: Entry) -> MethodFamily:
    """Return the family of an entry."""
    said = (entry.family or "").strip().lower()
    if said == REFERENCE:
        return _BY_KEY[REFERENCE]
    found = _WORD.search(said) or (_WORD.search(entry.method) if said in _SILENT else None)
    return _OF_WORD[found[0].lower()] if found else _BY_KEY["other"]
