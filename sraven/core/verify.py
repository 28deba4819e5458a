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
from sraven.core.digests import BLOCK, block_digest, split_digest
from sraven.core.directory import CARD, CROISSANT, read_manifest
from sraven.core.errors import OutputError
from sraven.core.files import sha256_of_file
from sraven.core.jit import kernel
from sraven.core.parallel import available_threads
from sraven.core.table import arrow_schema, from_table
from sraven.core.task import Arrays, Task

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


def _read_blocks(path: Path, file_format: str, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of a shard in tables of a block each."""
    if file_format == "parquet":
        with pq.ParquetFile(path) as file:
            if file.schema_arrow != schema:
                raise ValueError("its schema differs from the columns of the manifest")
            for batch in file.iter_batches(BLOCK):
                yield pa.Table.from_batches([batch])
    else:
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as stream:
            if stream.schema != schema:
                raise ValueError("its schema differs from the columns of the manifest")
            for batch in stream:
                yield pa.Table.from_batches([batch])


def _check_block(task: Task, split: str, arrays: Arrays, start: int, digest: str) -> list[str]:
    n = len(arrays["index"])
    if not np.array_equal(arrays["index"], np.arange(start, start + n)):
        return [f"index isn't {start:,} to {start + n - 1:,}"]
    faults = task.find_faults(split, arrays)
    if not faults and block_digest(arrays, task.columns) != digest:
        faults = [f"the digest of the block from {start:,} on differs from the manifest's"]
    return faults


def _check_shard(
    task: Task,
    split: str,
    shard: Mapping[str, Any],
    path: Path,
    file_format: str,
    progress: Callable[[int], None],
) -> tuple[list[str], list[NDArray[np.uint64]]]:
    """Return the faults of one file, and the fingerprints of its instances."""
    if path.is_symlink() or not path.is_file():
        return ["the file is missing"], []
    faults, prints = [], []
    if path.stat().st_size != shard["num_bytes"]:
        faults.append(f"it has {path.stat().st_size:,} bytes; the manifest says {shard['num_bytes']:,}")
    elif sha256_of_file(path) != shard["sha256"]:
        faults.append("its SHA-256 differs from the manifest's")
    start = shard["start"]
    try:
        for table, digest in zip(
            _read_blocks(path, file_format, arrow_schema(task.columns)), shard["blocks"], strict=True
        ):
            arrays = from_table(table, task.columns)
            faults += _check_block(task, split, arrays, start, digest)
            prints.append(fingerprints([arrays[name] for name in task.instance_columns]))
            start += table.num_rows
            progress(table.num_rows)
    except (OSError, ValueError, pa.ArrowException) as error:
        faults.append(f"it can't be read: {str(error).splitlines()[0]}")
    if start != shard["start"] + shard["num_examples"] and not faults:
        faults.append(f"it has {start - shard['start']:,} rows; the manifest says {shard['num_examples']:,}")
    return faults, prints


def _check_texts(out: Path, task: Task, manifest: Mapping[str, Any]) -> list[str]:
    """Compare card and Croissant file with what the manifest makes; the card names its digest."""
    croissant = json.dumps(render_croissant(task, manifest), indent=1, allow_nan=False) + "\n"
    faults = []
    for name, text in ((CARD, render_card(task, manifest)), (CROISSANT, croissant)):
        path = out / name
        if not path.is_file() or path.read_bytes() != text.encode():
            faults.append(f"{name}: differs from what the manifest says, so one of them was changed")
    return faults


def verify_dataset(
    out: str | os.PathLike[str],
    make_task: Callable[[Mapping[str, Any]], Task],
    *,
    threads: int | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Report:
    """Re-check everything that a dataset directory claims.

    Args:
        out: the directory.
        make_task: returns the task of a manifest's configuration.
        threads: files read at a time; None for one per available processor.
        progress: is told of checked instances, from any thread.

    Returns:
        What was found. A directory without faults has the bytes that the generator would write.

    Raises:
        OutputError: if there is no manifest that can be read.
        ConfigurationError: if its configuration is none of a task.
    """
    path = Path(out)
    manifest = read_manifest(path)
    task, report, lock = make_task(manifest["config"]), Report(), threading.Lock()
    if task.config_name != manifest["config_name"]:
        raise OutputError(f"{path}: config_name isn't that of the configuration")
    prints: dict[str, list[NDArray[np.uint64]]] = {split: [] for split in manifest["splits"]}
    report.checked = dict.fromkeys(prints, 0)

    def check(split: str, shard: Mapping[str, Any]) -> None:
        faults, found = _check_shard(
            task, split, shard, path / shard["path"], manifest["file_format"], progress
        )
        with lock:
            report.faults += [f"{shard['path']}: {fault}" for fault in faults]
            report.checked[split] += sum(map(len, found))
            prints[split] += found

    with ThreadPoolExecutor(threads or available_threads()) as pool:
        futures = [
            pool.submit(check, split, shard)
            for split, content in manifest["splits"].items()
            for shard in content["shards"]
        ]
        for future in futures:
            future.result()
    report.faults.sort()
    for split, content in manifest["splits"].items():
        if (
            split_digest(block for shard in content["shards"] for block in shard["blocks"])
            != content["digest"]
        ):
            report.faults.append(f"{split}: its digest isn't made of those of its blocks")
    report.faults += _check_texts(path, task, manifest)
    distinct = {split: np.unique(np.concatenate(found)) for split, found in prints.items() if found}
    for a, b in combinations(distinct, 2):
        shared = np.intersect1d(distinct[a], distinct[b], assume_unique=True)
        report.shared[f"{a}, {b}"] = len(shared)
    return report
