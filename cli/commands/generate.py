"""Write a dataset: the command `generate` of each family of tasks."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import (
    argument_of,
    engine_option,
    is_given,
    output_directory,
    task_argument,
    threads_option,
)
from cli.shared.printing import json_option, print_dataset, print_outcome
from cli.shared.progress import parts_bar, resumable
from sraven.core.family import Family

if TYPE_CHECKING:
    from sraven.core.roles import Task

_NOT_IN_CONFIG_NAME = ("holdout", "unseen_terms", "seed")
"""Settings of tasks that the names of their configurations leave out, but for the names of divisions."""


_MENTIONED = 1_000_000_000
"""Bytes of a dataset from which on its size is said before it is written."""


def _write(task: "Task", sizes: Mapping[str, int], out: Path | None, part: str | None, **how: Any) -> None:
    """Write a dataset, or a part, with a progress bar; print what it holds, and how to load or merge it."""
    from sraven.data.manifest import list_shards
    from sraven.data.parts import read_part
    from sraven.data.write import estimate_bytes, free_bytes, plan_dataset, write_dataset

    own = read_part(part) if part is not None else None
    out = out or Path(_directory_name(task) + (f"-part-{own.number}-of-{own.of}" if own else ""))
    with resumable(out):
        shards_of = list_shards(task, plan_dataset(task, sizes, how["file_format"], how["shard_size"]))
        size = estimate_bytes(task, own.choose(shards_of) if own else shards_of, how["file_format"])
        if _MENTIONED < size <= (free := free_bytes(out)):  # what has no room is refused
            click.echo(f"about {size / 1e9:,.1f} GB; {free / 1e9:,.1f} GB are free", err=True)
        title = f"part {own}" if own else "generating"
        bar = parts_bar(f"{title}, {size / 1e6:,.0f} MB", None if own else sum(sizes.values()))
        with bar as (advance, shards):
            manifest = write_dataset(task, sizes, out, part=own, progress=advance, shards=shards, **how)
    if own is None:
        print_dataset(manifest, out)
        return
    splits = manifest["splits"].values()
    counts = {"shards": sum(len(split["shards"]) for split in splits)}
    counts["instances"] = sum(split["num_examples"] for split in splits)
    held = ", ".join(f"{count:,} {noun}" for noun, count in counts.items())
    print_outcome(
        value={"path": str(out), "number": own.number, "of": own.of, **counts},
        text=f"part {own}: {held}\nwhen all are there: sraven merge {quote(str(out))} ... --out DIR",
    )


def _directory_name(task: "Task") -> str:
    """Return the directory of a dataset: its configuration's name, and what else differs from the default."""
    usual = {field.name: field.default for field in fields(type(task))}  # type: ignore[arg-type]
    name = f"{task.name}-{task.config_name}"
    for setting in _NOT_IN_CONFIG_NAME:
        value = task.config.get(setting)
        if value != usual.get(setting) and not isinstance(value, str):
            number = f"{100 * value:g}" if isinstance(value, float) else value
            name += f"-{setting.replace('_', '-')}{number}"
    return name


def make(family: Family) -> Callable[..., None]:
    """Return what the command of a family does, with its options."""
    options = (
        click.option(
            f"--{split.replace('_', '-')}", default=size.instances, show_default=True, help=size.meaning
        )
        for split, size in family.sizes.items()
    )

    @task_argument(family)
    @argument_of("sizes", dict, *options)
    @click.option(
        "--format",
        "file_format",
        type=click.Choice(["parquet", "arrow"]),
        default="parquet",
        show_default=True,
        help="Format of the files.",
    )
    @click.option(
        "--shard-size",
        type=int,
        metavar="N",
        help="Instances in a file, of one to four blocks (65,536 in most tasks).  [default: four blocks]",
    )
    @click.option("--out", type=output_directory, help="Directory to write.  [default: named after the task]")
    @threads_option
    @engine_option
    @click.option(
        "--part", metavar="I/N", help="Write the shards of one of N parts alone; see `sraven merge`."
    )
    @click.option("--force", is_flag=True, help="Replace another dataset in the same place.")
    @json_option
    def generate(task: "Task", sizes: dict[str, int], **output: Any) -> None:
        # A task without some split, as --holdout 0 leaves it, has none of it unless its size is given; and
        # whoever says how much of one kind of novelty is wanted wants no other.
        novel = [split for split in sizes if split.startswith("ood")]
        unasked = set(novel) if any(map(is_given, novel)) else set()
        chosen = [
            split for split in sizes if is_given(split) or (split in task.splits and split not in unasked)
        ]
        _write(task, {split: sizes[split] for split in chosen}, **output)

    return generate
