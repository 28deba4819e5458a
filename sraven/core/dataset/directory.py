"""The life of a dataset directory: staged, resumed, published whole, replaced only by force.

Everything is made in ``<out>/.sraven-partial``, which `datasets` doesn't look into, with a journal of the
shards that are done. Publishing moves it into place in an order that leaves, at any moment, either
nothing that loads or a whole dataset: an old manifest goes first and then the old data, the new
card points at data that isn't there yet, the data arrives in one rename, the manifest last. What is
replaced is kept until then, so that whoever is killed in between leaves what the same command finishes.
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sraven.core.ground.echo import shown
from sraven.core.ground.errors import OutputError
from sraven.core.ground.spec import canonical_json
from sraven.core.system.files import move_into_place, sync_directory, write_text
from sraven.core.system.lock import LOCK, Lock
from sraven.core.system.staging import check_staging, clear, lock_staging
from sraven.core.untrusted.read import read_file
from sraven.core.untrusted.strict_json import parse_json

LAYOUT = 1
"""Version of the directory's layout and of the manifest."""

MANIFEST, CARD, CROISSANT = "manifest.json", "README.md", "croissant.json"
STAGING, JOURNAL, REPLACED = ".sraven-partial", "journal.jsonl", "replaced"

SIZE_LIMIT = 1 << 40
"""Most instances of a split in one dataset."""

MANIFEST_LIMIT = 1 << 26
"""Most bytes of a manifest."""

PLAN_KEYS = ("layout", "config", "config_name", "file_format", "sizes")
"""What tells datasets apart; a plan has the version of pyarrow besides, which shapes the bytes."""

_ENTRY_KEYS = {"path", "start", "num_examples", "num_bytes", "sha256", "blocks", "tallies"}
_LONGEST_LINE = 1 << 20

Plan = Mapping[str, Any]


def load_manifest(out: Path) -> tuple[dict[str, Any], bytes]:
    """Return the manifest of a dataset directory, and the bytes that it was read from.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    path = out / MANIFEST
    if not os.path.lexists(path):
        unfinished = "unfinished: run the same generate command again, and it goes on"
        state = unfinished if (out / STAGING).is_dir() else "not a dataset of this benchmark"
        raise OutputError(f"{out} has no {MANIFEST}; it is {state}")
    if path.is_symlink():
        raise OutputError(f"{path} is a link, which may lead anywhere; put there the file it leads to")
    try:
        data = read_file(out, MANIFEST, MANIFEST_LIMIT)
        manifest = parse_json(data)
        if not isinstance(manifest, dict):
            raise ValueError("it is no object")
        layout, name = manifest["layout"], manifest["config_name"]
        missing = [key for key in (*PLAN_KEYS, "splits", "columns") if key not in manifest]
    except (ValueError, KeyError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else shown(str(error))
        raise OutputError(
            f"{path} can't be read as a manifest of this benchmark ({problem}); delete {out} to start anew"
        ) from None
    if type(layout) is not int or layout != LAYOUT:
        raise OutputError(f"{path} has layout {shown(layout)}; this version reads layout {LAYOUT}")
    if missing or not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]{0,199}", name):
        raise OutputError(f"{path} lacks a valid {', '.join(missing) or 'config_name'}")
    _check_sizes(path, manifest["sizes"])
    return manifest, data


def _check_sizes(path: Path, sizes: Any) -> None:
    if not isinstance(sizes, dict) or not sizes:
        raise OutputError(f"{path} lacks valid sizes")
    for split, size in sizes.items():
        if type(size) is not int or not 0 < size <= SIZE_LIMIT:
            raise OutputError(
                f"{path} says that split {shown(split)} has {shown(size)} instances; "
                f"expected a number from 1 to {SIZE_LIMIT:,}"
            )


def read_manifest(out: Path) -> dict[str, Any]:
    """Return the manifest of a dataset directory.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    return load_manifest(out)[0]


def _same_dataset(plan: Plan, other: Plan) -> bool:
    return all(plan[key] == other.get(key) for key in PLAN_KEYS)


