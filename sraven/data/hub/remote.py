"""A dataset on the Hub against its manifest, without a download of its data.

The Hub knows the SHA-256 of each large file and Git's of each small one. The manifest is fetched; all else
must have the checksums that follow from it, and nothing else may be there. Whether the manifest itself is
that of the generator, only a download can show: `sraven verify --full`.
"""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sraven.core.errors import OutputError
from sraven.core.escape import escape
from sraven.core.families import make_task
from sraven.core.system.files import json_text
from sraven.core.system.staging import MANIFEST
from sraven.core.task import Task
from sraven.data.card import describing_files
from sraven.data.hub.service import HUBS_OWN, KIND, Place, in_one_line, insist
from sraven.data.manifest import (
    MANIFEST_LIMIT,
    Shard,
    list_shards,
    load_manifest,
    make_manifest,
    make_shard_entry,
    remake_plan,
)

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_NAMED = 5
_AT_ONCE = 500  # files that one question is about


class RemoteReport(NamedTuple):
    """What a look at the Hub found.

    Attributes:
        place: where, with the commit that was looked at.
        instances: by split, as the manifest has them.
        files: whose checksums are right.
        bytes: of them.
        faults: what is wrong, a line each; none means that all is right.
    """

    place: Place
    instances: Mapping[str, int]
    files: int
    bytes: int
    faults: list[str]


class FileSums(NamedTuple):
    """A file as the Hub knows it.

    Attributes:
        size: bytes.
        sha256: of them; the Hub has it of large files only.
        git: the id that Git gives them; empty where it isn't known.
    """

    size: int
    sha256: str | None
    git: str


def verify_remote(place: Place) -> RemoteReport:
    """Compare a dataset on the Hub with its manifest, without a download of its data.

    Args:
        place: where it is.

    Raises:
        OutputError: if there is no such dataset, or its manifest can't be read.
        HubError: if the server or the line fails.
    """
    from huggingface_hub import HfApi

    api = HfApi()
    with in_one_line(place, "verifying"), tempfile.TemporaryDirectory() as folder:
        info = insist(lambda: api.dataset_info(place.repository, revision=place.revision))
        pinned = Place(place.repository, info.sha)
        names = [each.rfilename for each in info.siblings or ()]
        if MANIFEST not in names:
            raise OutputError(f"{place} has no {MANIFEST}: it is no dataset of this benchmark")
        _fetch_manifest(api, pinned, MANIFEST, folder)
        sizes, wanted = _expected(Path(folder))
        objects = _objects(api, pinned, sorted({*wanted} & {*names}))
    wrong = {name: _fault(want, objects.get(name)) for name, want in wanted.items()}
    faults = [*_not_part(names, wanted), *(f"{name} {fault}" for name, fault in wrong.items() if fault)]
    right = [name for name, fault in wrong.items() if not fault]
    size = sum(objects[name].size for name in right)
    return RemoteReport(pinned, sizes, len(right), size, faults)


@contextmanager
def downloaded(report: RemoteReport) -> Iterator[Path]:
    """Download a dataset in which a look at the Hub found no fault; yield its directory, gone afterwards.

    So there is no file in it but those that follow from the manifest, and their sizes are known.

    Raises:
        OutputError: if the disk has no room for it.
        HubError: if the server or the line fails.
    """
    from huggingface_hub import snapshot_download

    place = report.place
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if report.bytes > free:
            raise OutputError(f"{place} has {report.bytes:,} bytes; {folder} has room for {free:,}")
        with in_one_line(place, "downloading"):
            insist(
                lambda: snapshot_download(
                    place.repository,
                    repo_type=KIND,
                    revision=place.revision,
                    local_dir=folder,
                    ignore_patterns=[*HUBS_OWN],
                )
            )
        shutil.rmtree(Path(folder, ".cache"), ignore_errors=True)  # what the download itself put there
        yield Path(folder)


def _fetch_manifest(api: Any, place: Place, name: str, folder: str) -> None:
    found = _objects(api, place, [name])
    if name in found and found[name].size > MANIFEST_LIMIT:
        size = found[name].size
        raise OutputError(f"{place}: {name} has {size:,} bytes; expected {MANIFEST_LIMIT:,} or fewer")
    insist(
        lambda: api.hf_hub_download(
            place.repository, name, repo_type=KIND, revision=place.revision, local_dir=folder
        )
    )


