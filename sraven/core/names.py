"""Checks of untrusted names, texts and addresses, and of names that look alike.

What can't be seen, or hides where it leads, is refused. What only looks like something else gets a note:
a Greek letter or a Cyrillic name is honest, and no list of look-alikes is complete.
"""

import os
import re
import unicodedata
from collections.abc import Sequence

from sraven.core.escape import MOST_MARKS, is_mark, is_seen

ADDRESS = (
    "an address that begins with https:// or http:// and a plain host, without user name, password and "
    "port, in ASCII (other letters of a host as xn--…, of the rest with %)"
)
"""The form of an address, in words."""

_ADDRESS = re.compile(r"https?://([A-Za-z0-9.-]+)(?:[/?#][A-Za-z0-9._~!$&()*+,;=:@/?#%\[\]-]*)?")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{4,253}}\Z)(?:{_LABEL}\.)+(?!\d)(?!0x){_LABEL}")

_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Scripts with letters that look alike."""

_PAIRS = (
    "АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT ХX УY ҮY аa гr еe ѕs іi јj кk оo рp сc хx уy ԁd ԛq ԝw һh ӏl пn "
    "ѵv ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX αa γy ιi κk νv οo ρp τt υu χx օo սu ոn հh ցg ıi 0o 1l Il |l"
)
_ALIKE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
"""Letters and digits, with the Latin letters that they are read as: the commonest, not all."""


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
    """Return why a place to write to is none, if it is the address of a store; else an empty text."""
    text = os.fspath(place)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text)  # paths lose the second slash
    return f"{text} is an address ({scheme[1]}); name a folder here, and copy it there" if scheme else ""


def _script(letter: str) -> str:
    first = unicodedata.name(letter, "").split(" ", 1)[0]
    return first if first in _SCRIPTS and letter.isalpha() else ""


def mixed_scripts(name: str) -> tuple[str, ...]:
    """Return the scripts that a single word of a name mixes, such as ``("Cyrillic", "Latin")``."""
    for word in re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", name)):
        scripts = sorted({_script(letter) for letter in word} - {""})
        if len(scripts) > 1:
            return tuple(script.capitalize() for script in scripts)
    return ()


def skeleton(name: str) -> str:
    """Return what is left of a name for the eye: names with the same skeleton look alike.

    Without marks, spaces, case and the kind of a dash, with `_ALIKE` letters the same.
    """
    whole = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name))
    kept = "".join(
        "-" if unicodedata.category(c) == "Pd" else c for c in whole if is_seen(c) and not is_mark(c)
    )
    alike = kept.translate(_ALIKE).casefold().translate(_ALIKE).replace("i", "l")
    return "".join(alike.split()).replace("rn", "m").replace("vv", "w")


def name_notes(names: Sequence[str]) -> list[str]:
    """Return, for each name in a list, what a reader should know of it; nothing for most.

    Args:
        names: the names, the first given first: of two that look alike, the later one is remarked on.
    """
    first: dict[str, str] = {}
    notes = []
    for name in names:
        scripts, look = mixed_scripts(name), skeleton(name)
        remarks = [f"its name mixes {' and '.join(scripts)} letters in a word"] if scripts else []
        if look in first:
            remarks.append(f"its name {'is' if first[look] == name else 'looks like'} that of another entry")
        first.setdefault(look, name)
        notes.append("; ".join(remarks))
    return notes
