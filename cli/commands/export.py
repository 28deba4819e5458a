"""Write a trained network as files that others can load."""

import os
from pathlib import Path

import click

from cli.shared.options import any_path, import_option, needs_extra, output_directory
from cli.shared.printing import json_option, print_outcome


@click.command(name="export")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=any_path)
@click.argument("out", metavar="DIR", type=output_directory)
@import_option
@json_option
def command(runs: tuple[Path, ...], out: Path) -> None:
    """Write a finished run as files that others can load.

    DIR gets model.safetensors, the configuration, and the result with its scores; `load_run`,
    `sraven evaluate` and `sraven analyse` take it like a run, and `hf upload` puts it on a Hub. Of several
    runs, each has a directory in it, named by board, network, seed and digest: as one archive, they are the
    networks of an entry.

    \b
    Example:
      sraven export run files
      sraven export runs/seed-0 runs/seed-1 runs/seed-2 networks
    """
    with needs_extra("sraven export", "baselines"):
        from baselines.save import export_run
        from baselines.train.directory import read_run
    from sraven.core.errors import OutputError
    from sraven.files.files import sha256_of_file
    from sraven.files.staging import staged

    if os.path.lexists(out):
        raise OutputError(f"{out} exists; choose another directory")
    names = dict.fromkeys(runs, ".")
    if len(runs) > 1:
        for run in runs:
            config = read_run(run)
            words = config.board, *config.architecture.split(), f"seed-{config.seed}", config.digest[:8]
            names[run] = "-".join(words)
        if len(set(names.values())) < len(runs):
            raise OutputError("one of the runs is there twice")
    with staged(out) as new:
        for run, name in names.items():
            (new / name).mkdir(exist_ok=True)
            export_run(run, new / name)
    found = {
        path.parent.relative_to(out).as_posix(): sha256_of_file(path)
        for path in sorted(out.rglob("model.safetensors"))
    }
    print_outcome(
        value={"path": str(out), "sha256": found},
        text="\n".join(
            f"{out / name}: model.safetensors has the SHA-256 {digest}" for name, digest in found.items()
        ),
    )
