"""`sraven fuzzylogic ambiguity`"""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from cli.fuzzylogic.options import fuzzylogic_task
from cli.options import json_option, print_json, print_table, threads_option

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic


@click.command(name="ambiguity")
@fuzzylogic_task
@click.option("-n", "n", type=int, default=100_000, show_default=True, help="Sequences of each population.")
@threads_option
@json_option
def command(task: "FuzzyLogic", n: int, threads: int | None, as_json: bool) -> None:
    """Measure what the points of a sequence leave open, and what the ideal observer scores.

    A query is ambiguous if two functions that agree with all points shown disagree on it. The observer
    predicts the mean over all agreeing functions that it thinks possible: its R² is the ceiling.

    \b
    Example:
      sraven fuzzylogic ambiguity --K 2 --N 16
    """
    from rich.table import Table

    from fuzzylogic.estimate import estimate_ambiguity

    pairs = [("all", "all")] + [(split, prior) for split in task.splits[1:] for prior in ("all", split)]
    results = [estimate_ambiguity(task, split, prior, n, threads=threads) for split, prior in pairs]
    if as_json:
        print_json({"config": task.config, "results": [asdict(result) for result in results]})
        return
    table = Table(
        "sequences of",
        "functions possible",
        "several agree",
        "ambiguous query",
        "observer R²",
        "observer R² per sequence",
        title=f"L={task.L}, K={task.K}, N={task.N}, {n:,} sequences each (± standard error)",
        title_justify="left",
    )
    for result in results:
        table.add_row(
            result.split,
            "all" if result.prior == "all" else "those of the split",
            str(result.several_agree),
            str(result.ambiguous),
            f"{result.r2:.5f}",
            f"{result.r2_per_sequence:.5f}",
        )
    print_table(table)
