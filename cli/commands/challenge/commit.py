"""Commit to a program, before a round (entrant)."""

from pathlib import Path

import click

from cli.shared.options import any_path, file_path
from cli.shared.outputs import output_file
from cli.shared.printing import json_option, print_outcome


@click.command(name="commit")
@click.argument("program", type=any_path)
@click.option("--name", help="What the entry is called.")
@click.option("--out", type=output_file, help="File to write and to keep.")
@click.option("--check", type=file_path, help="Compare with this commitment instead.")
@json_option
def command(program: Path, name: str | None, out: Path | None, check: Path | None) -> None:
    """Commit to PROGRAM, a directory with all weights and all code, before a round is drawn.

    Prints a digest, which the organiser gets. Keep the file that is written: an answer needs it. With
    --check, checks that a program is the one that was committed.

    \b
    Example:
      sraven challenge commit program --name "My method" --out commitment.json
      sraven challenge commit program --check commitment.json
    """
    from sraven.core.challenge import check_commitment, write_commitment

    if check is not None and (name is not None or out is not None):
        raise click.UsageError("--check takes neither --name nor --out; leave them out")
    if check is not None:
        digest = check_commitment(check, program)
    elif name is None or out is None:
        raise click.UsageError("--name and --out are missing; a commitment needs both")
    else:
        digest = write_commitment(out, program, name)
    print_outcome(value={"path": str(check or out), "commitment": digest}, text=digest)
