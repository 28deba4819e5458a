"""Datasets in parts: for a job array, whose jobs know nothing of each other, and one merge at the end.

A part, which `sraven.data.write.write_dataset` writes, is an unfinished dataset: a staging directory
whose journal has some of the shards. So it is resumed like any other, and the same command without a part
would finish it. Merging puts the shards of all parts into one directory, which is then published as if it had
been written at once, with the same bytes.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sraven.core.errors import OutputError
from sraven.core.escape import escape
from sraven.core.families import make_task
from sraven.core.parallel import Progress, available_threads
from sraven.core.roles import Task
from sraven.data.directory import DatasetDirectory, Journal, differences, plain_entry, read_begun
from sraven.data.manifest import Shard, ShardContents, list_shards
from sraven.data.write import describe_whole, is_right, plan_dataset
from sraven.files.files import sha256_of_file
from sraven.files.staging import MANIFEST, STAGING, Plan, directory_at, take_file

_Source = tuple[Path, dict[str, Any]]
"""A shard of a part: its directory, and the journal's entry."""

_NAMED = 3
"""Missing shards that an error names; it counts the others."""


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
    begun, sources = _gather(folders)
    task = make_task(begun["config"])
    # A journal has its plan with sorted keys; a manifest has it, and the splits, in their order.
    sizes = {split: begun["sizes"][split] for split in task.splits if split in begun["sizes"]}
    plan = plan_dataset(task, sizes, begun["file_format"], begun.get("shard_size"), begun["layout"])
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
        named = ", ".join(map(escape, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        raise OutputError(
            f"{len(missing):,} of {len(shards):,} shards are in none of these parts ({named}); name the "
            "other parts, or finish them"
        )
    directory = DatasetDirectory(directory_at(out), plan, force)

    def take_shards() -> dict[str, Any]:
        journal = Journal(directory.out, plan)
        for shard in shards:
            _take(task, shard, sources[shard.path], journal, directory.staging)
            progress(shard.count)
        return describe_whole(task, directory, journal.entries)

    return directory.make(take_shards)


def _gather(folders: Sequence[Path]) -> tuple[Plan, dict[str, _Source]]:
    """Return the plan that all parts share, and by shard, whose it is and what that part's journal says.

    Raises:
        OutputError: if there are no parts, they have not the same plan, or two have the same shard.
    """
    if not folders:
        raise OutputError("there are no parts; name their directories")
    plans: list[Plan] = []
    found: dict[str, _Source] = {}
    for folder in folders:
        plan, entries = _read_part(folder)
        plans.append(plan)
        if different := differences(plans[0], plan):
            raise OutputError(
                f"{folder} is part of another dataset than {folders[0]} ({', '.join(different)} differ)"
            )
        for name, entry in entries.items():
            if name in found:
                raise OutputError(f"{name} is in {found[name][0]} and in {folder}; leave out one of them")
            found[name] = folder, entry
    return plans[0], found


def _read_part(folder: Path) -> tuple[Plan, dict[str, dict[str, Any]]]:
    """Return the plan of a part, and its journal's entries by shard."""
    if begun := read_begun(folder):
        return begun
    held = "a whole dataset" if (folder / MANIFEST).is_file() else "no part of a dataset"
    raise OutputError(f"{folder} holds {held}; `sraven generate --part 1/64 --out DIR` makes a part")


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
    contents = ShardContents(task.rows, shard)
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
