"""Datasets on disk: batches to shards, with a manifest and a card. Interrupted work resumes.

The directory::

    README.md          dataset card, see `sraven.core.dataset.card`
    croissant.json     Croissant metadata
    manifest.json      configuration; shards with checksums; digests and tallies of the splits
    <config>/<split>-00000-of-00004.parquet
"""

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sraven.core.compute.parallel import Progress, check_threads, for_each_item
from sraven.core.dataset.card import render_card, render_croissant
from sraven.core.dataset.directory import Journal, prepare, publish
from sraven.core.dataset.formats import FORMATS
from sraven.core.dataset.manifest import (
    CARD,
    CROISSANT,
    SIZE_LIMIT,
    Shard,
    add_tallies,
    blocks_of,
    list_shards,
    make_entry,
    make_manifest,
    make_plan,
    read_manifest,
)
from sraven.core.ground.errors import ConfigurationError, OutputError
from sraven.core.system.files import move_into_place, sha256_of_file, write_json, write_text
from sraven.core.system.staging import MANIFEST, STAGING, Plan
from sraven.core.tasks.digests import block_digest, block_size
from sraven.core.tasks.families import rows_of
from sraven.core.tasks.table import arrow_schema, to_table
from sraven.core.tasks.task import Task


def _check_sizes(task: Task, sizes: Mapping[str, int], file_format: str) -> None:
    if file_format not in FORMATS:
        raise ConfigurationError(f"format={file_format!r}: expected one of {', '.join(FORMATS)}")
    for split, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= SIZE_LIMIT:
            raise ConfigurationError(f"{split}={size!r}: expected a size from 0 to {SIZE_LIMIT:,}")
        if size and split not in task.splits:
            raise ConfigurationError(f"{split}={size:,}: this task has no {split} split; use {split}=0")
    if not any(sizes.values()):
        raise ConfigurationError("all splits have size 0; ask for at least one instance")


def _write_shard(
    task: Task, shard: Shard, staging: Path, write: "_Writing", stop: threading.Event
) -> dict[str, Any]:
    """Write one shard block by block; return its entry for the journal."""
    path = staging / shard.path
    temporary = path.with_name(path.name + ".tmp")
    blocks: list[str] = []
    tallies: dict[str, Any] = {}
    rows = rows_of(task)
    columns, step = rows.columns, block_size(rows.columns)
    # Arrow would take a leading ~ for a home.
    with FORMATS[write.file_format](temporary.absolute(), arrow_schema(columns)) as writer:
        for start, count in blocks_of(shard, step):
            if stop.is_set():
                raise InterruptedError
            encoded = rows.encode(shard.split, start, count, write.threads)
            writer.write_table(to_table(encoded.columns, columns), step)
            blocks.append(block_digest(encoded.columns, columns))
            add_tallies(tallies, encoded.tallies)
            write.progress(count)
    move_into_place(temporary, path)
    return make_entry(shard, path.stat().st_size, sha256_of_file(path), blocks, tallies)


@dataclass(frozen=True)
class _Writing:
    """How shards are written: format, threads for one of them, who is told."""

    file_format: str
    threads: int
    progress: Progress


def is_right(entry: Mapping[str, Any], staging: Path) -> bool:
    """Tell whether the file of a journal's entry lies in a staging directory as it was written."""
    path = staging / entry["path"]
    return bool(path.is_file() and sha256_of_file(path) == entry["sha256"])


def write_shards(
    task: Task, plan: Plan, shards: Sequence[Shard], out: Path, threads: int, progress: Progress
) -> dict[str, dict[str, Any]]:
    """Write those of some shards that aren't there yet; return the journal's entries by path."""
    journal, staging = Journal(out, plan), out / STAGING
    # Threads that have no shard to write help with the others.
    write = _Writing(plan["file_format"], max(1, threads // max(1, len(shards))), progress)

    def handle(shard: Shard, stop: threading.Event) -> None:
        done = journal.entries.get(shard.path)
        if done and is_right(done, staging):
            progress(shard.count)
        elif not stop.is_set():
            journal.add(_write_shard(task, shard, staging, write, stop))

    for_each_item(handle, shards, threads)
    return journal.entries


def write_dataset(
    task: Task,
    sizes: Mapping[str, int],
    out: str | os.PathLike[str],
    *,
    file_format: str = "parquet",
    threads: int | None = None,
    force: bool = False,
    progress: Progress = lambda count: None,
) -> dict[str, Any]:
    """Write a dataset directory that `datasets.load_dataset` loads; resume if it was begun.

    `sraven.core.dataset.parts` writes one in parts, on machines that know nothing of each other.

    Args:
        task: what to draw instances from.
        sizes: number of instances by split; a split of size 0 isn't written.
        out: the directory. It may be absent, empty, or hold this very dataset, finished or not.
        file_format: ``parquet`` or ``arrow``.
        threads: shards written at a time; None for one per available processor.
        force: replace another dataset of this benchmark.
        progress: is told of finished instances, from any thread.

    Returns:
        The manifest. If the same dataset is there already, nothing is written.

    Raises:
        ConfigurationError: for a size, split or format that can't be; nothing is created.
        OutputError: if the directory can't be used; nothing is created.
        OSError: if writing fails, as on a full disk; the same call again goes on from there.
    """
    path, plan = plan_dataset(task, sizes, out, file_format)
    threads = check_threads(threads)
    lock = prepare(path, plan, force)
    if lock is not None:
        with lock:
            if not (path / STAGING / MANIFEST).exists():
                finish(
                    task,
                    plan,
                    path,
                    write_shards(task, plan, list_shards(task, plan), path, threads, progress),
                )
            publish(path, plan)
    return read_manifest(path)


def plan_dataset(
    task: Task, sizes: Mapping[str, int], out: str | os.PathLike[str], file_format: str
) -> tuple[Path, dict[str, Any]]:
    """Return the directory and the plan of a dataset that can be; nothing is created.

    Raises:
        ConfigurationError: for a size, split or format that can't be.
        OutputError: for a directory that can't be.
    """
    _check_sizes(task, sizes, file_format)
    try:
        path = Path(out).expanduser()
    except RuntimeError as error:
        raise OutputError(f"{out}: {error}; choose another directory") from None
    plan = make_plan(task, sizes, file_format)
    list_shards(task, plan)  # refuses too many
    for split in plan["sizes"]:
        rows_of(task).encode(split, 0, 1, 1)  # what can't be drawn is refused before anything is created
    return path, plan


def finish(task: Task, plan: Plan, path: Path, entries: Mapping[str, dict[str, Any]]) -> None:
    """Write all that a dataset has beside its shards into the staging directory, the manifest last."""
    manifest, staging = make_manifest(task, plan, entries), path / STAGING
    write_text(staging / CARD, render_card(task, manifest))
    write_json(staging / CROISSANT, render_croissant(task, manifest))
    write_json(staging / MANIFEST, manifest)
