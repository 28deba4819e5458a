"""Instances as drawings for pages and notebooks: SVG that follows the reader's light or dark scheme."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, tostring

from sraven.core.palette import variables
from sraven.show import Puzzle, colour

_CELL, _GAP, _PAD, _LINE = 34, 12, 9, 27
_CAMEL = {"view_box": "viewBox"}
"""Attributes that aren't written in small letters with hyphens."""

_STYLE = (
    "text{font:600 19px system-ui,sans-serif;text-anchor:middle;fill:var(--text)}"
    ".panel{fill:none;stroke:var(--strong-line)}.asked{stroke:var(--accent);stroke-width:2.5}"
    ".plain{fill:var(--line)}.unknown{fill:var(--muted)}.coloured{fill:#15201f}"
    ".rule{font-size:17px;font-weight:400;text-anchor:start}"
)


class Drawing(str):
    """The text of an SVG file; a notebook shows it as the picture."""

    def _repr_svg_(self) -> str:
        return str(self)


def element(tag: str, *children: Element | str | None, **attributes: str | float | None) -> Element:
    """Return an element of a drawing.

    Args:
        tag: its name.
        children: elements, or a text; None is left out.
        attributes: underscores stand for hyphens, and one at the end for nothing (``class_``); None is
            left out.
    """
    names = {name: _CAMEL.get(name) or name.rstrip("_").replace("_", "-") for name in attributes}
    made = Element(tag, {names[name]: str(value) for name, value in attributes.items() if value is not None})
    made.text = next((child for child in children if isinstance(child, str)), None)
    made.extend(child for child in children if isinstance(child, Element))
    return made


def draw_puzzle(puzzle: Puzzle, answer: bool = False) -> Drawing:
    """Return a puzzle as a drawing: a text to be written into a file, which a notebook shows.

    Args:
        puzzle: of `sraven.show.make_puzzle`.
        answer: colours by feature, and shows the ninth panel and the rules. Without it nothing is coloured:
            where both stand side by side, a hue must not mean two things.
    """
    M = puzzle.panels.shape[1]
    width, height = M * _CELL + 2 * _PAD, _CELL + 2 * _PAD
    across, down = 3 * width + 2 * _GAP + 4, 3 * height + 2 * _GAP + 4
    panels = [
        _panel(puzzle, at, 2 + at % 3 * (width + _GAP), 2 + at // 3 * (height + _GAP), answer)
        for at in range(9)
    ]
    rules = list(_rules(puzzle, down + 12)) if answer else []
    down += len(puzzle.rules) * _LINE + 12 if answer else 0
    names = ("text", "muted", "strong-line", "line", "accent")
    style = element("style", variables(names) + _STYLE)
    title = element("title", f"{puzzle.split} {puzzle.index}: {_words(puzzle, answer)}")
    size = {"view_box": f"0 0 {across} {down}", "width": across, "height": down}
    drawing = element(
        "svg", title, style, *panels, *rules, xmlns="http://www.w3.org/2000/svg", **size, role="img"
    )
    return Drawing(tostring(drawing, encoding="unicode") + "\n")


def _words(puzzle: Puzzle, answer: bool) -> str:
    """Return a puzzle for those who can't see it."""
    panels = [" ".join(map(str, panel)) for panel in puzzle.panels.tolist()]
    return "; ".join(panels if answer else [*panels[:8], "?"])


def _hex(value: int, total: int) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour(value, total))


def _panel(puzzle: Puzzle, at: int, x: float, y: float, answer: bool) -> Element:
    """Return one of the nine panels at a place."""
    M, hidden = puzzle.panels.shape[1], at == 8 and not answer
    size = {"width": M * _CELL + 2 * _PAD, "height": _CELL + 2 * _PAD, "rx": 5}
    panel = element("g", element("rect", x=x, y=y, **size, class_="panel asked" if at == 8 else "panel"))
    for position in range(M):
        left, top = x + _PAD + position * _CELL, y + _PAD
        fill = _hex(int(puzzle.permutations[at % 3, position]), M) if answer else None
        square = {"x": left + 2, "y": top + 2, "width": _CELL - 4, "height": _CELL - 4, "rx": 3}
        panel.append(element("rect", **square, fill=fill, class_=None if answer else "plain"))
        text = "?" if hidden else str(puzzle.panels[at, position])
        kind = "coloured" if answer else "unknown" if hidden else None
        panel.append(element("text", text, x=left + _CELL / 2, y=top + _CELL / 2 + 7, class_=kind))
    return panel


def _rules(puzzle: Puzzle, top: float) -> Iterator[Element]:
    """Yield a line for the rule of each feature, in the feature's colour."""
    for feature, rule in enumerate(puzzle.rules.tolist()):
        y, known = top + feature * _LINE, puzzle.known_rules[rule]
        yield element("rect", x=2, y=y, width=18, height=18, rx=3, fill=_hex(feature, len(puzzle.rules)))
        rows = ", ".join(" ".join(map(str, row)) for row in puzzle.rows[feature].tolist())
        yield element("text", f"{known.name}: {rows}", x=30, y=y + 15, class_="rule")
