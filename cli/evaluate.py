"""`sraven evaluate`"""

from pathlib import Path

import click

from cli.options import needs_extra


@click.command(name="evaluate")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Submission to write.")
@click.option("--author", "authors", multiple=True, default=("The SRAVEN maintainers",), show_default=True)
@click.option("--code-commit", help="Of the code that trained the runs, for the submission.")
def command(runs: tuple[Path, ...], out: Path, authors: tuple[str, ...], code_commit: str | None) -> None:
    """Predict a board's splits with trained runs, and write a submission.

    The runs are several seeds of one configuration.

    \b
    Example:
      sraven evaluate run --out entry
    """
    with needs_extra("sraven evaluate", "baselines"):
        from baselines.evaluate import write_entry

    write_entry(runs, out, authors=authors, code_commit=code_commit)
    click.echo(f"{out}\n\nsraven score {out}")
