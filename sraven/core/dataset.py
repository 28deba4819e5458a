"""Datasets on disk: batches to shards, with a manifest and a card. Interrupted work resumes.

The directory::

    README.md          dataset card, see `sraven.core.card`
    croissant.json     Croissant metadata
    manifest.json      configuration; shards with checksums; digests and tallies of the splits
    <config>/<split>-00000-of-00004.parquet
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sraven.core.card import render_card, render_croissant
from sraven.core.digests import BLOCK, block_digest, split_digest
from sraven.core.directory import (
    CARD,
    CROISSANT,
    LAYOUT,
    MANIFEST,
    STAGING,
    Journal,
    prepare,
    publish,
    read_manifest,
)
from sraven.core.errors import ConfigurationError
from sraven.core.files import move_into_place, sha256_of_file, write_json, write_text
from sraven.core.parallel import available_threads
from sraven.core.table import arrow_schema, to_table
from sraven.core.task import Task

SHARD = 4 * BLOCK
"""Instances in a shard."""

SIZE_LIMIT = 1 << 40
"""Most instances of a split in one dataset."""

Progress = Callable[[int], None]
"""Is told how many more instances are done."""


def _parquet_writer(path: Path, schema: pa.Schema) -> AbstractContextManager[Any]:
    # Uniform floats have no repeats for a dictionary to find: split into streams of bytes, they
    # take a tenth less room and time.
    leaves = {
        f"{field.name}.list.element" if pa.types.is_fixed_size_list(field.type) else field.name: field.type
        for field in schema
    }
    floats = [
        name for name, kind in leaves.items() if pa.types.is_floating(getattr(kind, "value_type", kind))
    ]
    writer: AbstractContextManager[Any] = pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        write_page_index=True,
        use_content_defined_chunking=True,
        use_dictionary=[name for name in leaves if name not in floats],
        column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT") or None,
    )
    return writer


FORMATS: dict[str, Callable[[Path, pa.Schema], AbstractContextManager[Any]]] = {
    "parquet": _parquet_writer,
    "arrow": pa.ipc.new_stream,
}
"""File formats; the name is also the suffix. Arrow files are streams, which
``datasets.Dataset.from_file`` maps into memory without a copy."""


@dataclass(frozen=True)
class Shard:
    """A file to write: instances ``start`` to ``start + count - 1`` of a split."""

    split: str
    path: str
    start: int
    count: int


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


def _make_plan(task: Task, sizes: Mapping[str, int], file_format: str) -> dict[str, Any]:
    return {
        "layout": LAYOUT,
        "config": dict(task.config),
        "config_name": task.config_name,
        "file_format": file_format,
        "sizes": {split: size for split, size in sizes.items() if size},
        "pyarrow": version("pyarrow"),
    }


def _shards(plan: Mapping[str, Any]) -> Iterator[Shard]:
    for split, size in plan["sizes"].items():
        starts = range(0, size, SHARD)
        for number, start in enumerate(starts):
            name = f"{split}-{number:05d}-of-{len(starts):05d}.{plan['file_format']}"
            yield Shard(split, f"{plan['config_name']}/{name}", start, min(SHARD, size - start))


def _write_shard(
    task: Task, shard: Shard, staging: Path, file_format: str, progress: Progress, stop: threading.Event
) -> dict[str, Any]:
    """Write one shard block by block; return its entry for the journal."""
    path = staging / shard.path
    temporary = path.with_name(path.name + ".tmp")
    blocks, num_bytes = [], 0
    tallies: dict[str, Any] = {}
    with FORMATS[file_format](temporary, arrow_schema(task.columns)) as writer:
        for start in range(shard.start, shard.start + shard.count, BLOCK):
            if stop.is_set():
                raise InterruptedError
            count = min(BLOCK, shard.start + shard.count - start)
            encoded = task.encode(shard.split, start, count)
            table = to_table(encoded.columns, task.columns)
            writer.write_table(table, BLOCK)
            blocks.append(block_digest(encoded.columns, task.columns))
            num_bytes += table.nbytes
            tallies = {name: tallies.get(name, 0) + tally for name, tally in encoded.tallies.items()}
            progress(count)
    move_into_place(temporary, path)
    return {
        "path": shard.path,
        "start": shard.start,
        "num_examples": shard.count,
        "num_bytes": path.stat().st_size,
        "sha256": sha256_of_file(path),
        "memory_bytes": num_bytes,
        "blocks": blocks,
        "tallies": {name: tally.tolist() for name, tally in tallies.items()},
    }


def _is_right(entry: Mapping[str, Any], staging: Path) -> bool:
    path = staging / entry["path"]
    return bool(path.is_file() and sha256_of_file(path) == entry["sha256"])


def _write_shards(
    task: Task, plan: Mapping[str, Any], out: Path, threads: int, progress: Progress
) -> dict[str, dict[str, Any]]:
    """Write the shards that aren't there yet; return the journal's entries by path."""
    journal, staging = Journal(out, plan), out / STAGING
    stop = threading.Event()

    def write(shard: Shard) -> None:
        done = journal.entries.get(shard.path)
        if done and _is_right(done, staging):
            progress(shard.count)
        elif not stop.is_set():
            journal.add(_write_shard(task, shard, staging, plan["file_format"], progress, stop))

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(write, shard) for shard in _shards(plan)]
        try:
            for future in futures:
                future.result()
        except BaseException:  # an interrupt too: the threads end after the block at hand
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return journal.entries


def _make_manifest(
    task: Task, plan: Mapping[str, Any], entries: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    splits: dict[str, Any] = {}
    for split, size in plan["sizes"].items():
        shards = [entries[shard.path] for shard in _shards(plan) if shard.split == split]
        names = shards[0]["tallies"]
        splits[split] = {
            "num_examples": size,
            "memory_bytes": sum(shard["memory_bytes"] for shard in shards),
            "digest": split_digest(block for shard in shards for block in shard["blocks"]),
            "tallies": {
                name: np.sum([shard["tallies"][name] for shard in shards], axis=0).tolist() for name in names
            },
            "shards": [
                {
                    key: shard[key]
                    for key in ("path", "start", "num_examples", "num_bytes", "sha256", "blocks")
                }
                for shard in shards
            ],
        }
    columns = [asdict(column) for column in task.columns]
    return {**plan, "columns": columns, "splits": splits}


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
    _check_sizes(task, sizes, file_format)
    plan, path = _make_plan(task, sizes, file_format), Path(out)
    if prepare(path, plan, force):
        staging = path / STAGING
        if not (staging / MANIFEST).exists():
            entries = _write_shards(task, plan, path, threads or available_threads(), progress)
            manifest = _make_manifest(task, plan, entries)
            write_text(staging / CARD, render_card(task, manifest))
            write_json(staging / CROISSANT, render_croissant(task, manifest))
            write_json(staging / MANIFEST, manifest)
        publish(path, plan)
    return read_manifest(path)
