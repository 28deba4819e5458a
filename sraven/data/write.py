"""Datasets on disk: batches to shards, with a manifest and a card. Interrupted work resumes.

The directory::

    README.md          dataset card, see `sraven.data.card`
    croissant.json     Croissant metadata
    manifest.json      configuration; shards with checksums; digests and tallies of the splits
    <config>/README.md card beside the shards
    <config>/<split>-00000-of-00004.parquet
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

from sraven.core.arguments import check_choice, check_integer
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.parallel import Progress, check_threads
from sraven.core.roles import Task
from sraven.data.card import describing_files
from sraven.data.directory import DatasetDirectory, Journal
from sraven.data.engines.call import OnProgress
from sraven.data.engines.jobs import HERE, Engine, map_jobs
from sraven.data.formats import FORMATS
from sraven.data.manifest import (
    LAYOUT,
    SIZE_LIMIT,
    Shard,
    ShardContents,
    list_shards,
    make_manifest,
    make_plan,
)
from sraven.data.parts import Part
from sraven.files.files import move_into_place, sha256_of_file, write_text
from sraven.files.staging import apart, directory_at
from sraven.files.table import arrow_schema, to_table

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
    rows, path = task.rows, staging / shard.path
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


_SAMPLE = 8192
"""Instances by which the size of a file is estimated."""


def estimate_bytes(task: Task, shards: Sequence[Shard], file_format: str = "parquet") -> int:
    """Return about how many bytes shards will have, by the first instances of each split."""
    found = 0.0
    for split in dict.fromkeys(shard.split for shard in shards):
        total = sum(shard.count for shard in shards if shard.split == split)
        sample, sink = min(_SAMPLE, total), BytesIO()
        encoded = task.rows.encode(split, 0, sample, 1)
        with FORMATS[file_format](sink, arrow_schema(task.rows.columns)) as writer:
            writer.write_table(to_table(encoded.columns, task.rows.columns))
        found += len(sink.getvalue()) / sample * total
    return round(found)


def free_bytes(out: Path) -> int:
    """Return the room on the disk of a directory that need not exist yet."""
    there = next(each for each in (out.absolute(), *out.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free


def _check_room(task: Task, directory: DatasetDirectory, shards: Sequence[Shard], file_format: str) -> None:
    """Refuse what the disk can't hold, beside what an earlier call has written of it.

    Raises:
        OutputError: if there isn't the room.
    """
    written = sum(each.stat().st_size for each in directory.staging.rglob("*") if each.is_file())
    needed = estimate_bytes(task, shards, file_format) - written
    if needed > (free := free_bytes(directory.out)):
        raise OutputError(
            f"{directory.out} would take about {needed / 1e9:,.1f} GB more, and {free / 1e9:,.1f} GB are "
            "free; write fewer instances, or parts on several disks"
        )


def write_dataset(
    task: Task,
    sizes: Mapping[str, int],
    out: str | os.PathLike[str],
    *,
    part: Part | None = None,
    file_format: str = "parquet",
    shard_size: int | None = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress = lambda count: None,
    shards: Callable[[int, int], None] = lambda done, of: None,
    engine: Engine = HERE,
) -> dict[str, Any]:
    """Write a dataset directory that `datasets.load_dataset` loads; resume if it was begun.

    Args:
        task: what to draw instances from.
        sizes: number of instances by split; a split of size 0 isn't written.
        out: the directory. It may be absent, empty, or hold this very dataset, finished or not.
        part: write some of the shards alone, every so many-th, for `sraven.data.merge.merge_parts`.
            The directory stays the unfinished one of the whole.
        file_format: ``parquet`` or ``arrow``.
        shard_size: instances in a file, of whole blocks; None for four of those, the most.
        threads: shards written at a time; None for one per available processor.
        force: replace another dataset of this benchmark.
        progress: is called with finished instances, from any thread.
        shards: is called with finished shards, and how many there are.
        engine: what writes the shards; see `sraven.data.engines.jobs`.

    Returns:
        The manifest; of a part, what it would be without the others. If the same dataset is there already,
        nothing is written.

    Raises:
        ConfigurationError: for a size, split or format that can't be; nothing is created.
        OutputError: if the directory can't be used, or holds the whole, not a part, or the disk has no room;
            nothing is created.
        OSError: if writing fails, as on a full disk; the same call again goes on from there.
    """
    engine.check_workers("threads", threads)
    directory = DatasetDirectory(directory_at(out), plan_dataset(task, sizes, file_format, shard_size), force)
    plan = directory.plan
    chosen = list_shards(task, plan)
    chosen = part.choose(chosen) if part else chosen

    def work() -> dict[str, dict[str, Any]]:
        """Write those shards that aren't there yet; return the journal's entries by path."""
        journal, staging, done = Journal(directory.out, plan), directory.staging.absolute(), count(1)
        # Threads that have no shard to write help with the others.
        helping = max(1, check_threads(threads) // max(1, len(chosen))) if engine.is_local else 1

        def keep(entry: dict[str, Any]) -> None:
            if journal.entries.get(entry["path"], {}).get("sha256") != entry["sha256"]:
                journal.add(entry)
            shards(next(done), len(chosen))

        map_jobs(
            partial(_write_shard, task, staging, file_format, helping),
            [(shard, journal.entries.get(shard.path)) for shard in chosen],
            lambda instances, _: progress(instances),
            engine=engine,
            local="threads",
            folder=staging,
            workers=threads,
            keep=keep,
        )
        return journal.entries

    if directory.manifest_in(directory.out) is None:
        _check_room(task, directory, chosen, file_format)
    if part is not None:
        return make_manifest(task, plan, directory.make_part(work), chosen)
    return directory.make(lambda: describe_whole(task, directory, work()))


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
        # The folder of shards is published as it is: no temporary file may be left in it.
        with apart(directory.staging, Path(name).name) as temporary:
            write_text(temporary, text)
            move_into_place(temporary, directory.staging / name)
    return manifest


def plan_dataset(
    task: Task,
    sizes: Mapping[str, int],
    file_format: str,
    shard_size: int | None = None,
    layout: int = LAYOUT,
) -> dict[str, Any]:
    """Return the plan of a dataset that can be.

    Raises:
        ConfigurationError: for a size, split, format or shard size that can't be.
    """
    check_choice("format", file_format, tuple(FORMATS))
    sizes = {split: check_integer(split, size, 0, SIZE_LIMIT) for split, size in sizes.items()}
    for split, size in sizes.items():
        if size and split not in task.splits:
            raise ConfigurationError(f"{split}={size:,}: this task has no {split} split; use {split}=0")
    if not any(sizes.values()):
        raise ConfigurationError("all splits have size 0; request at least one instance")
    plan = make_plan(task, sizes, file_format, layout=layout, shard_size=shard_size)
    list_shards(task, plan)  # refuses too many
    for split in plan["sizes"]:
        task.rows.encode(split, 0, 1, 1)  # what can't be drawn is refused before anything is created
    return plan
