"""Re-check a dataset directory: files, schema, values, certificates, disjointness."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sraven.core.card import render_card, render_croissant
from sraven.core.dataset import (
    FORMATS,
    Progress,
    Shard,
    add_tallies,
    blocks_of,
    list_shards,
    make_entry,
    make_manifest,
    make_plan,
)
from sraven.core.digests import block_digest, block_size, instance_bytes
from sraven.core.directory import CARD, CROISSANT, MANIFEST, read_manifest
from sraven.core.errors import OutputError
from sraven.core.jit import kernel
from sraven.core.parallel import check_threads
from sraven.core.table import arrow_schema, from_table
from sraven.core.task import Arrays, Encoded, Task, name_fault

_CLAIMS_NAMED = 20
_FNV_OFFSET, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@dataclass
class Report:
    """What `verify_dataset` found.

    Attributes:
        checked: instances whose values were checked, by split.
        faults: what is wrong, a line each; none means that all is right.
        shared: instances with equal values in two splits, by "a, b". In small tasks some coincide
            by chance, so this is no fault by itself.
    """

    checked: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)


@kernel
def _fingerprint(rows: Any, out: Any) -> None:
    for n in range(rows.shape[0]):
        value = _FNV_OFFSET
        for byte in range(rows.shape[1]):
            value = (value ^ np.uint64(rows[n, byte])) * _FNV_PRIME
        out[n] = value


def fingerprints(arrays: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a 64-bit FNV-1a hash of each instance's bytes in all of the arrays: uint64 ``[n]``."""
    n = len(arrays[0])
    rows = [np.ascontiguousarray(array).reshape(n, -1).view(np.uint8) for array in arrays]
    out = np.empty(n, np.uint64)
    _fingerprint(np.concatenate(rows, axis=1), out)
    return out


def _read_blocks(path: Path, shard: Shard, task: Task, file_format: str) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the rows of a file, a block at a time.

    Raises:
        ValueError: if its schema or its number of rows isn't that of the shard.
    """
    schema, step = arrow_schema(task.columns), block_size(task.columns)
    if file_format == "parquet":
        with pq.ParquetFile(path) as file:
            if file.schema_arrow != schema:
                raise ValueError("its schema isn't that of the task's columns")
            if file.metadata.num_rows != shard.count:
                raise ValueError(f"it has {file.metadata.num_rows:,} rows; expected {shard.count:,}")
            for batch in file.iter_batches(step):
                yield from_table(pa.Table.from_batches([batch]), task.columns)
        return
    # Streams are written without compression, so what they hold can't be larger than the file.
    if path.stat().st_size < shard.count * instance_bytes(task.columns):
        raise ValueError(f"it is too small for {shard.count:,} rows")
    with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as stream:
        if stream.schema != schema:
            raise ValueError("its schema isn't that of the task's columns")
        for _, count in blocks_of(shard, step):
            batch = stream.read_next_batch()
            if batch.num_rows != count:
                raise ValueError(f"it has a batch of {batch.num_rows:,} rows; expected {count:,}")
            yield from_table(pa.Table.from_batches([batch]), task.columns)


def _check_block(task: Task, split: str, arrays: Arrays, encoded: Encoded) -> list[str]:
    """Compare a block with the generator's, and ask the task for its opinion."""
    index = encoded.columns["index"]
    if not np.array_equal(arrays["index"], index):
        return [f"index isn't {index[0]:,} to {index[-1]:,}"]
    faults = task.find_faults(split, arrays)
    for name, drawn in encoded.columns.items():
        differs = (arrays[name] != drawn).reshape(len(index), -1).any(axis=1)
        if differs.any():
            faults.append(name_fault(arrays, differs, f"{name} differs from the generator's"))
    return faults


def _check_shard(
    task: Task, shard: Shard, path: Path, file_format: str, progress: Progress
) -> tuple[list[str], list[NDArray[np.uint64]], dict[str, Any] | None]:
    """Return the faults of one file, the fingerprints of its instances, and its manifest entry."""
    if not path.is_file():
        return ["the file is missing"], [], None
    if path.is_symlink() or path.parent.is_symlink():
        return ["it is a link, which may lead anywhere"], [], None
    faults: list[str] = []
    prints, blocks = [], []
    tallies: dict[str, Any] = {}
    try:
        expected = blocks_of(shard, block_size(task.columns))
        for arrays, (start, count) in zip(
            _read_blocks(path, shard, task, file_format), expected, strict=True
        ):
            encoded = task.encode(shard.split, start, count, 1)
            faults += _check_block(task, shard.split, arrays, encoded)
            prints.append(fingerprints([arrays[name] for name in task.instance_columns]))
            blocks.append(block_digest(arrays, task.columns))
            add_tallies(tallies, encoded.tallies)
            progress(count)
    except (OSError, ValueError, StopIteration, pa.ArrowException) as error:
        return (
            [*faults, f"it can't be read: {str(error).splitlines()[0] if str(error) else 'cut off'}"],
            prints,
            None,
        )
    return faults, prints, make_entry(shard, path, blocks, tallies)


