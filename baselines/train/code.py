"""Code of the user's own that a run is trained with: a part of its identity, with a copy in its directory."""

import hashlib
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

from baselines.config import RunConfig
from sraven.core.errors import OutputError
from sraven.core.spec import digest

FOLDER = "imported"
"""Of the copies, in a run's directory. Nothing there is ever run unless somebody names it."""

_MOST_ORDERED = 6
"""Copies whose order is looked for; of more there are too many orders."""

_imported: dict[str, bytes] = {}


def forget_code() -> None:
    """Begin anew, as another command does."""
    _imported.clear()


def add_code(path: Path) -> None:
    """Make a file that was imported a part of the runs that this process trains from now on."""
    _imported[path.name] = path.read_bytes()


def code_digest() -> str:
    """Return the digest of the contents of what was imported, in that order; nothing if nothing was."""
    return _digest(list(map(_sha256, _imported.values()))) if _imported else ""


def code_files() -> dict[str, bytes]:
    """Return what was imported, by the place of its copy in a run's directory."""
    return {f"{FOLDER}/{name}": content for name, content in _imported.items()}


def imported_by(folder: Path, config: RunConfig) -> Mapping[str, str]:
    """Return what a run was trained with: SHA-256 of its copies, by name, in the order of the imports."""
    found = {path.name: _sha256(path.read_bytes()) for path in sorted((folder / FOLDER).glob("*.py"))}
    orders = permutations(found) if len(found) <= _MOST_ORDERED else ()
    return next(
        (
            {name: found[name] for name in order}
            for order in orders
            if _digest([found[name] for name in order]) == config.code
        ),
        found,
    )


def check_code(folder: Path, config: RunConfig) -> None:
    """Refuse a run that was trained with other code than was imported here.

    Raises:
        OutputError: if so; it names what differs.
    """
    if config.code in ("", code_digest()):
        return
    here = {name: _sha256(content) for name, content in _imported.items()}
    copies = imported_by(folder, config)
    changed = ", ".join(name for name, found in copies.items() if here.get(name) != found) or "its order"
    again = " ".join(f"--import {folder / FOLDER / name}" for name in copies)
    raise OutputError(
        f"{folder} was trained with code that isn't what is imported here ({changed} differs), so its "
        f"numbers would be another network's; read its copy, then {again or '--import FILE.py'}"
    )


def _digest(contents: list[str]) -> str:
    return digest({"code": contents})


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
