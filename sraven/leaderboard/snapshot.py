"""The standing as the package brings it, for those who have no checkout to compute it from.

Its file holds what is filed, in the form of `sraven.leaderboard.standing.Leaderboard.content`. What
papers report isn't in it: that stands in the files of the boards. `make snapshot` writes it, and a test
compares it with what is filed.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.files.files import compact_json, write_text
from sraven.leaderboard.standing import Combinations, Entry, Leaderboard, Replies, SplitScore

SNAPSHOT = "snapshot/standing.json"
"""The file, within this package."""


def make_snapshot(found: Leaderboard) -> dict[str, Any]:
    """Return the file's content: what is filed, as JSON values.

    Args:
        found: the standing of all boards.

    Raises:
        ConfigurationError: if something was left out of it, or isn't filed.
    """
    if found.faults:
        fault = found.faults[0]
        raise ConfigurationError(f"a snapshot has all that is filed, but {fault.place} is left out; mend it")
    if found.own:
        raise ConfigurationError(f"a snapshot has what is filed alone; leave {found.own[0]} out")
    filed = tuple(
        replace(each, entries=tuple(entry for entry in each.entries if entry.is_filed))
        for each in found.standings
    )
    content = Leaderboard(tuple(each for each in filed if each.entries)).content
    del content["left_out"]
    return content


def write_snapshot(path: Path, found: Leaderboard) -> None:
    """Write the file again, whole or not at all; for errors see `make_snapshot`."""
    content = make_snapshot(found)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, compact_json(content))


def _frozen(value: Any) -> Any:
    """Return JSON values with tuples in place of lists."""
    if isinstance(value, dict):
        return {name: _frozen(content) for name, content in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _entry(content: Mapping[str, Any]) -> Entry:
    """Return a row from its JSON values."""
    found = _frozen(content)
    of_replies, combinations = found["replies"], found["combinations"]
    parts = {
        "combinations": combinations and Combinations(**combinations),
        "replies": of_replies and Replies(**of_replies),
        "by_split": {split: SplitScore(**score) for split, score in found["by_split"].items()},
        "errors": content["errors"],
    }
    return Entry(**{**found, **parts})


def parse_snapshot(data: bytes) -> dict[str, tuple[str, tuple[Entry, ...]]]:
    """Return by board its digest and its filed entries, from the bytes of a snapshot of ours."""
    content = json.loads(data)
    return {
        each["board"]: (each["digest"], tuple(map(_entry, each["entries"]))) for each in content["boards"]
    }


@cache
def packaged() -> Mapping[str, tuple[str, tuple[Entry, ...]]]:
    """Return what the package's own snapshot has; for the form see `parse_snapshot`."""
    return parse_snapshot((files("sraven.leaderboard") / SNAPSHOT).read_bytes())
