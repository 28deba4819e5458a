"""Datasets on disk: batches to shards, with a manifest and a card. Interrupted work resumes.

The directory::

    README.md          dataset card, see `sraven.core.dataset.card`
    croissant.json     Croissant metadata
    manifest.json      configuration; shards with checksums; digests and tallies of the splits
    <config>/<split>-00000-of-00004.parquet
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sraven.core.base.arguments import check_choice, check_integer
from sraven.core.base.errors import ConfigurationError
from sraven.core.compute.parallel import Progress, check_threads
from sraven.core.dataset.card import describing_files
from sraven.core.dataset.directory import DatasetDirectory, Journal
from sraven.core.dataset.formats import FORMATS
from sraven.core.dataset.manifest import (
    SIZE_LIMIT,
    Shard,
    ShardContents,
    list_shards,
    make_manifest,
    make_plan,
)
from sraven.core.engines.call import OnProgress
from sraven.core.engines.jobs import HERE, Engine, map_jobs
from sraven.core.system.files import move_into_place, sha256_of_file, write_text
from sraven.core.system.staging import apart, directory_at
from sraven.core.tasks.families import rows_of
from sraven.core.tasks.table import arrow_schema, to_table
from sraven.core.tasks.task import Task

_Job = tuple[Shard, Mapping[str, Any] | None]
"""A shard, and what the journal says of it if it was there before."""


def _write_shard(
    task: Task, staging: Path, file_format: str, threads: int, job: _Job, on_progress: OnProgress
) -> dict[str, Any]:
    """Write a shard, unless it is there as the journal says; return its entry for the journal."""
    shard, entry = job
    if entry and is_right(entry, staging):
        on_progress(shard.count, 0)
        return dict(entry)
    rows, path = rows_of(task), staging / shard.path
    contents = ShardContents(rows, shard)
    with apart(staging, path.name) as temporary:
        with FORMATS[file_format](temporary, arrow_schema(rows.columns)) as writer:
            for encoded in contents.draw(threads):
                writer.write_table(to_table(encoded.columns, rows.columns), contents.block_size)
                on_progress(len(encoded.columns["index"]), 0)
        move_into_place(temporary, path)
    return contents.entry(path.stat().st_size, sha256_of_file(path))


def is_right(entry: Mapping[str, Any], staging: Path) -> bool:
    """Return whether the file of a journal's entry lies in a staging directory as it was written."""
    path = staging / entry["path"]
    return bool(path.is_file() and sha256_of_file(path) == entry["sha256"])


@dataclass(frozen=True)
class Running:
    """How the work of a dataset is done, and what is called with its progress.

    Attributes:
        engine: what it runs on.
        threads: shards written at a time; None for as many as the engine has room for.
        progress: is called with finished instances, from any thread.
        shards: is called with finished shards, and how many there are.
    """

    engine: Engine = HERE
    threads: int | None = None
    progress: Progress = lambda count: None
    shards: Callable[[int, int], None] = lambda done, of: None

    def __post_init__(self) -> None:
        self.engine.check_workers("threads", self.threads)


def write_shards(
    task: Task, directory: DatasetDirectory, shards: Sequence[Shard], running: Running
) -> dict[str, dict[str, Any]]:
    """Write those of some shards that aren't there yet; return the journal's entries by path."""
    plan, staging = directory.plan, directory.staging.absolute()
    journal = Journal(directory.out, plan)
    # Threads that have no shard to write help with the others.
    threads = max(1, check_threads(running.threads) // max(1, len(shards))) if running.engine.is_local else 1
    done = 0

    def keep(entry: dict[str, Any]) -> None:
        nonlocal done
        if journal.entries.get(entry["path"], {}).get("sha256") != entry["sha256"]:
            journal.add(entry)
        done += 1
        running.shards(done, len(shards))

    map_jobs(
        partial(_write_shard, task, staging, plan["file_format"], threads),
        [(shard, journal.entries.get(shard.path)) for shard in shards],
        lambda count, _: running.progress(count),
        engine=running.engine,
        local="threads",
        folder=staging,
        workers=running.threads,
        keep=keep,
    )
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
    shards: Callable[[int, int], None] = lambda done, of: None,
    engine: Engine = HERE,
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
        progress: is called with finished instances, from any thread.
        shards: is called with finished shards, and how many there are.
        engine: what writes the shards; see `sraven.core.engines.jobs`.

    Returns:
        The manifest. If the same dataset is there already, nothing is written.

    Raises:
        ConfigurationError: for a size, split or format that can't be; nothing is created.
        OutputError: if the directory can't be used; nothing is created.
        OSError: if writing fails, as on a full disk; the same call again goes on from there.
    """
    directory = DatasetDirectory(directory_at(out), plan_dataset(task, sizes, file_format), force)
    running = Running(engine, threads, progress, shards)

    def write() -> dict[str, Any]:
        entries = write_shards(task, directory, list_shards(task, directory.plan), running)
        return describe_whole(task, directory, entries)

    return directory.make(write)


def describe_whole(
    task: Task, directory: DatasetDirectory, entries: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """Write what a dataset has beside its shards, but for the manifest; return that.

    Args:
        task: of the dataset.
        directory: whose staging directory has all shards.
        entries: the journal's, by path.
    """
    manifest = make_manifest(task, directory.plan, entries)
    for name, text in describing_files(task, manifest).items():
        write_text(directory.staging / name, text)
    return manifest


def plan_dataset(task: Task, sizes: Mapping[str, int], file_format: str) -> dict[str, Any]:
    """Return the plan of a dataset that can be.

    Raises:
        ConfigurationError: for a size, split or format that can't be.
    """
    check_choice("format", file_format, tuple(FORMATS))
    sizes = {split: check_integer(split, size, 0, SIZE_LIMIT) for split, size in sizes.items()}
    for split, size in sizes.items():
        if size and split not in task.splits:
            raise ConfigurationError(f"{split}={size:,}: this task has no {split} split; use {split}=0")
    if not any(sizes.values()):
        raise ConfigurationError("all splits have size 0; request at least one instance")
    plan = make_plan(task, sizes, file_format)
    list_shards(task, plan)  # refuses too many
    for split in plan["sizes"]:
        rows_of(task).encode(split, 0, 1, 1)  # what can't be drawn is refused before anything is created
    return plan
