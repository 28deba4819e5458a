"""`sraven fuzzylogic show`"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.fuzzylogic.options import fuzzylogic_task
from cli.options import json_option, one_picture, print_json, print_renderables, which_options

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic


@click.command(name="show")
@fuzzylogic_task
@which_options
@click.option("--explain", is_flag=True, help="Show the query's value, the function, and how many agree.")
@click.option("--png", type=click.Path(path_type=Path), help="Write the surface as a picture (L = 2).")
@json_option
def command(
    task: "FuzzyLogic", split: str, index: int, count: int, explain: bool, png: Path | None, as_json: bool
) -> None:
    """Show sequences: points, their values, and the function as a formula.

    \b
    Example:
      sraven fuzzylogic show --explain
      sraven fuzzylogic show --L 2 --K 1 --holdout 0 --unseen-terms 0 --png surface.png
    """
    from fuzzylogic.show import make_puzzle, render, to_json

    if png:
        with one_picture(count):
            from fuzzylogic.plots import save_picture
        save_picture(make_puzzle(task, split, index), png)
        click.echo(png)
        return
    puzzles = [make_puzzle(task, split, at) for at in range(index, index + count)]
    if as_json:
        print_json([to_json(puzzle) for puzzle in puzzles])
    else:
        print_renderables(render(puzzle, explain) for puzzle in puzzles)
