"""Paths of the files of boards, known without compiling or reading anything."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from sraven.core.families import FAMILIES, find_family


def board_paths() -> dict[str, Any]:
    """Return the files of all boards, by the board's name."""
    folders = [files(find_family(family).package) / "boards" for family in FAMILIES]
    found = {path.name: path for folder in folders if folder.is_dir() for path in folder.iterdir()}
    return {name.removesuffix(".json"): found[name] for name in sorted(found) if name.endswith(".json")}


def read_beside(name: str) -> Iterator[bytes]:
    """Yield the files of a name that lie beside the boards, at most one for each family."""
    for family in FAMILIES:
        path = files(find_family(family).package) / "boards" / name
        if path.is_file():
            yield path.read_bytes()
