"""The template of the page, and the one gate through which anything passes that isn't escaped.

Untrusted texts are made legible: every character is visible, and none changes the text around it.

Every value that the template writes is cleaned and escaped, but for our own style sheet and script.
"""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sraven.core.escape import escape, one_line
from sraven.leaderboard.standing import Entry, Replies, Standing

_PACKAGE = "sraven.leaderboard.page"
_ASSETS = files("sraven") / "assets", files(_PACKAGE) / "assets"


_OF_ENTRY = ("id", "method", "family", "description", "remark")
_OF_REPLIES = ("model", "revision", "harness", "harness_version")
_SPACES = "\t\n\r\u00a0"  # the last keeps a number and its unit together


def clean(text: str) -> str:
    """Return a text that can be encoded, with an escape for each character that can't be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter in _SPACES else escape(letter) for letter in text)


def _lines(found: Entry | Replies, names: Iterable[str]) -> dict[str, Any]:
    texts = {name: getattr(found, name) for name in names}
    return {name: one_line(text) for name, text in texts.items() if text}


def legible(standing: Standing) -> Standing:
    """Return a board with its entries' texts as they can be shown: lines in which all can be seen."""

    def readable(entry: Entry) -> Entry:
        replies = entry.replies and replace(entry.replies, **_lines(entry.replies, _OF_REPLIES))
        return replace(entry, replies=replies, **_lines(entry, _OF_ENTRY))

    return replace(standing, entries=tuple(map(readable, standing.entries)))


class Asset:
    """Files of this package, or the palette, that stand in the page as they are, one after another."""

    def __init__(self, *names: str) -> None:
        self.names = names

    @property
    def text(self) -> str:
        """What is in them."""
        found = [folder / name for name in self.names for folder in _ASSETS if (folder / name).is_file()]
        text = "\n\n".join(path.read_text(encoding="utf-8").strip() for path in found)
        assert "</" not in text and "<!--" not in text, "it would end the element that holds it"
        return text

    @property
    def source(self) -> str:
        """How a content security policy names it: by its hash."""
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def _as_it_stands(part: Asset) -> Markup:
    """Return our files as markup: nothing else is, and no string can be."""
    assert isinstance(part, Asset), f"{type(part).__name__} is escaped, or it isn't shown"
    return Markup(part.text)  # noqa: S704 -- the one place, and it isn't a text that came from elsewhere


def _written(value: object) -> object:
    """Return what the template writes of a value, before that is escaped."""
    assert value is not None, "the template says what stands for nothing"
    return clean(value) if type(value) is str else value


def render(name: str, **values: object) -> str:
    """Return what a template makes of some values.

    Args:
        name: of a file in the folder ``templates``.
        values: by the names that all templates know them by; one that is missing is an error.
    """
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["as_it_stands"] = _as_it_stands
    environment.globals.update(values)  # which macros of other templates see, too
    return environment.get_template(name).render()
