"""The picture of results that README and documentation begin with: three attentions on known and held-out
combinations, drawn from the records as SVG that follows the reader's light or dark scheme.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from baselines.reproduction.cells import ReadBoard, read_board_once
from baselines.reproduction.sets import ATTENTIONS
from baselines.reproduction.standing import Standing
from baselines.reproduction.summaries import Estimate, Summary
from baselines.reproduction.words import number, reported
from sraven.core.boards.board import Board
from sraven.core.page.palette import variables
from sraven.core.page.svg import element, to_text

NAME = "headline.svg"
"""Of the picture, in the folder of results."""

PANELS = {
    "table-a1-fuzzylogic": "Fuzzy logic: R², 1 is perfect",
    "table-a1-sraven": "SRAVEN: share of puzzles solved",
}
"""What is drawn: figures with a row for each attention, and the titles of their panels."""

_WIDTH, _LEFT, _RIGHT, _ROW, _HEAD, _FOOT, _LEGEND, _LABEL = 480, 84, 450, 50, 66, 44, 56, 18
_STYLE = (
    "text{font:15px system-ui,sans-serif;fill:var(--text)}.title{font-size:18px;font-weight:650}"
    ".tick,.none{fill:var(--muted);font-size:14px}.grid{stroke:var(--line)}.name{font-weight:650}"
    ".ceiling,.lower{stroke:var(--caution);stroke-width:1.5;stroke-dasharray:6 4}"
    ".lower{stroke-dasharray:2 3}.bound{fill:var(--caution);font-size:14px}"
    ".known{fill:var(--surface);stroke-width:2}.fall{stroke-width:1.5;stroke-dasharray:1 4}"
    ".error{stroke-width:2}.paper{stroke:var(--muted);stroke-width:2}.band{fill:var(--muted);opacity:.25}"
    + "".join(f".{name}{{--ink:var(--{name});}}" for name in ATTENTIONS)
    + ".legend{--ink:var(--text);}.known,.fall,.error{stroke:var(--ink)}.held-out{fill:var(--ink)}"
)
_COLOURS = ("text", "muted", "surface", "line", "caution", *ATTENTIONS)


class _Result(NamedTuple):
    """What is drawn of an attention: our scores and the paper's."""

    attention: str
    known: Estimate | None
    held_out: Estimate | None
    paper: Estimate | None


def headline(standings: Sequence[Standing], read: ReadBoard = read_board_once) -> str | None:
    """Return the picture as the text of an SVG file; None if its figures aren't among those given.

    Args:
        standings: of figures.
        read: returns a board, given its id.
    """
    found = {each.figure.name: each for each in standings}
    if not PANELS.keys() <= found.keys():
        return None
    parts, told, top = list(_legend()), [], _LEGEND
    for name, title in PANELS.items():
        board = read(found[name].figure.rows[0].board)
        results = _results(found[name].summaries[0], board)
        parts.extend(_panel(title, board, results, top))
        told.append(f"{title}: {'; '.join(map(_in_words, results))}")
        top += _head_of(board) + _ROW * len(results) + _FOOT
    drawing = element(
        "svg",
        element("title", ". ".join(told)),
        element("style", variables(_COLOURS) + _STYLE),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        view_box=f"0 0 {_WIDTH} {top}",
        width=_WIDTH,
        height=top,
        role="img",
    )
    return to_text(drawing) + "\n"


def _results(summaries: Sequence[Summary], board: Board) -> list[_Result]:
    """Return what came of each attention without ablation, and what the paper reports of it."""
    rows = {
        summary.row.changes["attention"]: summary
        for summary in summaries
        if summary.row.changes.get("feedforward", "mlp") == "mlp"
    }
    return [
        _Result(
            name, rows[name].estimate("test"), rows[name].estimate("ood"), reported(rows[name].row, board)
        )
        for name in ATTENTIONS
    ]


def _in_words(result: _Result) -> str:
    """Return what is drawn of an attention, for those who can't see it."""
    ours = f"{number(result.known)} on known combinations, {number(result.held_out)} on held-out ones"
    told = ours if result.held_out else "not run"
    return f"{ATTENTIONS[result.attention]} {told}, paper {number(result.paper)}"


def _x(value: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * value, 1)


def _line(x: float, top: float, end: float, bottom: float, class_: str) -> Element:
    return element("line", x1=x, y1=top, x2=end, y2=bottom, class_=class_)


