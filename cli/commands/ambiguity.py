"""Measure what instances leave open: the command `ambiguity` of each family of tasks."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from cli.shared.options import task_argument, threads_option
from cli.shared.printing import json_option, print_outcome, print_rows
from sraven.core.family import Family

if TYPE_CHECKING:
    from sraven.core.roles import Task


def make(family: Family) -> Callable[..., None]:
    """Return what the command of a family does, with its options."""

    @task_argument(family, measuring=True)
    @click.option(
        "-n", default=100_000, show_default=True, help=f"{family.nouns.capitalize()} of each population."
    )
    @threads_option
    @json_option
    def ambiguity(task: "Task", n: int, threads: int | None) -> None:
        assert family.measure is not None
        found = family.measure(task, n, threads)
        print_outcome(
            value={"config": task.config, "results": found.results},
            text=lambda: print_rows(found.headings, found.rows, title=found.title, title_justify="left"),
        )

    return ambiguity
