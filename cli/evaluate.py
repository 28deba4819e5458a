"""`sraven evaluate`"""

from pathlib import Path

import click

from cli.options import needs_extra


@click.command(name="evaluate")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Submission to write.")
@click.option("--author", "authors", multiple=True, default=("The SRAVEN maintainers",), show_default=True)
def command(runs: tuple[Path, ...], out: Path, authors: tuple[str, ...]) -> None:
    """Predict a board's splits with trained runs, and write a submission.

    The runs are several seeds of one configuration.

    \b
    Example:
      sraven evaluate run --out entry
    """
    with needs_extra("sraven evaluate", "baselines"):
        from baselines.evaluate import write_entry

    write_entry(runs, out, authors=authors)
    click.echo(f"{out}\n\nsraven score {out}")
