"""The life of a dataset directory: staged, resumed, published whole, replaced only by force.

Everything is made in ``<out>/.partial``, which `datasets` doesn't look into, with a journal of the
shards that are done. Publishing moves it into place in an order that leaves, at any moment, either
nothing that loads or a whole dataset: an old manifest goes first and then the old data, the new
card points at data that isn't there yet, the data arrives in one rename, the manifest last.
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sraven.core.errors import OutputError
from sraven.core.files import move_into_place, sync_directory, write_text
from sraven.core.spec import canonical_json

LAYOUT = 1
"""Version of the directory's layout and of the manifest."""

MANIFEST, CARD, CROISSANT = "manifest.json", "README.md", "croissant.json"
STAGING, JOURNAL, REPLACED = ".partial", "journal.jsonl", "replaced"

PLAN_KEYS = ("layout", "config", "config_name", "file_format", "sizes")
"""What tells datasets apart; a plan has the version of pyarrow besides, which shapes the bytes."""

Plan = Mapping[str, Any]


def read_manifest(out: Path) -> dict[str, Any]:
    """Return the manifest of a dataset directory.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    path = out / MANIFEST
    if not path.is_file():
        unfinished = "unfinished: run the same generate command again, and it goes on"
        state = unfinished if (out / STAGING).is_dir() else "not a dataset of this benchmark"
        raise OutputError(f"{out} has no {MANIFEST}; it is {state}")
    try:
        manifest = dict(json.loads(path.read_bytes()))
        layout, name = manifest["layout"], manifest["config_name"]
        missing = [key for key in (*PLAN_KEYS, "splits", "columns") if key not in manifest]
    except (OSError, ValueError, KeyError, TypeError):
        raise OutputError(f"{path} can't be read as a manifest of this benchmark") from None
    if layout != LAYOUT:
        raise OutputError(f"{path} has layout {layout!r}; this version reads layout {LAYOUT}")
    if missing or not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
        raise OutputError(f"{path} lacks a valid {', '.join(missing) or 'config_name'}")
    return manifest


def _same_dataset(plan: Plan, other: Plan) -> bool:
    return all(plan[key] == other.get(key) for key in PLAN_KEYS)


def _staged_plan(out: Path) -> dict[str, Any] | None:
    """Return the plan that the staging directory was made for; None if that can't be read."""
    try:
        with open(out / STAGING / JOURNAL) as journal:
            return dict(json.loads(journal.readline()))
    except (OSError, ValueError, TypeError):
        return None


def _is_complete(out: Path, manifest: Mapping[str, Any]) -> bool:
    """Tell whether every shard of the manifest is there in its size."""
    return all(
        (out / shard["path"]).is_file() and (out / shard["path"]).stat().st_size == shard["num_bytes"]
        for split in manifest["splits"].values()
        for shard in split["shards"]
    )


def _check_in_the_way(out: Path, plan: Plan, force: bool) -> bool:
    """Refuse a directory that isn't ours to write to; tell whether the dataset is finished."""
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another directory")
    present = {entry.name for entry in out.iterdir()} if out.exists() else set()
    replace = "choose another directory, or use --force to replace it"
    if MANIFEST in present:
        manifest = read_manifest(out)
        if force:
            return False
        if not _same_dataset(plan, manifest):
            raise OutputError(f"{out} holds another dataset ({manifest['config_name']}); {replace}")
        if not _is_complete(out, manifest):
            raise OutputError(
                f"{out} is damaged: a shard is missing or cut off; use --force to write it anew"
            )
        return True
    if STAGING in present:
        staged = _staged_plan(out)
        if staged and not _same_dataset(plan, staged) and not force:
            raise OutputError(f"{out} holds another dataset, unfinished; {replace}")
    elif present:
        raise OutputError(
            f"{out} isn't empty and holds no dataset of this benchmark; choose another directory"
        )
    return False


def prepare(out: Path, plan: Plan, force: bool) -> bool:
    """Make the staging directory ready for a plan; nothing is created before all is checked.

    Returns:
        Whether there is anything to do: False if this very dataset is finished.

    Raises:
        OutputError: if the directory can't be written, or holds something else.
    """
    staging = out / STAGING
    try:
        if _check_in_the_way(out, plan, force):
            shutil.rmtree(staging, ignore_errors=True)
            return False
        if force or _staged_plan(out) != plan:
            shutil.rmtree(staging, ignore_errors=True)
        if not (staging / MANIFEST).exists():  # else all is written, and publishing was cut short
            (staging / plan["config_name"]).mkdir(parents=True, exist_ok=True)
        if not os.access(staging, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise OutputError(f"{out} can't be written ({error.strerror}); choose another directory") from None
    return True


class Journal:
    """The shards that are done: a line each in a file, after a first line with the plan."""

    def __init__(self, out: Path, plan: Plan) -> None:
        self._path = out / STAGING / JOURNAL
        self._lock = threading.Lock()
        self.entries: dict[str, dict[str, Any]] = {}
        lines = self._path.read_text().splitlines()[1:] if self._path.exists() else []
        for line in lines:
            try:
                entry = json.loads(line)
                self.entries[entry["path"]] = entry
            except (ValueError, KeyError, TypeError):
                break  # cut off: the last line of a run that was killed
        kept = [canonical_json(plan), *(json.dumps(entry) for entry in self.entries.values())]
        write_text(self._path, "".join(line + "\n" for line in kept))

    def add(self, entry: dict[str, Any]) -> None:
        """Note that a shard is done and in its place."""
        with self._lock:
            with open(self._path, "a") as file:
                file.write(json.dumps(entry) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self.entries[entry["path"]] = entry


def publish(out: Path, plan: Plan) -> None:
    """Move a finished dataset from the staging directory into place; may be called again."""
    staging = out / STAGING
    if (staging / plan["config_name"]).exists():
        names = {plan["config_name"]}
        if (out / MANIFEST).exists():
            names.add(read_manifest(out)["config_name"])
            (out / MANIFEST).unlink()
            sync_directory(out)
        for name in names:
            if (out / name).exists():
                (staging / REPLACED).mkdir(exist_ok=True)
                shutil.rmtree(staging / REPLACED / name, ignore_errors=True)
                os.replace(out / name, staging / REPLACED / name)
        for name in (CARD, CROISSANT):
            if (staging / name).exists():
                move_into_place(staging / name, out / name)
        os.replace(staging / plan["config_name"], out / plan["config_name"])
        sync_directory(out)
    if (staging / MANIFEST).exists():
        move_into_place(staging / MANIFEST, out / MANIFEST)
    shutil.rmtree(staging, ignore_errors=True)
