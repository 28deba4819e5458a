"""Re-check a dataset directory, of either task."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import leave_out, threads_option
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import doing, interruptible, progress_bar

if TYPE_CHECKING:
    from sraven.data.verify import Report

_WAYS = {
    "bytes": "byte for byte as PyArrow {version} writes them",
    "values": "equal in all values (PyArrow {version} wrote them)",
}
"""Descriptions of files that are right, by how they were compared."""


def _describe(report: "Report") -> Iterator[str]:
    for split, checked in report.checked.items():
        yield f"{split:>6}: {checked:>12,} instances checked"
    for way, count in report.files.items():
        if count:
            yield f" files: {count:>12,} {_WAYS[way].format(version=report.pyarrow)}"
    for pair, shared in report.shared.items():
        yield f"{pair:>14}: {shared:,} equal instances"


@click.command(name="verify")
@click.argument("directory", metavar="DIRECTORY|hf://datasets/USER/NAME[@TAG]")
@click.option(
    "--thorough", is_flag=True, help="Check each instance by the second implementation, not one of 16."
)
@click.option("--downloaded", is_flag=True, help="Ignore what a download leaves: .cache, .git, .DS_Store.")
@threads_option
@json_option
def command(directory: str, thorough: bool, downloaded: bool, threads: int | None) -> None:
    """Re-check a dataset directory: all of it is generated again and compared.

    Exits with 1 if anything is wrong, or is there that isn't part of the dataset. One on the Hub is
    downloaded for it, into a temporary folder.

    \b
    Example:
      sraven verify sraven-M4-K8
      sraven verify hf://datasets/user/raven@v1
    """
    from sraven.data.hub import PREFIX, downloaded as download, read_place
    from sraven.files.names import address_in

    if directory.startswith(PREFIX):
        leave_out(["downloaded"], "one on the Hub is downloaded for it")
        with ExitStack() as held:
            with doing("downloading"):
                folder = held.enter_context(download(read_place(directory)))
            _verify(folder, thorough, threads)
        return
    if address_in(directory):
        raise click.UsageError(f"{directory} is an address; copy it here, or name {PREFIX}USER/NAME")
    if not Path(directory).exists() and re.fullmatch(r"[\w.-]+/[\w.-]+", directory):
        raise click.UsageError(f"there is no {directory}; a dataset on the Hub is {PREFIX}{directory}")
    _verify(Path(directory), thorough, threads, downloaded)


def _verify(directory: Path, thorough: bool, threads: int | None, downloaded: bool = False) -> None:
    """Generate a dataset directory again, compare, and print what was found."""
    from sraven.data.files import DOWNLOADED
    from sraven.data.manifest import read_manifest
    from sraven.data.verify import verify_dataset

    sizes = read_manifest(directory)["sizes"]
    ignored = DOWNLOADED if downloaded else ()
    with interruptible("nothing was changed"), progress_bar("verifying", sum(sizes.values())) as progress:
        report = verify_dataset(
            directory, threads=threads, thorough=thorough, ignored=ignored, progress=progress
        )
    faults = report.faults

    def show() -> None:
        click.echo("\n".join(_describe(report)))
        for fault in faults:
            click.echo(f"fault: {fault}", err=True)
        click.echo(f"{len(faults)} fault{'s' * (len(faults) > 1)}" if faults else "all is right")

    print_outcome(value={"ok": not faults, **asdict(report)}, text=show)
    if faults:
        raise SystemExit(1)
