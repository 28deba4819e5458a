"""The life of a directory of tokens: staged, resumed, published whole, replaced only by force.

All is made in ``<out>/.sraven-partial``. Publishing moves it into place in an order that leaves, at any
moment, either no manifest or a whole directory, and that can be taken up again.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from baselines.lm.shards import ARRAYS, path_of
from sraven.core.directory import LOCK, MANIFEST, STAGING, lock_staging
from sraven.core.errors import OutputError
from sraven.core.files import move_into_place, sync_directory, write_json

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
    try:
        return (out / TOKENIZER).is_file() and all(
            path_of(out / SHARDS / shard["name"], array).stat().st_size == shard["file_bytes"][array]
            for shard in manifest["shards"]
            for array in ARRAYS
        )
    except OSError:
        return False


def _is_finished(out: Path, plan: Plan, force: bool) -> bool:
    """Refuse a directory that isn't ours to write to; tell whether all is done."""
    replace = "choose another directory, or use --force to replace it"
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another directory")
    if not out.exists() or not any(out.iterdir()):
        return False
    if (out / MANIFEST).exists():
        manifest = read_manifest(out)
        different = [name for name in differences(plan, manifest["plan"]) if name != "sentencepiece"]
        if not force and different:
            raise OutputError(f"{out} holds other tokens ({', '.join(different)} differ); {replace}")
        if not force and not _is_complete(out, manifest):
            raise OutputError(f"{out} is damaged: a file is missing or cut off; use --force to rewrite it")
        return not force
    begun = out / STAGING
    if not begun.is_dir() or not ((begun / PLAN).is_file() or {LOCK} >= set(os.listdir(begun))):
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


def open_staging(out: Path, plan: Plan, force: bool) -> IO[str] | None:
    """Make the staging directory ready for a plan; nothing is created before all is checked.

    Returns:
        None if all is done already; else a lock to close when the work is done.

    Raises:
        OutputError: if the directory can't be written, or holds something else.
    """
    staging = out / STAGING
    try:
        if _is_finished(out, plan, force):
            shutil.rmtree(staging, ignore_errors=True)
            return None
        staging.mkdir(parents=True, exist_ok=True)
        lock = lock_staging(staging)
        if _staged_plan(out) != plan:
            for entry in staging.iterdir():
                if entry.name != LOCK:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            write_json(staging / PLAN, plan)
        if not (staging / MANIFEST).exists():  # else all is written, and publishing was cut short
            (staging / SHARDS).mkdir(exist_ok=True)
            (staging / ENTRIES).mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{out} can't be written ({error.strerror}); choose another directory") from None
    return lock


def discard(out: Path) -> None:
    """Remove what was begun, and the directory if nothing else is in it."""
    shutil.rmtree(out / STAGING, ignore_errors=True)
    if not any(out.iterdir()):
        out.rmdir()


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
    shutil.rmtree(staging, ignore_errors=True)
