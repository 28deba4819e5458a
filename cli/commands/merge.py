"""Make one dataset of parts that were written apart."""

from pathlib import Path

import click

from cli.shared.options import any_path, output_directory
from cli.shared.printing import json_option, print_dataset
from cli.shared.progress import progress_bar, resumable


@click.command(name="merge")
@click.argument("parts", metavar="DIR...", nargs=-1, required=True, type=any_path)
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--force", is_flag=True, help="Replace another dataset in the same place.")
@json_option
def command(parts: tuple[Path, ...], out: Path, force: bool) -> None:
    """Make one dataset of its parts, of either task.

    Each DIR is what `sraven generate --part I/N` wrote, in any order. The bytes are those that one command
    without --part writes. The parts stay as they are, and may be removed then.

    \b
    Example:
      sraven merge parts/* --out raven
    """
    from sraven.data.merge import merge_parts

    if out.exists() and any(part.exists() and part.samefile(out) for part in parts):
        raise click.UsageError(f"{out} is what is read; choose another path")
    with resumable(out), progress_bar("merging", 0) as progress:
        manifest = merge_parts(parts, out, force=force, progress=progress)
    print_dataset(manifest, out)
