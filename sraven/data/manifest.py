"""The manifest of a dataset: what it says, of which files, and how one is read.

It has the plan, which distinguishes datasets, the columns, and for each split its size, digest, tallies and
shards. A shard is a file of some blocks; its entry has the digests of those blocks.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.digests import block_digest, block_size, instance_bytes, split_digest
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import escape
from sraven.core.roles import Encoded, Rows, Task
from sraven.files.schemas import find_problem
from sraven.files.staging import MANIFEST, STAGING, Plan
from sraven.files.strict_json import parse_json
from sraven.files.untrusted import read_file

LAYOUT = 2
"""Version of the directory's layout and of the manifest: from 2, the folder of shards has a card, too."""

CARD, CROISSANT = "README.md", "croissant.json"

SIZE_LIMIT = 1 << 40
"""Most instances of a split in one dataset."""

MANIFEST_LIMIT = 1 << 26
"""Most bytes of a manifest."""

PLAN_KEYS = ("layout", "config", "config_name", "file_format", "sizes", "shard_size")
"""What distinguishes datasets; a plan also has the version of PyArrow, which shapes the bytes."""

BLOCKS_IN_SHARD = 4

MOST_SHARDS = 1 << 16
"""Most files of one dataset, which bounds its manifest."""


@dataclass(frozen=True)
class Shard:
    """A file to write: instances ``start`` to ``start + count - 1`` of a split."""

    split: str
    path: str
    start: int
    count: int


def make_plan(
    task: Task,
    sizes: Mapping[str, int],
    file_format: str,
    pyarrow: str | None = None,
    layout: int = LAYOUT,
    shard_size: int | None = None,
) -> dict[str, Any]:
    """Return what identifies a dataset: equal plans give equal bytes. The usual shard size isn't named.

    Raises:
        ConfigurationError: if the shard size isn't one of whole blocks.
    """
    block = block_size(task.rows.columns)
    allowed = [blocks * block for blocks in range(1, BLOCKS_IN_SHARD + 1)]
    if shard_size is not None and shard_size not in allowed:
        raise ConfigurationError(
            f"shard_size={shard_size}: a file holds whole blocks, {', '.join(map(str, allowed))} instances"
        )
    return {
        "layout": layout,
        "config": dict(task.config),
        "config_name": task.config_name,
        "file_format": file_format,
        "sizes": {split: size for split, size in sizes.items() if size},
        **({"shard_size": shard_size} if shard_size not in (None, allowed[-1]) else {}),
        "pyarrow": pyarrow or version("pyarrow"),
    }


def inner_cards(plan: Plan) -> list[str]:
    """Return the path of the card beside the shards, if the layout has one: their folder loads, too."""
    return [f"{plan['config_name']}/{CARD}"] if plan["layout"] > 1 else []


