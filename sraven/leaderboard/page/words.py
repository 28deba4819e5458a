"""Words for numbers, metrics and splits on the page."""

from sraven.board.board import Board
from sraven.core.escape import error_decimals, figure
from sraven.core.families import scoring_of
from sraven.leaderboard.standing import (
    REFERENCE,
    REPORTED,
    REPRODUCED_BADGE,
    SCORED,
    Entry,
)

NOTHING = "–"
"""Stands where there is no figure."""

BADGES = {
    SCORED: "recomputed here from the predictions that were submitted",
    REPRODUCED_BADGE: "recomputed from the predictions, and a maintainer has run the method again",
    REPORTED: "copied from a paper: there are no predictions to check, so it is never ranked",
}
"""What the badges mean."""

FILLS = {
    SCORED: "recomputed here",
    REPRODUCED_BADGE: "recomputed here",
    REPORTED: "reported in a paper",
}
"""What the filling of a mark says of an entry with a badge."""

_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"))


def metric_name(board: Board, metric: str) -> str:
    """Return what a metric of a board is called."""
    known = scoring_of(board.task).metrics.get(metric)
    return (known and known.title) or metric.replace("_", " ").replace(".", ": ")


def capitalised(text: str) -> str:
    """Return a text with its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def compact(number: int) -> str:
    """Return a count in short, such as ``20 M`` or ``130 B``; whole below a million."""
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:.4g}\u00a0{letter}"
    return f"{number:,}"


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def score(value: float | None, digits: int = 4) -> str:
    """Return a score with so many decimals, or in few digits if it is too large for them.

    What would read 0.0000 is in scientific notation, and nothing at all is 0.
    """
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if round(value, digits) == 0:
        mantissa, _, power = f"{value:.1e}".partition("e")
        return f"{mantissa} × 10{str(int(power)).translate(_SUPERSCRIPTS)}".replace("-", "−")
    return figure(value, digits).replace("-", "−")


def score_and_error(value: float | None, error: float | None) -> tuple[str, str]:
    """Return a score and its standard error, which is an empty text if there is none."""
    if error is None:
        return score(value), ""
    digits = error_decimals(error)
    return score(value, digits), figure(error, digits)


def score_with_error(value: float | None, error: float | None) -> str:
    """Return a score and its standard error as one text."""
    return "\u00a0±\u00a0".join(filter(None, score_and_error(value, error)))


def entry_score(entry: Entry) -> str:
    """Return an entry's score and its standard error over seeds as one text."""
    return score_with_error(entry.value, entry.standard_error)


def passes(board: Board, entry: Entry, line: float) -> str:
    """Return whether the score of an entry passes a line, in words, as far as its interval shows."""
    value = entry.value or 0.0
    low, high = entry.shown_interval or (value, value)
    if low <= line <= high:
        return "not distinguished"
    return "passed" if (value > line) == board.higher_is_better else "not passed"


def shortened(text: str, letters: int) -> str:
    """Return a text's beginning, with an ellipsis if there is more."""
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


def kind(entry: Entry) -> str:
    """Return how an entry is drawn: ``reference``, or its badge."""
    return REFERENCE if entry.family == REFERENCE else entry.badge
