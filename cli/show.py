"""`sraven show`"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import (
    answers_option,
    json_option,
    one_picture,
    print_json,
    print_renderables,
    sraven_task,
    which_options,
)

if TYPE_CHECKING:
    from sraven.task import SRAVEN


@click.command(name="show")
@sraven_task
@answers_option
@which_options
@click.option(
    "--explain", is_flag=True, help="Show the answer, the rules, the permutations and all valid answers."
)
@click.option("--png", type=click.Path(path_type=Path), help="Write a picture instead (one instance).")
@json_option
def command(
    task: "SRAVEN", split: str, index: int, count: int, explain: bool, png: Path | None, as_json: bool
) -> None:
    """Show instances: colours stand for symbols, and with --explain for features.

    \b
    Example:
      sraven show --explain
      sraven show --split ood --index 7 --png puzzle.png
    """
    from sraven.show import make_puzzle, render, to_json

    if png:
        with one_picture(count):
            from sraven.plots import save_picture
        save_picture(make_puzzle(task, split, index), png, explain)
        click.echo(png)
        return
    puzzles = [make_puzzle(task, split, at) for at in range(index, index + count)]
    if as_json:
        print_json([to_json(puzzle) for puzzle in puzzles])
    else:
        print_renderables(render(puzzle, explain) for puzzle in puzzles)
