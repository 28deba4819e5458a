"""Make one dataset of parts that were written apart."""

from pathlib import Path

import click

from cli.shared.options import json_option
from cli.shared.progress import progress_bar, resumable
from cli.shared.writing import print_dataset


@click.command(name="merge")
@click.argument("parts", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Directory to write.")
@click.option("--force", is_flag=True, help="Replace another dataset in the same place.")
@json_option
def command(parts: tuple[Path, ...], out: Path, force: bool, as_json: bool) -> None:
    """Make one dataset of its parts, of either task.

    Each DIR is what `sraven generate --part I/N` wrote, in any order. The bytes are those that one
    `sraven generate` writes. The parts stay as they are, and may be removed then.

    \b
    Example:
      sraven merge parts/* --out raven
    """
    from sraven.core.dataset.parts import merge_parts

    with resumable(out), progress_bar("merging", 0) as progress:
        manifest = merge_parts(parts, out, force=force, progress=progress)
    print_dataset(manifest, out, as_json)
