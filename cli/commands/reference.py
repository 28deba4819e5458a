"""Write the submission of a reference predictor."""

from pathlib import Path

import click

from cli.shared.options import output_directory
from cli.shared.printing import json_option, print_outcome


@click.command(name="reference")
@click.argument("board_id", metavar="BOARD")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--out", type=output_directory, help="Directory to write.")
@json_option
def command(board_id: str, name: str | None, out: Path | None) -> None:
    """Write the submission of a reference predictor; without NAME, list those of a board.

    \b
    Example:
      sraven reference sraven-v1
      sraven reference sraven-v1 ideal-observer --out observer
    """
    from sraven.board.board import read_board
    from sraven.leaderboard.submissions.submit import write_reference

    if name is None:
        found = read_board(board_id).task.references.predictors
        print_outcome(
            value=[{"name": each, "description": found[each].description} for each in found],
            text="\n".join(f"{each:<18} {reference.description}" for each, reference in found.items()),
        )
        return
    if out is None:
        raise click.UsageError("name the directory to write: --out DIR")
    write_reference(out, board_id, name)
    print_outcome(
        value={"path": str(out), "board": board_id, "reference": name}, text=f"{out}\n\nsraven score {out}"
    )
