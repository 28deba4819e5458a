"""The marks of entries: a shape for each family of attention, filled where a score is recomputed here.

Colours are the style sheet's.
"""

from collections.abc import Iterable
from typing import NamedTuple
from xml.etree.ElementTree import Element

from sraven.leaderboard.page.attention import METHOD_FAMILIES, family_of
from sraven.leaderboard.page.svg import element
from sraven.leaderboard.page.words import BADGES, FILLS
from sraven.leaderboard.standing import REFERENCE, Entry

SHAPES = {
    "hyla": "m-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0 -8.8 0z",  # circle
    "softmax": "m-3.9 -3.9h7.8v7.8h-7.8z",  # square
    "linear": "m0 -5.2l5.2 9h-10.4z",  # triangle
    "other": "m0 -5.6l5.6 5.6l-5.6 5.6l-5.6 -5.6z",  # diamond
    REFERENCE: "m-3.6 -3.6l7.2 7.2m0 -7.2l-7.2 7.2",  # cross
}
"""The outline of each family's mark, as SVG path data from its centre on."""


def _mark(outline: str, x: float, y: float, class_: str = "mark") -> Element:
    return element("path", d=f"M{x:.1f} {y:.1f}{outline}", class_=class_)


def arrow(x: float, y: float) -> Element:
    """Return the mark of what lies below a plot, on its edge."""
    return _mark("m0 -12v11m-4 -4l4 4l4 -4", x, y, "mark arrow")


def classes(entry: Entry) -> str:
    """Return how the style sheet knows the mark of an entry: its family, and its badge."""
    family = family_of(entry).key
    return f"point {family}" if family == REFERENCE else f"point {family} {entry.badge}"


def draw_shape(entry: Entry, x: float, y: float) -> list[Element]:
    """Return the mark of an entry at a place."""
    return [_mark(SHAPES[family_of(entry).key], x, y)]


def _picture(*parts: Element, class_: str) -> Element:
    mark = element("g", *parts, class_=class_)
    return element("svg", mark, class_="key", view_box="0 0 14 14", aria_hidden="true")


def draw_mark(entry: Entry) -> Element:
    """Return the mark of an entry as a small picture."""
    return _picture(*draw_shape(entry, 7, 7), class_=classes(entry))


class Key(NamedTuple):
    """A mark of the legend as a small picture, and what it means."""

    mark: Element
    title: str


def find_legend(entries: Iterable[Entry]) -> tuple[Key, ...]:
    """Return the families of some entries, then how their marks are filled."""
    found = {(family_of(entry).key, entry.badge) for entry in entries}
    families = {family for family, _ in found}
    badges = {badge for family, badge in found if family != REFERENCE}
    keys = [
        Key(_picture(_mark(SHAPES[family.key], 7, 7), class_=f"point {family.key}"), family.title)
        for family in METHOD_FAMILIES
        if family.key in families
    ]
    fills: dict[str, str] = {}
    for badge in BADGES:
        if badge in badges:
            fills.setdefault(FILLS[badge], badge)
    for title, badge in fills.items():
        keys.append(Key(_picture(_mark(SHAPES["hyla"], 7, 7), class_=f"point {badge}"), title))
    return tuple(keys)


def draw_project() -> Element:
    """Return the project's mark: eight panels that follow rules, and the ninth, which is to be predicted."""
    panels = [
        element("rect", x=2 + 10 * column, y=2 + 10 * row, width=8, height=8, rx=2, class_=f"shade-{shade}")
        for row, shades in enumerate(((1, 2, 3), (2, 3, 1), (3, 1)))
        for column, shade in enumerate(shades)
    ]
    asked = element("rect", x=23, y=23, width=6, height=6, rx=1.5, class_="asked")
    return element("svg", *panels, asked, class_="project", view_box="0 0 32 32", aria_hidden="true")
