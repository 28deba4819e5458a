"""Numbers and rows as Markdown."""

from collections.abc import Mapping, Sequence

from baselines.evaluate import SHORT
from baselines.reproduction.sets import Figure, Row, read_board_once
from baselines.reproduction.summaries import Difference, Estimate
from sraven.core.escape import with_error

SPACE = "\N{NO-BREAK SPACE}"

NOTHING = "–"
"""Where there is no number."""

_MEANINGS = {
    "r2_per_sequence": "the paper's R²: 1 is perfect",
    "accuracy": "the share of panels that are right in all features",
    "loss": "nats a token: less is better",
}


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; nothing without rows."""
    if not rows:
        return ""
    lines = [headings, ["---"] * len(headings), *([bound(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bound(text: str) -> str:
    """Return a text whose numbers no line breaks."""
    for sign in (" ± ", " %"):
        text = text.replace(sign, sign.replace(" ", SPACE))
    return text


def number(estimate: Estimate | None, digits: int = 3) -> str:
    """Return a mean with its standard error, by so many digits or those that the error needs; of a single
    seed, the mean alone.
    """
    if estimate is None:
        return NOTHING
    return _minus(with_error(estimate.mean, estimate.error, digits))


def signed(found: Difference) -> str:
    """Return a difference, and how surely there is one."""
    value, p = _minus(f"{found.value:+.3f}"), found.p
    if p is None:
        return value
    return f"{value} (p < 0.001)" if p < 0.001 else f"{value} (p = {p:.{2 if p >= 0.1 else 3}f})"


def _minus(text: str) -> str:
    return text.replace("-", "−")


def plural(count: int, what: str) -> str:
    """Return how many there are of something."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def meaning(metric: str) -> str:
    """Return what a board's metric says."""
    return _MEANINGS.get(metric, "as the board defines it")


def varied(figure: Figure) -> list[str]:
    """Return the fields in which the points of a figure's grid differ."""
    return [name for name in figure.points[0] if len({point[name] for point in figure.points}) > 1]


def point_names(figure: Figure) -> str:
    """Return the fields that the grid varies, as a heading."""
    return ", ".join(SHORT[name] for name in varied(figure))


def point_values(figure: Figure, point: Mapping[str, float] | None) -> str:
    """Return the values of a point in these fields."""
    return NOTHING if point is None else ", ".join(f"{point[name]:g}" for name in varied(figure))


def label(row: Row, names: Sequence[str]) -> str:
    """Return what distinguishes a row from others, in some columns; a number says of what it is."""
    given = [(name, row.labels[name]) for name in names if name in row.labels]
    return ", ".join(f"{name} {value}" if value[0].isdigit() else value for name, value in given)


def products(rows: Sequence[Row], names: Sequence[str]) -> tuple[str, ...]:
    """Return rows in as few words as their columns allow: ``a, b × c, d`` are four of them."""
    if not names:
        return ("",)
    name, *others = names
    found: dict[tuple[str, ...], list[Row]] = {}
    for value in dict.fromkeys(row.labels[name] for row in rows):
        same = [row for row in rows if row.labels[name] == value]
        found.setdefault(products(same, others), []).append(same[0])
    return tuple(
        ", ".join([label(first, [name]), *(row.labels[name] for row in more)]) + f" × {part}" * bool(part)
        for parts, (first, *more) in found.items()
        for part in parts
    )


def reported(row: Row) -> Estimate | None:
    """Return what the paper, or its authors, report of a row; None if there is no number."""
    for each in read_board_once(row.board).reported:
        if each.method == row.reported:
            return Estimate(each.value, each.standard_error, each.seeds)
    return None
