"""`sraven ambiguity`"""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from cli.options import json_option, print_json, print_table, sraven_task, threads_option

if TYPE_CHECKING:
    from sraven.task import SRAVEN


@click.command(name="ambiguity")
@sraven_task
@click.option("-n", "n", type=int, default=100_000, show_default=True, help="Instances of each population.")
@threads_option
@json_option
def command(task: "SRAVEN", n: int, threads: int | None, as_json: bool) -> None:
    """Measure how many instances have several answers, and what the ideal observer scores.

    "several answers" is the paper's definition, "differs everywhere" what its published code counts:
    an answer that differs from the target in every feature. The observer columns give the best
    accuracy that is possible: for one that thinks all combinations of rules possible, and for one that
    knows those of the split.

    \b
    Example:
      sraven ambiguity --M 4 --K 8 -n 4096
    """
    from rich.table import Table

    from sraven.estimate import estimate_ambiguity

    splits = ["all", *task.splits[1:]]
    results = [estimate_ambiguity(task, split, n, threads=threads) for split in splits]
    if as_json:
        print_json({"config": task.config, "results": [asdict(result) for result in results]})
        return
    names = {"all": "all combinations", "test": "known (test)", "ood": "held out (ood)"}
    headings = (
        "instances of",
        "several answers",
        "differs everywhere",
        "observer",
        "observer, knowing the split",
    )
    title = f"M={task.M}, K={task.K}, {n:,} instances each (± standard error)"
    table = Table(*headings, title=title, title_justify="left")
    for result in results:
        means = (
            result.several_answers,
            result.differs_everywhere,
            result.observer,
            result.observer_knowing_split,
        )
        table.add_row(names[result.split], *map(str, means))
    print_table(table)
