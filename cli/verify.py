"""`sraven verify`"""

from dataclasses import asdict
from pathlib import Path

import click

from cli.options import json_option, print_json, progress_bar, threads_option


@click.command(name="verify")
@click.argument("directory", type=click.Path(path_type=Path))
@threads_option
@json_option
def command(directory: Path, threads: int | None, as_json: bool) -> None:
    """Re-check a dataset directory: files, rules, certificates, and that no split leaks.

    Exits with 1 if anything is wrong.

    \b
    Example:
      sraven verify sraven-M4-K8
    """
    from sraven.core.directory import read_manifest
    from sraven.core.families import make_task
    from sraven.core.verify import verify_dataset

    sizes = read_manifest(directory)["sizes"]
    with progress_bar("verifying", sum(sizes.values())) as progress:
        report = verify_dataset(directory, make_task, threads=threads, progress=progress)
    if as_json:
        print_json({"ok": not report.faults, **asdict(report)})
    else:
        for split, checked in report.checked.items():
            click.echo(f"{split:>6}: {checked:>12,} instances checked")
        for pair, shared in report.shared.items():
            click.echo(f"{pair:>14}: {shared:,} equal instances")
        for fault in report.faults:
            click.echo(f"fault: {fault}", err=True)
        click.echo(f"{len(report.faults)} faults" if report.faults else "all is right")
    if report.faults:
        raise SystemExit(1)
