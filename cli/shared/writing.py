"""How the generate commands of all tasks write and what they print."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.printing import print_json
from cli.shared.progress import progress_bar, resumable

if TYPE_CHECKING:
    from sraven.core.tasks.task import Task


def write(
    task: "Task",
    sizes: Mapping[str, int],
    out: Path | None,
    *,
    file_format: str,
    threads: int | None,
    part: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a dataset with a progress bar, and print what it holds and how to load it."""
    from sraven.core.dataset.write import write_dataset

    if part is not None:
        _write_part(task, sizes, out, part, as_json, file_format=file_format, threads=threads, force=force)
        return
    out = out or Path(f"{task.name}-{task.config_name}")
    total = sum(sizes.values())
    with (
        resumable(out),
        progress_bar("generating (compiles on first use)", total) as progress,
    ):
        manifest = write_dataset(
            task, sizes, out, file_format=file_format, threads=threads, force=force, progress=progress
        )
    print_dataset(manifest, out, as_json)


def _write_part(
    task: "Task", sizes: Mapping[str, int], out: Path | None, part: str, as_json: bool, **how: Any
) -> None:
    """Write a part of a dataset with a progress bar, and print what it holds and what comes next."""
    from sraven.core.dataset.parts import read_part, write_part

    chosen = read_part(part)
    folder = out or Path(f"{task.name}-{task.config_name}-part-{chosen.number}-of-{chosen.of}")
    with resumable(folder), progress_bar(f"part {chosen} (compiles on first use)", 0) as progress:
        shards = write_part(task, sizes, folder, chosen, progress=progress, **how)
    instances = sum(shard.count for shard in shards)
    if as_json:
        found = {"number": chosen.number, "of": chosen.of, "shards": len(shards), "instances": instances}
        print_json({"path": str(folder), **found})
        return
    click.echo(f"part {chosen}: {len(shards):,} shards, {instances:,} instances")
    click.echo(f"when all are there: sraven merge {shlex.quote(str(folder))} ... --out DIR")


def print_dataset(manifest: Mapping[str, Any], out: Path, as_json: bool) -> None:
    """Print what a dataset holds, and how to load it."""
    from sraven.core.tasks.families import make_task, rows_of

    if as_json:
        keys = "num_examples", "digest"
        splits = {name: {key: split[key] for key in keys} for name, split in manifest["splits"].items()}
        print_json({"path": str(out), "config": manifest["config"], "splits": splits})
        return
    rows = rows_of(make_task(manifest["config"]))
    for name, split in manifest["splits"].items():
        click.echo(f"{name:>9}: {split['num_examples']:>12,} instances{rows.remark(split['tallies'])}")
    # Without a slash, load_dataset would take some names for formats or packages.
    path = str(out) if "/" in str(out) else f"./{out}"
    path = path if out.name and out.name != ".." else str(out.resolve())
    click.echo(f"\nfrom datasets import load_dataset\ndataset = load_dataset({json.dumps(path)})")
