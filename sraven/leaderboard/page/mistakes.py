"""Wrong answers of entries by kind: a bar for each split, the figures behind it, the colours."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from sraven.board.board import Board
from sraven.core.families import diagnosis_of
from sraven.leaderboard.page.svg import element
from sraven.leaderboard.page.words import score_with_error
from sraven.leaderboard.standing import Entry, Standing
from sraven.scoring.errors import MISSING

_GAP = 0.5  # per cent of a bar's width between two parts


class Mistakes(NamedTuple):
    """What an entry gets wrong.

    Attributes:
        bars: for each split its name and a drawing: the shares of the kinds, side by side; None if there
            are none.
        rows: what is wrong of all, then the kinds: their names, keys and a figure for each split.
    """

    bars: tuple[tuple[str, Element | None], ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]


class MistakeKind(NamedTuple):
    """A kind of wrong answers, with its colour and meaning."""

    key: str
    name: str
    meaning: str


def _keys(board: Board) -> dict[str, str]:
    """Return how the style sheet knows the kinds, by name."""
    diagnosis = diagnosis_of(board.task)
    *kinds, other = diagnosis.kinds if diagnosis else [MISSING]
    keys = {name: f"kind-{number}" for number, name in enumerate(kinds, 1)}
    return {**keys, other: "kind-other", MISSING: "kind-missing"}


def legend(standing: Standing) -> tuple[MistakeKind, ...]:
    """Return the kinds of a board's wrong answers; none if no entry has any sorted."""
    diagnosis = diagnosis_of(standing.board.task)
    if diagnosis is None or not any(entry.errors for entry in standing.entries):
        return ()
    keys = _keys(standing.board)
    return tuple(MistakeKind(keys[name], name, meaning) for name, meaning in diagnosis.kinds.items())


def _percent(share: float) -> str:
    return f"{100 * share:.3g}\u00a0%"


def _parts(shares: Mapping[str, float], keys: Mapping[str, str]) -> Iterator[Element]:
    """Yield a coloured part for each share, in the order of the kinds."""
    begin = 0.0
    for name, share in shares.items():
        width = 100 * share
        if width:
            gap = min(_GAP, width / 2)
            place = {"x": f"{begin:.2f}%", "width": f"{width - gap:.2f}%", "height": "100%"}
            yield element("rect", class_=keys[name], **place)
        begin += width


def _bar(split: str, row: Mapping[str, Any], keys: Mapping[str, str]) -> Element | None:
    """Return the shares of what is wrong on a split, side by side; None if they aren't defined."""
    shares = {name: found["mean"] for name, found in row["of_wrong"].items()}
    if None in shares.values():
        return None
    shares_text = ", ".join(f"{name} {_percent(share)}" for name, share in shares.items() if share)
    title = element("title", f"of what is wrong on {split}: {shares_text}")
    return element("svg", title, *_parts(shares, keys), class_="bar", role="img")


def _figure(found: Mapping[str, Any]) -> str:
    """Return a share and its standard error over seeds, unless that is 0."""
    return score_with_error(found["mean"], found["standard_error"] or None)


def make_mistakes(board: Board, entry: Entry) -> Mistakes | None:
    """Return what an entry gets wrong; None if nothing sorts it, or there are no predictions."""
    if not entry.errors:
        return None
    keys, rows = _keys(board), entry.errors.values()
    by_kind = {name: [row["of_wrong"][name] for row in rows] for name in keys}
    if not any(any(found["counts"]) for found in by_kind[MISSING]):
        del by_kind[MISSING]
    kinds = tuple((name, keys[name], tuple(map(_figure, found))) for name, found in by_kind.items())
    wrong = ("wrong, of all", "", tuple(_figure(row["wrong"]) for row in rows))
    bars = tuple((split, _bar(split, row, keys)) for split, row in entry.errors.items())
    return Mistakes(bars, (wrong, *kinds))