def list_shards(task: Task, plan: Plan) -> list[Shard]:
    """Return the files of a dataset, in order.

    Raises:
        ConfigurationError: if there are too many, or a split isn't the task's.
    """
    for split in plan["sizes"]:
        if split not in task.splits:
            raise ConfigurationError(
                f"there is a split {escape(split)}; this task has {', '.join(task.splits)}"
            )
    shards: list[Shard] = []
    step = plan.get("shard_size") or BLOCKS_IN_SHARD * block_size(task.rows.columns)
    count = sum(-(-size // step) for size in plan["sizes"].values())
    if count > MOST_SHARDS:
        total = sum(plan["sizes"].values())
        raise ConfigurationError(
            f"{total:,} instances make {count:,} files; at most {MOST_SHARDS:,} are in one dataset: "
            "write several, of other seeds"
        )
    for split, size in plan["sizes"].items():
        starts = range(0, size, step)
        for number, start in enumerate(starts):
            name = f"{split}-{number:05d}-of-{len(starts):05d}.{plan['file_format']}"
            path = f"{plan['config_name']}/{name}"
            shards.append(Shard(split, path, start, min(step, size - start)))
    return shards


def remake_plan(task: Task, manifest: Plan) -> dict[str, Any]:
    """Return the plan that a manifest, or a journal, was made by: all that is believed of it."""
    given = {key: manifest[key] for key in ("sizes", "file_format", "pyarrow", "layout")}
    return make_plan(task, **given, shard_size=manifest.get("shard_size"))


def make_shard_entry(
    shard: Shard, size: int, sha256: str, blocks: Sequence[str], tallies: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what journal and manifest say of a file that is written; the tallies are arrays."""
    return {
        "path": shard.path,
        "start": shard.start,
        "num_examples": shard.count,
        "num_bytes": size,
        "sha256": sha256,
        "blocks": list(blocks),
        "tallies": {name: compact_counts(tally) for name, tally in tallies.items()},
    }


def compact_counts(counts: ArrayLike) -> NDArray[Any]:
    """Return counts in the fewest bytes: a driver holds those of all files, and lists would be its limit."""
    array = np.asarray(counts)
    return array.astype(np.min_scalar_type(array.max())) if array.size else array


def add_tallies(total: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add counts by name."""
    for name, tally in more.items():
        total[name] = total.get(name, 0) + tally


class ShardContents:
    """The instances of a shard, drawn block by block; its digests and tallies are kept on the way."""

    def __init__(self, rows: Rows, shard: Shard) -> None:
        self._rows, self._shard, self.block_size = rows, shard, block_size(rows.columns)
        self._digests: list[str] = []
        self._tallies: dict[str, Any] = {}

    def draw(self, threads: int) -> Iterator[Encoded]:
        """Yield the blocks in order, once."""
        end = self._shard.start + self._shard.count
        for start in range(self._shard.start, end, self.block_size):
            count = min(self.block_size, end - start)
            encoded = self._rows.encode(self._shard.split, start, count, threads)
            self._digests.append(block_digest(encoded.columns, self._rows.columns))
            add_tallies(self._tallies, encoded.tallies)
            yield encoded

    def entry(self, size: int, sha256: str) -> dict[str, Any]:
        """Return the entry of the file that holds what was drawn."""
        return make_shard_entry(self._shard, size, sha256, self._digests, self._tallies)


def make_manifest(
    task: Task, plan: Plan, entries: Mapping[str, dict[str, Any]], shards: Sequence[Shard] | None = None
) -> dict[str, Any]:
    """Return the manifest of a dataset from the entries of its files, by path.

    Given some shards of a part, it is what the manifest would be without the others.
    """
    shards = list_shards(task, plan) if shards is None else shards
    splits: dict[str, Any] = {}
    for split in plan["sizes"]:
        size = sum(shard.count for shard in shards if shard.split == split)
        files = [entries[shard.path] for shard in shards if shard.split == split]
        tallies: dict[str, Any] = {}
        for entry in files:
            counts = {name: np.asarray(tally, np.int64) for name, tally in entry["tallies"].items()}
            add_tallies(tallies, counts)
        splits[split] = {
            "num_examples": size,
            "memory_bytes": size * instance_bytes(task.rows.columns),
            "digest": split_digest(block for entry in files for block in entry["blocks"]),
            "tallies": {name: tally.tolist() for name, tally in tallies.items()},
            "shards": [{key: entry[key] for key in entry if key != "tallies"} for entry in files],
        }
    columns = [{**asdict(column), "shape": list(column.shape)} for column in task.rows.columns]
    return {**plan, "columns": columns, "splits": splits}


def load_manifest(out: Path) -> tuple[dict[str, Any], bytes]:
    """Return the manifest of a dataset directory, and the bytes that it was read from.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    path = out / MANIFEST
    if not os.path.lexists(path):
        unfinished = "unfinished: run the same generate command again, and it goes on"
        if out.is_dir() and not os.access(out, os.R_OK | os.X_OK):
            raise OutputError(f"{out} is closed to you, so nothing in it can be read")
        state = unfinished if (out / STAGING).is_dir() else "not a dataset of this benchmark"
        raise OutputError(f"{out} has no {MANIFEST}; it is {state}")
    if path.is_symlink():
        raise OutputError(f"{path} is a link, which may lead anywhere; put there the file it leads to")
    try:
        data = read_file(out, MANIFEST, MANIFEST_LIMIT)
        manifest = parse_json(data)
    except ValueError as error:
        raise OutputError(
            f"{path} can't be read as a manifest of this benchmark ({escape(str(error))})"
        ) from None
    check_plan(path, manifest)
    if missing := [key for key in ("splits", "columns") if key not in manifest]:
        raise OutputError(f"{path} lacks {', '.join(missing)}")
    return manifest, data


def check_plan(path: Path, plan: Any) -> None:
    """Refuse what a manifest, or the first line of a journal, says of a dataset, if nothing of ours says so.

    Whether it is a task's, `make_task` and `list_shards` check.

    Args:
        path: the file.
        plan: what it says.

    Raises:
        OutputError: with what is wrong.
    """
    if problem := find_problem(plan, "plan"):
        raise OutputError(f"{path} isn't a manifest of this benchmark: {problem}")


def read_manifest(out: Path) -> dict[str, Any]:
    """Return the manifest of a dataset directory.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    return load_manifest(out)[0]
