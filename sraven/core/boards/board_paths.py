"""Where the files of boards are: their names can be had from here at once, as nothing is compiled or read."""

from importlib.resources import files
from typing import Any

from sraven.core.tasks.families import FAMILIES, find_family


def board_paths() -> dict[str, Any]:
    """Return the files of all boards, by the board's name."""
    folders = [files(find_family(family).package) / "boards" for family in FAMILIES]
    found = {path.name: path for folder in folders if folder.is_dir() for path in folder.iterdir()}
    return {name.removesuffix(".json"): found[name] for name in sorted(found) if name.endswith(".json")}
