"""How the page words numbers, metrics and splits."""

from dataclasses import replace

from sraven.core.ground import echo as numbers
from sraven.core.ground.echo import figure, one_line
from sraven.core.leaderboard.ranking import REPORTED, REPRODUCED_BADGE, SCORED, SELF_REPORTED, Entry, Standing

NOTHING = "–"
"""Stands where there is no figure."""

REFERENCE = "reference"
"""Family of the predictors that are there for comparison, and their kind of point."""

BADGES = {
    SCORED: "recomputed here from the predictions that were submitted",
    SELF_REPORTED: "added up here from the submitter’s own losses, which can’t be recomputed here",
    REPRODUCED_BADGE: "recomputed from the predictions, and a maintainer has run the method again",
    REPORTED: "copied from a paper: there are no predictions to check, so it is never ranked",
}
"""What the badges mean."""

_METRICS = {
    "loss": "loss per token",
    "r2_per_sequence": "R² per sequence",
    "r2": "R²",
    "mse": "mean squared error",
    "accuracy_unique": "accuracy, one answer",
    "accuracy_ambiguous": "accuracy, several answers",
    "valid_alternatives": "wrong, but a valid alternative",
}
_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"))


def metric_name(metric: str) -> str:
    """Return what a metric is called."""
    return _METRICS.get(metric, metric.replace("_", " ").replace(".", ": "))


def capitalised(text: str) -> str:
    """Return a text with its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def compact(number: int) -> str:
    """Return a count in short, such as ``20 M``; whole below a million."""
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:.4g}\u00a0{letter}"
    return f"{number:,}"


def score(value: float | None) -> str:
    """Return a score with four decimals, or in few digits if it is too large for them."""
    return NOTHING if value is None else figure(value).replace("-", "−")


def with_error(entry: Entry) -> str:
    """Return an entry's score and its standard error."""
    if entry.value is None:
        return NOTHING
    return numbers.with_error(entry.value, entry.standard_error).replace("-", "−").replace(" ", "\u00a0")


def legible(standing: Standing) -> Standing:
    """Return a board with its entries' texts as they can be shown: lines in which all can be seen."""

    def shown(entry: Entry) -> Entry:
        return replace(
            entry,
            id=one_line(entry.id),
            method=one_line(entry.method),
            family=entry.family and one_line(entry.family),
            description=one_line(entry.description),
            remark=one_line(entry.remark),
        )

    return replace(standing, entries=tuple(map(shown, standing.entries)))


def kind(entry: Entry) -> str:
    """Return how an entry is drawn: ``reference``, or its badge."""
    return REFERENCE if entry.family == REFERENCE else entry.badge
