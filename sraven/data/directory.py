"""The directory of a dataset while it is written: resumed, published whole, replaced only by force.

The order in which it is published is that of `sraven.files.staging`. `datasets` doesn't look into
the staging directory; its journal has the shards that are done. The new card points at data that isn't
there yet, so that nothing loads in between.
"""

import json
import os
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from sraven.core.errors import OutputError
from sraven.core.escape import escape
from sraven.core.families import make_task
from sraven.core.spec import canonical_json
from sraven.data.manifest import (
    CARD,
    CROISSANT,
    PLAN_KEYS,
    check_plan,
    compact_counts,
    inner_cards,
    list_shards,
    read_manifest,
)
from sraven.files.files import replacing
from sraven.files.lock import LOCK
from sraven.files.staging import REPLACED, STAGING, Plan, StagedDirectory

JOURNAL = "journal.jsonl"

_ENTRY_KEYS = {"path", "start", "num_examples", "num_bytes", "sha256", "blocks", "tallies"}
_LONGEST_LINE = 1 << 24
_REPLACE = "choose another directory, or use --force to replace it"


def _same_dataset(plan: Plan, other: Plan) -> bool:
    return all(plan.get(key) == other.get(key) for key in PLAN_KEYS)


def differences(plan: Plan, other: Plan) -> list[str]:
    """Return the names of what differs between two plans: those of the configuration, if that does."""
    one, two = ({**each, **each.get("config", {})} for each in (plan, other))
    names = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    return [name for name in names if name not in ("config", "config_name")] or names


class DatasetDirectory(StagedDirectory):
    """The directory of a dataset while it is written."""

    PLAN, FILES = JOURNAL, (CARD, CROISSANT)

    def __init__(self, out: Path, plan: Plan, force: bool = False) -> None:
        super().__init__(out, plan, force)
        held = None if force else self.manifest_in(out) or self.staged_plan()
        if held and held.get("layout") == 1 and _same_dataset({**plan, "layout": 1}, held):
            self.plan = {**plan, "layout": 1}  # it is finished as it was begun

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """Return the manifest in a directory."""
        return read_manifest(folder)

    def refuse_other(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a directory that holds another dataset, or what would be in the way."""
        out, held, name = self.out, manifest["config_name"], self.plan["config_name"]
        if not self.force and not _same_dataset(self.plan, manifest):
            one, two = ({**each, **each["config"]} for each in (manifest, self.plan))
            differing = ", ".join(
                f"{name} {escape(one.get(name))}, not {escape(two.get(name))}"
                for name in differences(manifest, self.plan)
                if name in (*PLAN_KEYS, *manifest["config"])
            )
            raise OutputError(f"{out} holds another dataset, {held} ({differing}); {_REPLACE}")
        if name != held and (out / name).exists():
            raise OutputError(
                f"{out} holds {name}, which isn't part of its dataset; choose another directory"
            )

    def refuse_begun(self, staged: Plan | None) -> None:
        """Refuse a directory without manifest that holds other files, or another dataset unfinished."""
        if not self._is_ours(staged):
            raise OutputError(
                f"{self.out} isn't empty and holds no dataset of this benchmark; choose another directory"
            )
        if staged and not _same_dataset(self.plan, staged) and not self.force:
            raise OutputError(f"{self.out} holds another dataset, unfinished; {_REPLACE}")

    def _is_ours(self, staged: Plan | None) -> bool:
        """Return whether a directory without manifest holds nothing but what a writer of ours left."""
        present = {entry.name for entry in self.out.iterdir()}
        begun = {entry.name for entry in self.staging.iterdir()} if STAGING in present else set()
        if staged is None:
            return present <= {STAGING} and (LOCK in begun or not begun)
        replaced = self.manifest_in(self.staging / REPLACED)
        names = {each["config_name"] for each in (staged, replaced) if each}
        return present <= {STAGING, CARD, CROISSANT} | names

    def staged_plan(self) -> dict[str, Any] | None:
        """Return the first line of the journal; None if it can't be read."""
        try:
            with open(self.staging / JOURNAL, "rb") as journal:
                return dict(json.loads(journal.readline(_LONGEST_LINE)))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def begin(self) -> None:
        """Begin the journal."""
        Journal(self.out, self.plan)

    def data(self, plan: Plan) -> str:
        """Return the folder of the shards."""
        return str(plan["config_name"])

    def has_data(self, folder: Path, manifest: Mapping[str, Any]) -> bool:
        """Return whether shards lie in a directory, in the sizes that the manifest says, and their card."""
        try:
            return all((folder / path).is_file() for path in inner_cards(manifest)) and all(
                (folder / shard["path"]).stat().st_size == shard["num_bytes"]
                for split in manifest["splits"].values()
                for shard in split["shards"]
            )
        except (OSError, KeyError, TypeError, AttributeError):
            return False


def read_begun(out: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]] | None:
    """Return what was begun in a directory; None if nothing was, or all of it is published.

    Returns:
        the plan, and the journal's entries of the shards that are done, by path.

    Raises:
        OutputError: if its journal isn't one of a dataset.
        ConfigurationError: if it is of no task, or of splits that the task hasn't.
    """
    path = out / STAGING / JOURNAL
    if not path.is_file() or path.is_symlink():
        return None
    if (plan := DatasetDirectory(out, {}).staged_plan()) is None:
        return None
    check_plan(path, plan)
    shards = {shard.path for shard in list_shards(make_task(plan["config"]), plan)}
    with open(path, "rb") as lines:
        lines.readline(_LONGEST_LINE)
        return plan, _read_entries(lines, shards)


def _read_entries(lines: BinaryIO, shards: Container[str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the entries of a journal's lines, by path, up to one that was cut off by a kill.

    Those of some shards alone are kept, or of any for None: however long a journal is, it fills no memory.
    """
    entries: dict[str, dict[str, Any]] = {}
    while line := lines.readline(_LONGEST_LINE):
        try:
            entry = json.loads(line)
            if entry.keys() >= _ENTRY_KEYS and (shards is None or entry["path"] in shards):
                tallies = {name: compact_counts(tally) for name, tally in entry["tallies"].items()}
                entries[entry["path"]] = {**entry, "tallies": tallies}
        except (ValueError, AttributeError, TypeError, OverflowError, RecursionError):
            break
    return entries


def plain_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry as JSON has it."""
    return {**entry, "tallies": {name: each.tolist() for name, each in entry["tallies"].items()}}


class Journal:
    """The shards that are done: a line each in a file, after a first line with the plan."""

    def __init__(self, out: Path, plan: Plan) -> None:
        self._path = out / STAGING / JOURNAL
        self.entries: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            with open(self._path, "rb") as lines:
                lines.readline()
                self.entries = _read_entries(lines)
        with replacing(self._path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(canonical_json(plan) + "\n")
            file.writelines(json.dumps(plain_entry(each)) + "\n" for each in self.entries.values())

    def add(self, entry: dict[str, Any]) -> None:
        """Note that a shard is done and in its place, one at a time."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(plain_entry(entry)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.entries[entry["path"]] = entry