def _expected(folder: Path) -> tuple[dict[str, int], dict[str, FileSums]]:
    """Return what follows from a manifest: the instances of each split, and the files by name.

    Raises:
        OutputError: if no writer makes such a manifest.
        ConfigurationError: if its configuration is none of a task.
    """
    manifest, data = load_manifest(folder)
    task = make_task(manifest["config"])
    plan = remake_plan(task, manifest)
    try:
        entries = _entries(task, list_shards(task, plan), manifest["splits"])
        again = make_manifest(task, plan, entries)
        if json_text(again).encode() != data:
            raise ValueError("what follows from its configuration, checksums and tallies is another")
        with np.errstate(all="raise"):
            texts = describing_files(task, again)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutputError(f"{MANIFEST} isn't one that this version writes: {escape(str(error))}") from None
    wanted = {path: FileSums(entry["num_bytes"], entry["sha256"], "") for path, entry in entries.items()}
    wanted |= {name: sums_of(text.encode()) for name, text in texts.items()}
    return dict(manifest["sizes"]), {**wanted, MANIFEST: sums_of(data)}


def _entries(task: Task, shards: Sequence[Shard], splits: Any) -> dict[str, dict[str, Any]]:
    """Return what a journal has of files, by path, from the splits of a manifest, which may be anything.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if they have another form.
    """
    entries = dict[str, dict[str, Any]]()
    claimed = {split: iter(each["shards"]) for split, each in splits.items()}
    for shard in shards:
        entry: dict[str, Any] = next(claimed[shard.split], {})
        # A manifest has the tallies of a split, not of a file: its first file stands for all.
        tallies = _tallies(task, shard.split, splits[shard.split]["tallies"]) if shard.start == 0 else {}
        size, digests = entry["num_bytes"], [entry["sha256"], *entry["blocks"]]
        if type(size) is not int or size < 0 or not all(_DIGEST.fullmatch(each) for each in digests):
            raise ValueError(f"{shard.path} lacks a size or a checksum")
        entries[shard.path] = make_shard_entry(shard, size, digests[0], digests[1:], tallies)
    return entries


def _tallies(task: Task, split: str, claimed: Any) -> dict[str, Any]:
    tallies = {name: np.asarray(each, np.int64) for name, each in claimed.items()}
    of_none = task.rows.encode(split, 0, 0, 1).tallies
    if {name: np.shape(each) for name, each in tallies.items()} != {
        name: np.shape(each) for name, each in of_none.items()
    }:
        raise ValueError(f"the tallies of {split} aren't those of its task")
    return tallies


def sums_of(data: bytes) -> FileSums:
    """Return what the Hub would know of a file."""
    git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return FileSums(len(data), hashlib.sha256(data).hexdigest(), git)


def _objects(api: Any, place: Place, names: list[str]) -> dict[str, FileSums]:
    """Return what the Hub knows of files."""

    def ask(part: list[str]) -> Any:
        return api.get_paths_info(place.repository, part, repo_type=KIND, revision=place.revision)

    found = {}
    for start in range(0, len(names), _AT_ONCE):
        for each in insist(partial(ask, names[start : start + _AT_ONCE])):
            found[each.path] = FileSums(each.size, each.lfs.sha256 if each.lfs else None, each.blob_id)
    return found


def _fault(wanted: FileSums, found: FileSums | None) -> str:
    """Return what is wrong with a file; its checksum is SHA-256 if the Hub has that, else Git's."""
    if found is None:
        return "is missing"
    if found.size != wanted.size:
        return f"has {found.size:,} bytes; the manifest requires {wanted.size:,}"
    same = found.sha256 == wanted.sha256 if found.sha256 else bool(wanted.git) and found.git == wanted.git
    return "" if same else "has another checksum than the manifest requires"


def _not_part(names: list[str], wanted: Mapping[str, FileSums]) -> list[str]:
    others = sorted(set(names) - wanted.keys() - {*HUBS_OWN})
    if not others:
        return []
    more = f" and {len(others) - _MOST_NAMED:,} more" if len(others) > _MOST_NAMED else ""
    return [f"not part of the dataset: {', '.join(map(escape, others[:_MOST_NAMED]))}{more}"]
