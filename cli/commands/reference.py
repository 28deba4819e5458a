"""Write the submission of a reference predictor."""

from pathlib import Path

import click


@click.command(name="reference")
@click.argument("board_id", metavar="BOARD")
@click.argument("name", metavar="NAME")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Directory to write.")
def command(board_id: str, name: str, out: Path) -> None:
    """Write the submission of a reference predictor.

    For SRAVEN: uniform-random, copy-last-panel, majority-symbol, context-blind, ideal-observer. For
    fuzzy logic: constant-mean, nearest-neighbour, ideal-observer. C4 has none.

    \b
    Example:
      sraven reference sraven-v1 ideal-observer --out observer
    """
    from sraven.core.submissions.submit import write_reference

    write_reference(out, board_id, name)
    click.echo(f"{out}\n\nsraven score {out}")
