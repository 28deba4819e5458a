"""HTML as trees: what strangers wrote becomes text and attributes, never markup."""

from collections.abc import Iterable
from importlib.resources import files
from xml.etree import ElementTree as ET

from sraven.core.ground.echo import shown
from sraven.core.ground.names import host

Child = ET.Element | str | None
"""What an element may hold; None is left out."""

_SPACES = "\t\n\r\u00a0"  # the last keeps a number and its unit together
_HOST_LETTERS = 28


def clean(text: str) -> str:
    """Return a text that can be encoded, and of which all can be seen: nothing turns the text around it."""
    return "".join(letter if letter in _SPACES else shown(letter) for letter in text)


def _append(parent: ET.Element, child: Child) -> None:
    if isinstance(child, str):
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + clean(child)
        else:
            parent.text = (parent.text or "") + clean(child)
    elif child is not None:
        parent.append(child)


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> ET.Element:
    """Return an element.

    Args:
        tag: its name, ``script`` and ``style`` excepted: their text isn't escaped; see `asset`.
        children: elements and texts, in their order.
        attributes: underscores stand for hyphens, and one at the end for nothing (``class_``).
            True gives an attribute without value; None and False leave it out.
    """
    assert tag not in ("script", "style"), "their text isn't escaped"
    made = ET.Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            text = "" if value is True else clean(str(value))
            made.set(name.rstrip("_").replace("_", "-") if name != "viewBox" else name, text)
    for child in children:
        _append(made, child)
    return made


def elements(tag: str, children: Iterable[Child], **attributes: str | None) -> list[ET.Element]:
    """Return an element for each child, all with the same attributes."""
    return [element(tag, child, **attributes) for child in children]


def asset(name: str) -> str:
    """Return the text of a file of this package that stands in the page as it is."""
    text = (files("sraven.core.page") / "assets" / name).read_text(encoding="utf-8").strip()
    assert "</" not in text, "it would end the element that holds it"
    return text


def inline(tag: str, text: str) -> ET.Element:
    """Return a ``script`` or ``style`` with the text of an `asset`, and of nothing else."""
    made = ET.Element(tag)
    made.text = text
    return made


def foreign(text: str, tag: str = "bdi", **attributes: str | None) -> ET.Element:
    """Return a stranger's text, apart from what surrounds it in direction too."""
    return element(tag, text, dir="auto", **attributes)


def link(text: str, address: str | None, label: str) -> ET.Element | None:
    """Return a link to a stranger's address, which shows its host; None if it isn't a plain address.

    Args:
        text: what to read.
        address: where it leads.
        label: what it leads to, for those who hear links one by one.
    """
    leads_to = host(address)
    if leads_to is None:
        return None
    # Whose a host is, its end says: github.com.evil.example is evil.example's.
    end = leads_to if len(leads_to) <= _HOST_LETTERS else "…" + leads_to[1 - _HOST_LETTERS :]
    return element(
        "a",
        text,
        element("span", end, class_="host"),
        href=address,
        rel="noopener noreferrer nofollow external",
        referrerpolicy="no-referrer",
        title=address,
        aria_label=f"{label}, at {leads_to}",
    )


def to_html(root: ET.Element) -> str:
    """Return a document's text."""
    return "<!doctype html>\n" + ET.tostring(root, encoding="unicode", method="html") + "\n"
