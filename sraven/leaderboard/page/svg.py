"""Drawings as trees: whatever text comes into them is text or an attribute, never markup."""

from xml.etree.ElementTree import Element, tostring

from sraven.leaderboard.page.legible import clean

_CAMEL = {"view_box": "viewBox"}
"""Attributes that aren't written in small letters with hyphens."""


def element(tag: str, *children: Element | str | None, **attributes: str | float | None) -> Element:
    """Return an element of a drawing.

    Args:
        tag: its name.
        children: elements, the first of which may be a text; None is left out.
        attributes: underscores stand for hyphens, and one at the end for nothing (``class_``); None is
            left out.
    """
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            made.set(_CAMEL.get(name) or name.rstrip("_").replace("_", "-"), clean(str(value)))
    for child in children:
        if isinstance(child, str):
            assert not made.text and not len(made), "a text comes first"
            made.text = clean(child)
        elif child is not None:
            made.append(child)
    return made


def to_text(drawing: Element) -> str:
    """Return a drawing as it stands in a page, with all texts and attributes escaped."""
    return tostring(drawing, encoding="unicode")
