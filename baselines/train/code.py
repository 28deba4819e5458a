"""Code of the user's own that a run is trained with: a part of its identity, with a copy in its directory."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from baselines.config import RunConfig
from sraven.core.errors import OutputError
from sraven.core.spec import digest

FOLDER = "imported"
"""Of the copies, in a run's directory. Nothing there is ever run unless somebody names it."""

_imported: dict[str, bytes] = {}


def forget_code() -> None:
    """Begin anew, as another command does."""
    _imported.clear()


def add_code(path: Path) -> None:
    """Make a file that was imported a part of the runs that this process trains from now on."""
    _imported[path.name] = path.read_bytes()


def code_digest() -> str:
    """Return the digest of the contents of what was imported, in that order; nothing if nothing was."""
    return digest({"code": list(map(_sha256, _imported.values()))}) if _imported else ""


def code_files() -> dict[str, bytes]:
    """Return what was imported, by the place of its copy in a run's directory."""
    return {f"{FOLDER}/{name}": content for name, content in _imported.items()}


def imported_by(folder: Path) -> Mapping[str, str]:
    """Return what a run was trained with: SHA-256 of its copies, by name."""
    return {path.name: _sha256(path.read_bytes()) for path in sorted((folder / FOLDER).glob("*.py"))}


def check_code(folder: Path, config: RunConfig) -> None:
    """Refuse a run that was trained with other code than was imported here.

    Raises:
        OutputError: if so; it names what differs.
    """
    if config.code in ("", code_digest()):
        return
    here = {name: _sha256(content) for name, content in _imported.items()}
    copies = imported_by(folder)
    changed = ", ".join(name for name, found in copies.items() if here.get(name) != found) or "its order"
    again = " ".join(f"--import {folder / FOLDER / name}" for name in copies)
    raise OutputError(
        f"{folder} was trained with code that isn't what is imported here ({changed} differs), so its "
        f"numbers would be another network's; read its copy, then {again or '--import FILE.py'}"
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
