"""Datasets in parts: for a job array, whose jobs know nothing of each other, and one merge at the end.

A part is an unfinished dataset: a staging directory whose journal has some of the shards. So it is resumed
like any other, and the same command without a part would finish it. Merging puts the shards of all parts
into one directory, which is then published as if it had been written at once, with the same bytes.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sraven.core.base.errors import ConfigurationError, OutputError
from sraven.core.base.escape import escape
from sraven.core.compute.parallel import Progress, available_threads
from sraven.core.dataset.directory import DatasetDirectory, Journal, differences, plain_entry, read_begun
from sraven.core.dataset.manifest import Shard, ShardContents, list_shards
from sraven.core.dataset.write import Running, is_right, make_whole, plan_dataset, write_shards
from sraven.core.engines.jobs import HERE, Engine
from sraven.core.system.files import sha256_of_file
from sraven.core.system.staging import MANIFEST, STAGING, Plan, take_file
from sraven.core.tasks.families import make_task, rows_of
from sraven.core.tasks.task import Task

_NAMED = 3
"""Shards that an error names; it counts the others."""


@dataclass(frozen=True)
class Part:
    """One of several parts of equal work.

    Attributes:
        number: from 1.
        of: how many there are.
    """

    number: int
    of: int

    def choose(self, items: Sequence[Any]) -> list[Any]:
        """Return every so many-th item, which is this part's."""
        return list(items[self.number - 1 :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def read_part(text: str) -> Part:
    """Return the part that a text says, such as 3/64 for the third of 64.

    Raises:
        ConfigurationError: if it says none.
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    part = Part(int(found[1]), int(found[2])) if found else None
    if part is None or not 1 <= part.number <= part.of:
        raise ConfigurationError(
            f"part={escape(repr(text))}: expected 3/64 for the third of 64 parts, from 1/64 to 64/64"
        )
    return part


def write_part(
    task: Task,
    sizes: Mapping[str, int],
    out: str | os.PathLike[str],
    part: Part,
    *,
    file_format: str = "parquet",
    threads: int | None = None,
    force: bool = False,
    progress: Progress = lambda count: None,
    shards: Callable[[int, int], None] = lambda done, of: None,
    engine: Engine = HERE,
) -> list[Shard]:
    """Write the shards of a part of a dataset; resume if it was begun.

    Args:
        task: what to draw instances from.
        sizes: number of instances of the whole dataset, by split.
        out: the part's own directory; as for `sraven.core.dataset.write.write_dataset`.
        part: which.
        file_format: of the whole, ``parquet`` or ``arrow``.
        threads: shards written at a time; None for one per available processor.
        force: replace another dataset of this benchmark.
        progress: is called with finished instances, from any thread.
        shards: is called with finished shards, and how many there are.
        engine: what writes the shards; see `sraven.core.engines.jobs`.

    Returns:
        the shards of the part, all of which are there. There are none if there are more parts than shards.

    Raises:
        ConfigurationError: for a size, split or format that can't be; nothing is created.
        OutputError: if the directory can't be used, or holds the whole dataset.
        OSError: if writing fails; the same call again goes on from there.
    """
    path, plan = plan_dataset(task, sizes, out, file_format)
    chosen: list[Shard] = part.choose(list_shards(task, plan))
    running = Running(engine, threads, progress, shards)
    lock = DatasetDirectory(path, plan, force).open()
    if lock is None:
        raise OutputError(f"{path} holds the whole dataset already; choose another directory for a part")
    with lock:
        write_shards(task, plan, chosen, path, running)
    return chosen


def merge_parts(
    folders: Sequence[Path],
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress = lambda count: None,
) -> dict[str, Any]:
    """Make one dataset of its parts; resume if it was begun. The parts stay as they are.

    Args:
        folders: the directories of the parts, in any order.
        out: the directory of the dataset.
        force: replace another dataset of this benchmark.
        progress: is called with finished instances.

    Returns:
        the manifest.

    Raises:
        OutputError: if a directory holds no part, one of another dataset, or a shard that another has as
            well; if shards are missing or damaged, or a journal says of one what isn't so; if the directory
            can't be used. Nothing is published.
        OSError: if writing fails; the same call again goes on from there.
    """
    begun, sources = _read_parts(folders)
    task = make_task(begun["config"])
    # A journal has its plan with sorted keys; a manifest has it, and the splits, in their order.
    sizes = {split: begun["sizes"][split] for split in task.splits if split in begun["sizes"]}
    path, plan = plan_dataset(task, sizes, out, begun["file_format"])
    if plan["pyarrow"] != begun["pyarrow"]:
        raise OutputError(
            f"{folders[0]} was written with PyArrow {begun['pyarrow']}, this is {plan['pyarrow']}: "
            "merge with the same version, whose bytes they are"
        )
    if plan != begun:
        names = ", ".join(differences(plan, begun))
        raise OutputError(f"{folders[0]}: its journal has another {escape(names)} than its dataset")
    shards = list_shards(task, plan)
    if missing := [shard.path for shard in shards if shard.path not in sources]:
        named = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
        raise OutputError(
            f"{len(missing):,} of {len(shards):,} shards are in none of these parts ({named}); "
            "name the other parts, or finish them"
        )

    def take_shards() -> dict[str, dict[str, Any]]:
        journal = Journal(path, plan)
        for shard in shards:
            _take(task, shard, sources[shard.path], journal, path / STAGING)
            progress(shard.count)
        return journal.entries

    return make_whole(task, plan, path, force, take_shards)


_Source = tuple[Path, dict[str, Any]]
"""A shard of a part: its directory, and the journal's entry."""


def _read_parts(folders: Sequence[Path]) -> tuple[Plan, dict[str, _Source]]:
    """Return the plan that all parts share, and who has which shard."""
    if not folders:
        raise OutputError("there are no parts; name their directories")
    plan: Plan | None = None
    sources: dict[str, _Source] = {}
    for folder in folders:
        begun = read_begun(folder)
        if begun is None:
            held = "a whole dataset" if (folder / MANIFEST).is_file() else "no part of a dataset"
            raise OutputError(f"{folder} holds {held}; `sraven generate --part 1/64 --out DIR` makes a part")
        if plan is None:
            plan = begun[0]
        elif different := differences(plan, begun[0]):
            raise OutputError(
                f"{folder} is part of another dataset than {folders[0]} ({', '.join(different)} differ)"
            )
        for name, entry in begun[1].items():
            if name in sources:
                raise OutputError(f"{name} is in {sources[name][0]} and in {folder}; leave out one of them")
            sources[name] = folder, entry
    assert plan is not None
    return plan, sources


def _take(task: Task, shard: Shard, source: _Source, journal: Journal, staging: Path) -> None:
    """Put a part's shard into the staging directory, as a second name of the file where that can be.

    All that its journal says of it is recomputed: digests and tallies of its instances from the generator,
    size and checksum from the file. Whether the file has these instances, `sraven verify` checks.
    """
    folder, entry = source
    done = journal.entries.get(shard.path)
    if done and done["sha256"] == entry["sha256"] and is_right(done, staging):
        return
    origin = folder / STAGING / shard.path
    if not origin.is_file() or origin.is_symlink() or sha256_of_file(origin) != entry["sha256"]:
        raise OutputError(f"{origin} is missing or damaged; the same `sraven generate --part` again mends it")
    contents = ShardContents(rows_of(task), shard)
    for _ in contents.draw(available_threads()):
        pass
    right = contents.entry(origin.stat().st_size, entry["sha256"])
    should_be, is_there = plain_entry(right), plain_entry(entry)
    if wrong := [name for name in {**right, **entry} if should_be.get(name) != is_there.get(name)]:
        raise OutputError(
            f"{folder}: its journal has another {escape(', '.join(wrong))} of {shard.path} than the "
            "generator and the file give; write the part again"
        )
    take_file(origin, staging / shard.path, staging)
    journal.add(right)
