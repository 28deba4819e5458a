"""The life of a directory of tokens: staged, resumed, published whole, replaced only by force.

All is made in ``<out>/.sraven-partial``. Publishing moves it into place in an order that leaves, at any
moment, either no manifest or a whole directory, and that can be taken up again.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from baselines.lm.shards import ARRAYS, path_of
from sraven.core.dataset.directory import MANIFEST, STAGING
from sraven.core.ground.errors import OutputError
from sraven.core.system.files import move_into_place, sync_directory, write_json
from sraven.core.system.lock import LOCK, Lock
from sraven.core.system.staging import check_staging, clear, lock_staging

LAYOUT = 1
"""Version of the directory's layout and of the manifest."""

KIND = "tokens"
"""Tells these manifests from those of datasets."""

PLAN, SHARDS, ENTRIES, TOKENIZER = "plan.json", "shards", "entries", "tokenizer.model"
_REPLACED = "replaced"

Plan = Mapping[str, Any]


def read_manifest(out: Path) -> dict[str, Any]:
    """Return the manifest of a directory of tokens.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    path = out / MANIFEST
    if not path.is_file():
        unfinished = "unfinished: run the same `sraven c4 prepare` again, and it goes on"
        state = unfinished if (out / STAGING).is_dir() else "`sraven c4 prepare` makes one"
        raise OutputError(f"{out} has no {MANIFEST}; {state}")
    try:
        manifest = json.loads(path.read_bytes())
        kind, layout, lacks = (
            manifest["kind"],
            manifest["layout"],
            {"plan", "shards", "tokenizer"} - set(manifest),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise OutputError(f"{path} isn't the manifest of a directory of tokens; choose another") from None
    if kind != KIND or layout != LAYOUT or lacks:
        raise OutputError(
            f"{path} has kind {kind!r}, layout {layout!r}; this version reads {KIND!r}, layout {LAYOUT}"
        )
    return dict(manifest)


def differences(plan: Plan, other: Plan) -> list[str]:
    """Return the names of what differs between two plans."""
    return sorted(key for key in {*plan, *other} if plan.get(key) != other.get(key))


def _is_complete(out: Path, manifest: Mapping[str, Any]) -> bool:
    """Tell whether all files are there, in the size that the manifest says."""
    return (out / TOKENIZER).is_file() and _has_shards(out, manifest)


def _has_shards(folder: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return all(
            path_of(folder / SHARDS / shard["name"], array).stat().st_size == shard["file_bytes"][array]
            for shard in manifest["shards"]
            for array in ARRAYS
        )
    except (OSError, KeyError, TypeError):
        return False


def _all_is_written(out: Path) -> bool:
    """Tell whether only publishing is left, or some of that."""
    staging = out / STAGING
    try:
        manifest = read_manifest(staging)
    except OutputError:
        return False
    return _has_shards(staging if (staging / SHARDS).exists() else out, manifest)


def _is_finished(out: Path, plan: Plan, force: bool) -> bool:
    """Refuse a directory that isn't ours to write to; tell whether all is done."""
    replace = "choose another directory, or use --force to replace it"
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another directory")
    if not out.exists() or not any(out.iterdir()):
        return False
    check_staging(out / STAGING)
    if (out / MANIFEST).exists():
        manifest = read_manifest(out)
        different = [name for name in differences(plan, manifest["plan"]) if name != "sentencepiece"]
        if not force and different:
            raise OutputError(f"{out} holds other tokens ({', '.join(different)} differ); {replace}")
        if not force and not _is_complete(out, manifest):
            raise OutputError(f"{out} is damaged: a file is missing or cut off; use --force to rewrite it")
        return not force
    begun = out / STAGING
    left = set(os.listdir(begun)) if begun.is_dir() else None
    if left is None or (left and not left & {PLAN, LOCK}):
        raise OutputError(f"{out} isn't empty and holds no tokens; choose another directory")
    staged = _staged_plan(out)
    if not force and staged and (different := differences(plan, staged)):
        raise OutputError(f"{out} holds other tokens, unfinished ({', '.join(different)} differ); {replace}")
    return False


def _staged_plan(out: Path) -> dict[str, Any] | None:
    """Return the plan that was begun; None if there is none."""
    try:
        return dict(json.loads((out / STAGING / PLAN).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def open_staging(out: Path, plan: Plan, force: bool) -> Lock | None:
    """Make the staging directory ready for a plan; nothing is created before all is checked.

    Returns:
        None if all is done already; else a lock to release when the work is done.

    Raises:
        OutputError: if the directory can't be written, is being written, or holds something else.
    """
    staging = out / STAGING
    try:
        if _is_finished(out, plan, force) and not staging.exists():
            return None
        lock = lock_staging(out, staging)
        try:
            # Again, and this time nobody else changes it.
            if not _is_finished(out, plan, force) and not _take_up(out, plan, force):
                return lock
            clear(staging, MANIFEST, PLAN)
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
    """Keep of the staging directory what is of use; tell whether all is done by that."""
    staging, written = out / STAGING, _all_is_written(out)
    if _staged_plan(out) != plan:
        if written and not (out / MANIFEST).exists():
            # Other tokens, and what they replace is taken apart: without them there would be none.
            publish(out)
            if _is_finished(out, plan, force):
                return True
        clear(staging, MANIFEST, PLAN)
        write_json(staging / PLAN, plan)
    elif not written:
        (staging / MANIFEST).unlink(missing_ok=True)
    if not (staging / MANIFEST).exists():  # else publishing was cut short
        (staging / SHARDS).mkdir(exist_ok=True)
        (staging / ENTRIES).mkdir(exist_ok=True)
    return False


def discard(out: Path) -> None:
    """Remove what was begun; the release of the lock removes the directories."""
    clear(out / STAGING, MANIFEST, PLAN)


def publish(out: Path) -> None:
    """Move what is finished from the staging directory into place; may be called again."""
    staging = out / STAGING
    if (staging / SHARDS).exists():
        (out / MANIFEST).unlink(missing_ok=True)
        sync_directory(out)
        if (out / SHARDS).exists():
            shutil.rmtree(staging / _REPLACED, ignore_errors=True)
            os.replace(out / SHARDS, staging / _REPLACED)
        os.replace(staging / SHARDS, out / SHARDS)
        sync_directory(out)
    for name in (TOKENIZER, MANIFEST):  # the manifest last: with it, all is there
        if (staging / name).exists():
            move_into_place(staging / name, out / name)
    clear(staging, MANIFEST, PLAN)
