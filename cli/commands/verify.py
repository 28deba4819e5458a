"""Re-check a dataset directory, of either task."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import json_option, threads_option
from cli.shared.printing import print_json
from cli.shared.progress import Stopped, doing, progress_bar

if TYPE_CHECKING:
    from sraven.core.hub.remote import RemoteReport
    from sraven.core.verification.verify import Report

_WAYS = {
    "bytes": "byte for byte as PyArrow {version} writes them",
    "values": "equal in all values (PyArrow {version} wrote them)",
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
    _print_faults(report.faults)


@click.command(name="verify")
@click.argument("directory", metavar="DIRECTORY|hf://datasets/USER/NAME[@TAG]")
@click.option("--full", is_flag=True, help="On the Hub: download it, and make it anew.")
@click.option("--thorough", is_flag=True, help="Ask the second opinion about each instance, not one of 16.")
@threads_option
@json_option
def command(directory: str, full: bool, thorough: bool, threads: int | None, as_json: bool) -> None:
    """Re-check a dataset directory: all of it is made anew and compared.

    Exits with 1 if anything is wrong, or is there that isn't part of the dataset. Of a dataset on the Hub,
    the checksums that the Hub has are compared with those of its manifest, and nothing is downloaded but
    that; with --full all of it is. Questions for language models, which `sraven publish` put there, are made
    anew either way.

    \b
    Example:
      sraven verify sraven-M4-K8
      sraven verify hf://datasets/user/raven@v1
    """
    from sraven.core.hub.service import PREFIX

    if not directory.startswith(PREFIX):
        if full:
            raise click.UsageError(f"--full is for datasets on the Hub, {PREFIX}USER/NAME")
        _verify(Path(directory), thorough, threads, as_json)
        return
    if thorough and not full:
        raise click.UsageError("--thorough needs the data; add --full to download it")
    from sraven.core.hub.remote import downloaded

    report = _look(directory)
    if report.faults or not full:
        _print_remote(report, as_json)
        return
    with downloaded(report) as folder:
        _verify(folder, thorough, threads, as_json)


def _look(uri: str) -> "RemoteReport":
    """Compare a dataset on the Hub with its manifest."""
    from sraven.core.hub.remote import verify_remote
    from sraven.core.hub.service import read_place
    from sraven.text import benchmark, published

    with doing("asking the Hub"):
        return verify_remote(read_place(uri), {benchmark.MANIFEST: published.expected})


def _print_remote(report: "RemoteReport", as_json: bool) -> None:
    """Print what was found of a dataset on the Hub."""
    if as_json:
        print_json({"ok": not report.faults, **report._asdict(), "place": str(report.place)})
    else:
        for split, count in report.instances.items():
            how = "questions, all files made anew" if report.remade else "instances, as the manifest says"
            click.echo(f"{split:>6}: {count:>12,} {how}")
        click.echo(
            f"{'files':>6}: {report.files:>12,} with its checksums, {report.bytes:,} bytes, none downloaded"
        )
        click.echo(f"{'commit':>6}: {report.place.revision}")
        _print_faults(report.faults)
    if report.faults:
        raise SystemExit(1)


def _print_faults(faults: Sequence[str]) -> None:
    for fault in faults:
        click.echo(f"fault: {fault}", err=True)
    count = len(faults)
    click.echo(f"{count} fault{'s' if count > 1 else ''}" if count else "all is right")


def _verify(directory: Path, thorough: bool, threads: int | None, as_json: bool) -> None:
    """Make a dataset directory anew, compare, and print what was found."""
    from sraven.text.benchmark import MANIFEST

    if (directory / MANIFEST).is_file():
        _verify_questions(directory, as_json)
        return
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


def _verify_questions(directory: Path, as_json: bool) -> None:
    """Make the files of published questions anew, compare, and print what was found."""
    from sraven.text.benchmark import SPLIT
    from sraven.text.published import verify_folder

    with doing("making the questions anew"):
        count, faults = verify_folder(directory)
    if as_json:
        print_json({"ok": not faults, "checked": {SPLIT: count}, "faults": faults})
    else:
        click.echo(f"{SPLIT:>6}: {count:>12,} questions, byte for byte")
        _print_faults(faults)
    if faults:
        raise SystemExit(1)
