"""Re-check a dataset directory: whatever reads it gets what the generator gives, or a fault is found.

Of the manifest, only the configuration, the sizes and the version of the writer are believed. All else
follows from these, so it is made again and compared: the files byte for byte, the manifest, the card and
the Croissant file likewise, and nothing else may lie in the directory. Parquet files of another version of
the writer have other bytes; of these the values are compared.
"""

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from sraven.core.escape import escape
from sraven.core.families import make_task
from sraven.core.parallel import Progress, check_threads
from sraven.core.roles import Task
from sraven.data.card import describing_files
from sraven.data.engines.call import OnProgress
from sraven.data.engines.jobs import HERE, map_jobs
from sraven.data.files import MOST_NAMED, check_text, check_tree, name_and_count
from sraven.data.leaks import Leaks
from sraven.data.manifest import Shard, list_shards, load_manifest, make_manifest, remake_plan
from sraven.data.shard_check import BY_BYTES, BY_VALUES, Checking, ShardCheck
from sraven.files.files import json_text
from sraven.files.jsonable import json_differences
from sraven.files.staging import MANIFEST

_MOST_FAULTS = 1_000
"""Faults of shards that are named; the rest is counted."""


@dataclass
class Report:
    """What `verify_dataset` found.

    Attributes:
        checked: instances that were compared with the generator's, by split.
        reviewed: instances that the task's second opinion checked, by split.
        files: how many were found right by their ``bytes``, and how many by their ``values`` alone.
        faults: what is wrong, a line each; none means that all is right.
        shared: instances with equal values in two splits, by "a, b". In small tasks some coincide
            by chance, so this is no fault by itself.
        pyarrow: the version of PyArrow that wrote the files.
    """

    checked: dict[str, int] = field(default_factory=dict)
    reviewed: dict[str, int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)
    pyarrow: str = ""


def _check_claims(
    out: Path,
    task: Task,
    manifest: Mapping[str, Any],
    data: bytes,
    true_manifest: Mapping[str, Any],
    unusable: Collection[str],
) -> list[str]:
    """Compare manifest, card and Croissant file with those that files and generator give.

    A file that isn't there, or is no plain one, has its fault already.
    """
    faults: list[str] = []
    if data != json_text(true_manifest).encode():
        names = islice(json_differences(manifest, true_manifest), MOST_NAMED)
        faults += [f"{MANIFEST}: {escape(name)} isn't what files and generator give" for name in names]
        faults = faults or [f"{MANIFEST}: its bytes aren't those that are written: spaces, order, or numbers"]
    return faults + [
        fault
        for name, text in describing_files(task, true_manifest).items()
        if name not in unusable
        for fault in check_text(out, name, text, "the manifest makes")
    ]


def _check_shards(
    checking: Checking, shards: Sequence[Shard], out: Path, report: Report, threads: int, advance: OnProgress
) -> dict[str, dict[str, Any]]:
    """Check files, add to the report, and return the manifest's entries by path."""
    lock, entries = threading.Lock(), {}

    def check(shard: Shard, on_progress: OnProgress) -> None:
        found = ShardCheck(checking, shard, on_progress)
        found.run(out)
        with lock:
            report.faults += [f"{shard.path}: {fault}" for fault in found.faults]
            report.checked[shard.split] += found.checked
            report.reviewed[shard.split] += found.reviewed
            if found.entry:
                entries[shard.path] = found.entry
                report.files[found.how] += 1

    def check_all(some: Sequence[Shard]) -> None:
        map_jobs(check, some, advance, engine=HERE, local="threads", folder=out, workers=threads)

    last = checking.leaks.largest
    check_all([shard for shard in shards if shard.split != last])
    checking.leaks.seal()
    check_all([shard for shard in shards if shard.split == last])
    return entries


def verify_dataset(
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    thorough: bool = False,
    ignored: Collection[str] = (),
    progress: Progress = lambda count: None,
) -> Report:
    """Re-check everything that a dataset directory holds, by making it again.

    Args:
        out: the directory.
        threads: files read at a time; None for one per available processor.
        thorough: check all instances by the task's second opinion, not one of 16.
        ignored: names of what may lie there besides, such as `sraven.data.files.DOWNLOADED`.
        progress: is called with checked instances, from any thread.

    Returns:
        What was found. A directory without faults is the one that the generator would write.

    Raises:
        OutputError: if there is no manifest that can be read.
        ConfigurationError: if its configuration is none of a task.
    """
    path, threads = Path(out), check_threads(threads)
    manifest, data = load_manifest(path)
    task = make_task(manifest["config"])
    plan = remake_plan(task, manifest)
    shards = list_shards(task, plan)
    report = Report(
        checked=dict.fromkeys(plan["sizes"], 0),
        reviewed=dict.fromkeys(plan["sizes"], 0),
        files={BY_BYTES: 0, BY_VALUES: 0},
        pyarrow=plan["pyarrow"],
    )
    faults, unusable = check_tree(path, plan, [shard.path for shard in shards], ignored)
    usable = [shard for shard in shards if shard.path not in unusable]
    checking = Checking(
        rows=task.rows,
        file_format=plan["file_format"],
        pyarrow=plan["pyarrow"],
        thorough=thorough,
        threads=max(1, threads // max(1, len(usable))),
        leaks=Leaks(plan["sizes"]),
    )
    entries = _check_shards(checking, usable, path, report, threads, lambda count, _: progress(count))
    report.faults = name_and_count(sorted(report.faults), "faults of files", _MOST_FAULTS)
    if len(entries) == len(shards):  # else the manifest's claims about those files can't be right either
        true_manifest = make_manifest(task, plan, entries)
        report.faults += _check_claims(path, task, manifest, data, true_manifest, unusable)
    report.faults += faults
    report.shared = checking.leaks.counts()
    return report
