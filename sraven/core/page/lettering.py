"""How much room words take in a plot of the page, whose letters nobody has measured."""

import unicodedata

FONT = 15.0
"""Size of the words in a plot on a phone, where the style sheet makes them largest."""
SMALL_FONT = 11.5
"""Their size on a wide screen."""
_LETTER = 0.56  # width of a letter, in font sizes


def text_width(text: str, size: float = FONT) -> float:
    """Return about how wide a text is."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return size * (_LETTER * (len(text) - wide) + wide)


def shortened(text: str, letters: int) -> str:
    """Return a text's beginning, with an ellipsis if there is more."""
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"