def _text(x: float, y: float, text: str, class_: str | None = None, anchor: str | None = None) -> Element:
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def _mark(attention: str, x: float, y: float, class_: str) -> Element:
    """Return the point of an attention, by its shape: those of the leaderboard's page."""
    if attention == "hyla":
        return element("circle", cx=x, cy=y, r=6.5, class_=class_)
    corners = {"softmax": "m-6 -6h12v12h-12z", "linear": "m0 -8l8 14h-16z"}
    return element("path", d=f"M{x} {y}{corners[attention]}", class_=class_)


def _legend() -> Iterator[Element]:
    """Yield what the marks mean, in two lines that a phone can show."""
    for x, class_, words in ((12, "known", "known combinations"), (200, "held-out", "held-out combinations")):
        yield element("g", _mark("hyla", x, 15, class_), class_="legend")
        yield _text(x + 14, 20, words)
    yield from _paper(12, 6, 18, 41)
    yield _text(26, 46, "held-out combinations, as the paper reports")


def _paper(x: float, low: float, high: float, y: float) -> Iterator[Element]:
    """Yield the mark of a reported number, with a standard error either way."""
    yield element("rect", x=low, y=y - 11, width=round(high - low, 1), height=22, class_="band")
    yield _line(x, y - 11, x, y + 11, "paper")


def _head_of(board: Board) -> int:
    return _HEAD + _LABEL * max((bound.row for bound in _bounds(board)), default=0)


def _panel(title: str, board: Board, results: Sequence[_Result], top: float) -> Iterator[Element]:
    """Yield a panel: an axis from 0 to 1, what bounds the scores, and a row for each attention."""
    ours = any(result.held_out for result in results)
    yield _text(0, top + 22, title if ours else f"{title}, as reported", "title")
    first = top + _head_of(board) - 8
    floor = first + 8 + _ROW * len(results)
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        yield _line(_x(tick), first, _x(tick), floor, "grid")
        yield _text(_x(tick), floor + 20, f"{tick:g}", "tick", "middle")
    for bound in _bounds(board):
        yield from _draw_bound(bound, first, floor)
    for at, result in enumerate(results):
        yield from _row(result, first + _ROW * (at + 0.5) + 8)


class _Bound(NamedTuple):
    """A line across a panel, and in which row of labels its own stands, from below."""

    kind: str
    value: float
    label: str
    row: int


def _bounds(board: Board) -> list[_Bound]:
    """Return the ceiling on held-out combinations, and the lower lines; labels on either half are in rows."""
    split = board.content["primary_split"]
    ceiling = board.ceiling(split, board.metric)
    found = [("ceiling", ceiling.value, f"ceiling {ceiling.value:.3g}")] if ceiling else []
    lower = [line for line in board.lines(split) if line.is_lower]
    found += [("lower", line.value, f"{line.title} {line.value:.2g}") for line in reversed(lower)]
    rows = {True: 0, False: 0}
    bounds = []
    for kind, value, label in found:
        bounds.append(_Bound(kind, value, label, rows[value > 0.5]))
        rows[value > 0.5] += 1
    return bounds


def _draw_bound(bound: _Bound, top: float, floor: float) -> Iterator[Element]:
    x, y = _x(bound.value), top - _LABEL * bound.row
    yield _line(x, y, x, floor, bound.kind)
    is_right = bound.value > 0.5
    yield _text(x + 6 if is_right else x - 6, y - 7, bound.label, "bound", "end" if is_right else None)


def _row(result: _Result, y: float) -> Iterator[Element]:
    """Yield an attention: its name, and where it stands on known and on held-out combinations."""
    yield _text(0, y + 5, ATTENTIONS[result.attention], "name")
    if paper := result.paper:
        error = paper.error or 0
        yield from _paper(_x(paper.mean), _x(paper.mean - error), _x(paper.mean + error), y)
    row = element("g", class_=result.attention)
    known, ours = result.known, result.held_out
    if known and ours:
        row.append(_line(_x(ours.mean), y, _x(known.mean), y, "fall"))
        row.append(_mark(result.attention, _x(known.mean), y, "known"))
    if ours:
        error = ours.error or 0
        row.append(_line(_x(ours.mean - error), y, _x(ours.mean + error), y, "error"))
        row.append(_mark(result.attention, _x(ours.mean), y, "held-out"))
        row.append(_text(min(_x(ours.mean), _RIGHT - 62), y - 16, number(ours), anchor="middle"))
    elif result.paper:
        row.append(_text(_x(result.paper.mean), y - 16, number(result.paper), "none", "middle"))
    yield row
