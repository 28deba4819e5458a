"""How the generate commands of all tasks write and what they print."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

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
    force: bool,
    as_json: bool,
) -> None:
    """Write a dataset with a progress bar, and print what it holds and how to load it."""
    from sraven.core.dataset.write import write_dataset
    from sraven.core.tasks.families import rows_of

    rows = rows_of(task)
    out = out or Path(f"{task.name}-{task.config_name}")
    total = sum(sizes.values())
    with (
        resumable(out),
        progress_bar("generating (compiles on first use)", total) as progress,
    ):
        manifest = write_dataset(
            task, sizes, out, file_format=file_format, threads=threads, force=force, progress=progress
        )
    if as_json:
        keys = "num_examples", "digest"
        splits = {name: {key: split[key] for key in keys} for name, split in manifest["splits"].items()}
        print_json({"path": str(out), "config": manifest["config"], "splits": splits})
        return
    for name, split in manifest["splits"].items():
        click.echo(f"{name:>9}: {split['num_examples']:>12,} instances{rows.remark(split['tallies'])}")
    # Without a slash, load_dataset would take some names for formats or packages.
    path = str(out) if "/" in str(out) else f"./{out}"
    path = path if out.name and out.name != ".." else str(out.resolve())
    click.echo(f"\nfrom datasets import load_dataset\ndataset = load_dataset({json.dumps(path)})")
