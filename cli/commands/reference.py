"""Write the submission of a reference predictor."""

from pathlib import Path

import click


@click.command(name="reference")
@click.argument("board_id", metavar="BOARD")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="Directory to write.")
def command(board_id: str, name: str | None, out: Path | None) -> None:
    """Write the submission of a reference predictor; without NAME, list those of a board.

    C4 has none.

    \b
    Example:
      sraven reference sraven-v1
      sraven reference sraven-v1 ideal-observer --out observer
    """
    from sraven.core.boards.board import read_board
    from sraven.core.submissions.submit import reference_predictors, write_reference

    if name is None:
        for each, reference in reference_predictors(read_board(board_id)).items():
            click.echo(f"{each:<18} {reference.description}")
        return
    if out is None:
        raise click.UsageError("name the directory to write: --out DIR")
    write_reference(out, board_id, name)
    click.echo(f"{out}\n\nsraven score {out}")
