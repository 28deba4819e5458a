"""Checks of untrusted names, texts and addresses: what can't be seen, or hides where it leads, is refused."""

import os
import re
import unicodedata

from sraven.core.escape import MOST_MARKS, is_mark, is_seen

ADDRESS = (
    "an address that begins with https:// or http:// and a plain host, without user name, password and "
    "port, in ASCII (other letters of a host as xn--…, of the rest with %)"
)
"""The form of an address, in words."""

_ADDRESS = re.compile(r"https?://([A-Za-z0-9.-]+)(?:[/?#][A-Za-z0-9._~!$&()*+,;=:@/?#%\[\]-]*)?")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{4,253}}\Z)(?:{_LABEL}\.)+(?!\d)(?!0x){_LABEL}")


def _character_fault(character: str) -> str:
    called = unicodedata.name(character, "")
    return f"has U+{ord(character):04X}{f' ({called})' if called else ''}, which can't be seen"


def text_fault(text: str) -> str | None:
    """Return what is wrong with a text of several lines: what can't be seen, or marks that pile up."""
    if text and is_mark(text[0]):
        return "begins with a combining mark, which would sit on what stands before it"
    marks = 0
    for character in text:
        if not is_seen(character) and character not in "\n\t":
            return _character_fault(character)
        marks = marks + 1 if is_mark(character) else 0
        if marks > MOST_MARKS:
            return f"has more than {MOST_MARKS} combining marks in a row"
    seen = unicodedata.normalize("NFKC", text)
    return None if any(not c.isspace() and not is_mark(c) for c in seen) else "is blank"


def name_fault(name: str) -> str | None:
    """Return what is wrong with a name: as `text_fault`, and that it has more than a line."""
    breaks = next((character for character in name if character in "\n\t"), None)
    return _character_fault(breaks) if breaks else text_fault(name)


def host(address: str | None) -> str | None:
    """Return the host that an address leads to; None if it isn't an `ADDRESS`."""
    found = _ADDRESS.fullmatch(address or "")
    name = found[1].lower() if found else ""
    return name if _HOST.fullmatch(name) else None


def address_fault(address: str) -> str | None:
    """Return what is wrong with an address."""
    return None if host(address) else "isn't a plain address"


def address_in(place: str | os.PathLike[str]) -> str:
    """Return why a path can't be written to, if it is the address of a store; else an empty text."""
    text = os.fspath(place)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text)  # paths lose the second slash
    return f"{text} is an address ({scheme[1]}); name a folder here, and copy it there" if scheme else ""
