"""Re-check a dataset directory, of either task."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import json_option, threads_option
from cli.shared.printing import print_json
from cli.shared.progress import Stopped, progress_bar

if TYPE_CHECKING:
    from sraven.core.verification.verify import Report

_WAYS = {
    "bytes": "byte for byte as PyArrow {version} writes them",
    "values": "in all values and fields as PyArrow {version} writes them",
}
"""What to print of files that are right, by how they were compared."""


def _print_report(report: "Report") -> None:
    for split, checked in report.checked.items():
        click.echo(f"{split:>6}: {checked:>12,} instances checked")
    for way, count in report.files.items():
        if count:
            click.echo(f"{'files':>6}: {count:>12,} {_WAYS[way].format(version=report.pyarrow)}")
    for pair, shared in report.shared.items():
        click.echo(f"{pair:>14}: {shared:,} equal instances")
    for fault in report.faults:
        click.echo(f"fault: {fault}", err=True)
    count = len(report.faults)
    click.echo(f"{count} fault{'s' if count > 1 else ''}" if count else "all is right")


@click.command(name="verify")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--thorough", is_flag=True, help="Ask the second opinion about each instance, not one of 16.")
@threads_option
@json_option
def command(directory: Path, thorough: bool, threads: int | None, as_json: bool) -> None:
    """Re-check a dataset directory: all of it is made anew and compared.

    Exits with 1 if anything is wrong, or is there that isn't part of the dataset.

    \b
    Example:
      sraven verify sraven-M4-K8
    """
    from sraven.core.dataset.manifest import read_manifest
    from sraven.core.tasks.families import make_task
    from sraven.core.verification.verify import verify_dataset

    sizes = read_manifest(directory)["sizes"]
    try:
        with progress_bar("verifying", sum(sizes.values())) as progress:
            report = verify_dataset(
                directory, make_task, threads=threads, thorough=thorough, progress=progress
            )
    except KeyboardInterrupt:
        raise Stopped("interrupted; nothing was changed", 130) from None
    if as_json:
        print_json({"ok": not report.faults, **asdict(report)})
    else:
        _print_report(report)
    if report.faults:
        raise SystemExit(1)
