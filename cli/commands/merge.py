"""Make one dataset of parts that were written apart."""

from pathlib import Path

import click

from cli.shared.imports import needs_extra
from cli.shared.options import any_path
from cli.shared.outputs import output_directory, spare
from cli.shared.printing import json_option
from cli.shared.progress import documents_bar, progress_bar, resumable
from cli.shared.writing import print_dataset, print_tokens, warn_of_patterns


@click.command(name="merge")
@click.argument("parts", metavar="DIR...", nargs=-1, required=True, type=any_path)
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--force", is_flag=True, help="Replace another dataset in the same place.")
@json_option
def command(parts: tuple[Path, ...], out: Path, force: bool) -> None:
    """Make one dataset of its parts, of either task, or of text.

    Each DIR is what `sraven generate --part I/N` or `sraven c4 prepare --part I/N` wrote, in any order. The
    bytes are those that one command without --part writes. The parts stay as they are, and may be removed
    then.

    \b
    Example:
      sraven merge parts/* --out raven
    """
    from sraven.core.system.staging import STAGING
    from sraven.data.parts import merge_parts

    spare(out, parts)
    if (parts[0] / STAGING / "plan.json").is_file():  # tokens, and not a dataset
        with needs_extra("merging tokens", "baselines"):
            from baselines.lm.parts import merge_tokens
        with resumable(out), documents_bar("merging") as (on_progress, _):
            print_tokens(merge_tokens(parts, out, force=force, on_progress=on_progress), out)
        return
    warn_of_patterns(out)
    with resumable(out), progress_bar("merging", 0) as progress:
        manifest = merge_parts(parts, out, force=force, progress=progress)
    print_dataset(manifest, out)