def _staged_plan(out: Path) -> dict[str, Any] | None:
    """Return the plan that the staging directory was made for; None if that can't be read."""
    try:
        with open(out / STAGING / JOURNAL, "rb") as journal:
            return dict(json.loads(journal.readline(_LONGEST_LINE)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def _manifest_in(folder: Path) -> dict[str, Any] | None:
    """Return the manifest in a directory of the staging; None if there is none that can be read."""
    try:
        return read_manifest(folder)
    except OutputError:
        return None


def _all_is_written(out: Path) -> dict[str, Any] | None:
    """Return the manifest of a dataset of which only publishing is left, or some of that; else None."""
    staging = out / STAGING
    manifest = _manifest_in(staging)
    if manifest is None:
        return None
    data = staging if (staging / manifest["config_name"]).exists() else out
    return manifest if _has_shards(data, manifest) else None


def _is_complete(out: Path, manifest: Mapping[str, Any]) -> bool:
    """Tell whether all files of a dataset are there, the shards in the size that the manifest says."""
    return all((out / name).is_file() for name in (CARD, CROISSANT)) and _has_shards(out, manifest)


def _has_shards(folder: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return all(
            (folder / shard["path"]).stat().st_size == shard["num_bytes"]
            for split in manifest["splits"].values()
            for shard in split["shards"]
        )
    except (OSError, KeyError, TypeError, AttributeError):
        return False


def _is_staging(out: Path, plan: Plan | None) -> bool:
    """Tell whether a directory without manifest holds nothing but what a writer of ours left."""
    present = {entry.name for entry in out.iterdir()}
    begun = {entry.name for entry in (out / STAGING).iterdir()} if STAGING in present else set()
    if plan is None:
        return present <= {STAGING} and (LOCK in begun or not begun)
    replaced = _manifest_in(out / STAGING / REPLACED)
    names = {each["config_name"] for each in (plan, replaced) if each}
    return present <= {STAGING, CARD, CROISSANT} | names


def _check_in_the_way(out: Path, plan: Plan, force: bool) -> bool:
    """Refuse a directory that isn't ours to write to; tell whether the dataset is finished."""
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another directory")
    if not out.exists() or not any(out.iterdir()):
        return False
    check_staging(out / STAGING)
    replace = "choose another directory, or use --force to replace it"
    if (out / MANIFEST).exists():
        manifest = read_manifest(out)
        if not force and not _same_dataset(plan, manifest):
            raise OutputError(f"{out} holds another dataset ({manifest['config_name']}); {replace}")
        name = plan["config_name"]
        if name != manifest["config_name"] and (out / name).exists():
            raise OutputError(
                f"{out} holds {name}, which isn't part of its dataset; choose another directory"
            )
        if not force and not _is_complete(out, manifest):
            raise OutputError(f"{out} is damaged: a file is missing or cut off; use --force to rewrite it")
        return not force
    staged = _staged_plan(out)
    if not _is_staging(out, staged):
        raise OutputError(
            f"{out} isn't empty and holds no dataset of this benchmark; choose another directory"
        )
    if staged and not _same_dataset(plan, staged) and not force:
        raise OutputError(f"{out} holds another dataset, unfinished; {replace}")
    return False


def prepare(out: Path, plan: Plan, force: bool) -> Lock | None:
    """Make the staging directory ready for a plan; nothing is created before all is checked.

    Returns:
        None if this very dataset is finished; else a lock to release when the work is done.

    Raises:
        OutputError: if the directory can't be written, is being written, or holds something else.
    """
    staging = out / STAGING
    try:
        if _check_in_the_way(out, plan, force) and not staging.exists():
            return None
        lock = lock_staging(out, staging)
        try:
            # Again, and this time nobody else changes it.
            if not _check_in_the_way(out, plan, force) and not _take_up(out, plan, force):
                return lock
            clear(staging, MANIFEST, JOURNAL)
        except BaseException:
            lock.release()
            raise
        lock.release()
    except OSError as error:
        raise OutputError(
            f"{out} can't be written ({error.strerror or error}); mend that, or choose another directory"
        ) from None
    return None


def _take_up(out: Path, plan: Plan, force: bool) -> bool:
    """Keep of the staging directory what is of use; tell whether the dataset is finished by that."""
    staging, written = out / STAGING, _all_is_written(out)
    if _staged_plan(out) != plan:
        if written and not (out / MANIFEST).exists():
            # Of another dataset, and what it replaces is taken apart: without it there would be none.
            publish(out, written)
            if _check_in_the_way(out, plan, force):
                return True
        clear(staging, MANIFEST, JOURNAL)
        Journal(out, plan)
    elif not written:
        (staging / MANIFEST).unlink(missing_ok=True)
    if not (staging / MANIFEST).exists():  # else publishing was cut short
        (staging / plan["config_name"]).mkdir(exist_ok=True)
    return False


class Journal:
    """The shards that are done: a line each in a file, after a first line with the plan."""

    def __init__(self, out: Path, plan: Plan) -> None:
        self._path = out / STAGING / JOURNAL
        self._lock = threading.Lock()
        self.entries: dict[str, dict[str, Any]] = {}
        lines = self._path.read_bytes().splitlines()[1:] if self._path.exists() else []
        for line in lines:
            try:
                entry = json.loads(line)
                if entry.keys() >= _ENTRY_KEYS:
                    self.entries[entry["path"]] = entry
            except (ValueError, AttributeError, TypeError, RecursionError):
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
    staging, name = out / STAGING, plan["config_name"]
    replaced = staging / REPLACED
    if (staging / name).exists():
        replaced.mkdir(exist_ok=True)
        if (out / MANIFEST).exists():
            os.replace(out / MANIFEST, replaced / MANIFEST)  # which says what else is to go
            sync_directory(out)
        old = _manifest_in(replaced)
        for gone in {name, old["config_name"]} if old else {name}:
            if (out / gone).exists():
                shutil.rmtree(replaced / gone, ignore_errors=True)
                os.replace(out / gone, replaced / gone)
        for card in (CARD, CROISSANT):
            if (staging / card).exists():
                move_into_place(staging / card, out / card)
        os.replace(staging / name, out / name)
        sync_directory(out)
    if (staging / MANIFEST).exists():
        move_into_place(staging / MANIFEST, out / MANIFEST)
    clear(staging, MANIFEST, JOURNAL)