def _compare(claimed: Any, found: Any, where: str) -> list[str]:
    """Return where two JSON values differ, as dotted names."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        names = [name for name in {**found, **claimed} if claimed.get(name) != found.get(name)]
        return [
            line for name in names for line in _compare(claimed.get(name), found.get(name), f"{where}.{name}")
        ]
    if isinstance(claimed, list) and isinstance(found, list) and len(claimed) == len(found):
        pairs = [(f"{where}[{n}]", a, b) for n, (a, b) in enumerate(zip(claimed, found, strict=True))]
        return [line for place, a, b in pairs if a != b for line in _compare(a, b, place)]
    return [] if claimed == found else [where[1:]]


def _check_claims(
    out: Path, task: Task, manifest: Mapping[str, Any], true_manifest: Mapping[str, Any]
) -> list[str]:
    """Compare manifest, card and Croissant file with those that files and generator give."""
    croissant = json.dumps(render_croissant(task, true_manifest), indent=1, allow_nan=False) + "\n"
    texts = {CARD: render_card(task, true_manifest), CROISSANT: croissant}
    differing = _compare(manifest, true_manifest, "")[:_CLAIMS_NAMED]
    # Names come from the manifest: as ASCII they can't play with a terminal.
    faults = [f"{MANIFEST}: {ascii(name)[1:-1]} isn't what files and generator give" for name in differing]
    return faults + [
        f"{name}: isn't what the manifest makes"
        for name, text in texts.items()
        if (out / name).is_file() and (out / name).read_bytes() != text.encode()
    ]


def _check_presence(out: Path, config_name: str, shards: Sequence[Shard]) -> list[str]:
    """Look for files that are missing, and for some that the card's patterns would load besides."""
    folder, listed = out / config_name, {shard.path.rpartition("/")[2] for shard in shards}
    strangers = sorted({file.name for file in folder.iterdir()} - listed) if folder.is_dir() else []
    missing = [name for name in (CARD, CROISSANT) if not (out / name).is_file()]
    return [f"{config_name}/{ascii(name)[1:-1]}: the manifest doesn't list it" for name in strangers] + [
        f"{name}: the file is missing" for name in missing
    ]


def verify_dataset(
    out: str | os.PathLike[str],
    make_task: Callable[[Mapping[str, Any]], Task],
    *,
    threads: int | None = None,
    progress: Progress = lambda count: None,
) -> Report:
    """Re-check everything that a dataset directory claims.

    Of the manifest, only the configuration and the sizes are believed. Files, checksums, digests,
    counts and texts are made anew from the files and from the generator, and compared.

    Args:
        out: the directory.
        make_task: returns the task of a manifest's configuration.
        threads: files read at a time; None for one per available processor.
        progress: is told of checked instances, from any thread.

    Returns:
        What was found. A directory without faults is the one that the generator would write.

    Raises:
        OutputError: if there is no manifest that can be read.
        ConfigurationError: if its configuration is none of a task.
    """
    path = Path(out)
    manifest = read_manifest(path)
    file_format, pyarrow = manifest["file_format"], manifest.get("pyarrow")
    task, report, lock = make_task(manifest["config"]), Report(), threading.Lock()
    unknown = [split for split in manifest["sizes"] if split not in task.splits]
    if file_format not in (*FORMATS,) or not isinstance(pyarrow, str) or unknown:
        raise OutputError(f"{path / MANIFEST} has an unknown file_format, pyarrow or split")
    plan = make_plan(task, manifest["sizes"], file_format, pyarrow)
    shards = list_shards(task, plan)
    prints: dict[str, list[NDArray[np.uint64]]] = {split: [] for split in plan["sizes"]}
    report.checked = dict.fromkeys(prints, 0)
    entries: dict[str, dict[str, Any]] = {}

    def check(shard: Shard) -> None:
        faults, found, entry = _check_shard(task, shard, path / shard.path, file_format, progress)
        with lock:
            report.faults += [f"{shard.path}: {fault}" for fault in faults]
            report.checked[shard.split] += sum(map(len, found))
            prints[shard.split] += found
            if entry:
                entries[shard.path] = entry

    with ThreadPoolExecutor(check_threads(threads)) as pool:
        for future in [pool.submit(check, shard) for shard in shards]:
            future.result()
    report.faults.sort()
    if not report.faults:  # else the manifest's claims about those files can't be right either
        report.faults += _check_claims(path, task, manifest, make_manifest(task, plan, entries))
    report.faults += _check_presence(path, plan["config_name"], shards)
    distinct = {split: np.unique(np.concatenate(found)) for split, found in prints.items() if found}
    for a, b in combinations(distinct, 2):
        shared = np.intersect1d(distinct[a], distinct[b], assume_unique=True)
        report.shared[f"{a}, {b}"] = len(shared)
    return report
