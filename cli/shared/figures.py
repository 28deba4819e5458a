"""Print the paper's figures: how far each has come, what is left, what a budget of time gave."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.shared.printing import print_rows

if TYPE_CHECKING:
    from baselines.reproduction.cells import Cell
    from baselines.reproduction.run import CellProgress
    from baselines.reproduction.standing import FigureStanding


def describe_cell(cell: "Cell") -> str:
    """Return a cell in a few words."""
    labels = ", ".join(cell.row.labels.values())
    return f"{cell.config.board}, {labels}, rate {cell.config.learning_rate:g}, seed {cell.config.seed}"


def coverage_of(standing: "FigureStanding") -> dict[str, Any]:
    """Return what `--json` says of how far a figure has come."""
    return {
        "name": standing.figure.name,
        "title": standing.figure.title,
        **vars(standing.coverage),
        "other_lengths": {level.steps: len(level.records) for level in standing.levels[1:] if level.steps},
    }


def print_coverage(standings: "Sequence[FigureStanding]") -> None:
    """Print how far the figures have come, a row each."""
    rows = (
        (
            each.figure.name,
            f"{each.coverage.done:,} of {each.coverage.planned:,}",
            f"{each.coverage.grid_done:,} of {each.coverage.grid_planned:,}",
            "; ".join(f"{len(level.records)} of {level.name}" for level in each.levels[1:]),
            each.figure.title,
        )
        for each in standings
    )
    print_rows(("figure", "runs", "whole grid", "other lengths", "what it is"), rows)


def print_plan(found: Sequence[Mapping[str, Any]], notes: Iterable[str]) -> None:
    """Print what is left of figures, a row each, and what to know of the rates.

    Args:
        found: of each, as `baselines.reproduction.plan.outlook` returns it.
        notes: lines.
    """
    rows = (
        (
            each["figure"],
            f"{each['left']:,} of {each['runs']:,}",
            f"{each['steps']:,}",
            f"{each['operations']:.2g}",
            f"{each['operations_computed']:.2g}",
            "–" if each["hours"] is None else f"{each['hours']:,.1f}",
        )
        for each in found
    )
    print_rows(("figure", "runs left", "steps", "operations, nominal", "computed", "hours"), rows)
    for note in notes:
        click.echo(note)


def print_progress(came: "CellProgress", runs: int) -> None:
    """Print how far runs came in their budget of time."""
    if came.left:
        names = " and ".join(map(describe_cell, came.stopped))
        under_way = f", {names} {'is' if len(came.stopped) == 1 else 'are'} under way" if names else ""
        left = "1 run is" if came.left == 1 else f"{came.left:,} runs are"
        click.echo(f"time is up: {left} left{under_way}; the same line goes on")
    else:
        have = "the run has its record" if runs == 1 else f"all {runs:,} runs have records"
        click.echo(f"{have}; sraven reproduce --render writes the pages")
