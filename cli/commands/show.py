"""Look at instances: the command `show` of each family of tasks."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import join_options, needs_extra, picture_file, task_argument
from cli.shared.printing import json_option, print_outcome, print_renderables
from sraven.core.family import Family

if TYPE_CHECKING:
    from sraven.core.roles import Task


def make(family: Family) -> Callable[..., None]:
    """Return what the command of a family does, with its options."""
    show = family.show
    assert show is not None
    out = click.option(
        "--out", type=picture_file, help="Write a picture of one instance: FILE.svg, .pdf or .png."
    )
    picture = [out] if show.picture else []

    @task_argument(family)
    @click.option("--split", default="train", show_default=True, help="Split to look into, or all.")
    @click.option("--index", type=int, default=0, show_default=True, help="First instance to show.")
    @click.option(
        "-n", "--count", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many to show."
    )
    @click.option("--explain", is_flag=True, help=show.explain)
    @join_options(*picture)
    @json_option
    def command(
        task: "Task", split: str, index: int, count: int, explain: bool, out: Path | None = None
    ) -> None:
        module = show.module()
        if out:
            if count != 1:
                raise click.UsageError(
                    f"--out shows one instance, but --count is {count}; leave out one of them"
                )
            assert show.picture is not None
            with needs_extra("--out", "analysis"):
                save_picture = show.picture()
            save_picture(module.make_puzzle(task, split, index), out, explain)
            print_outcome(value={"path": str(out)}, text=str(out))
            return
        puzzles = [module.make_puzzle(task, split, at) for at in range(index, index + count)]
        print_outcome(
            value=list(map(module.to_json, puzzles)),
            text=lambda: print_renderables(module.render(puzzle, explain) for puzzle in puzzles),
        )

    return command
