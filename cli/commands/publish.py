"""Put a dataset or a run on the Hugging Face Hub, whole."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from cli.shared.imports import import_option, needs_extra
from cli.shared.options import any_path, threads_option
from cli.shared.outputs import output_directory
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import Stopped, doing, quiet_downloads

if TYPE_CHECKING:
    from sraven.data.hub import Place

_OF_RUN = "config.json"
"""The file that a run has, and nothing else that is published."""


@contextmanager
def _verified(path: Path, place: "Place", threads: int | None) -> Iterator[Path]:
    """Yield a folder of the files to publish, and no others: of a dataset, or made of a run.

    Args:
        path: what is published.
        place: where it will be.
        threads: for a dataset.
    """
    is_run = (path / _OF_RUN).is_file()
    if not is_run:
        from sraven.core.errors import OutputError
        from sraven.data.verify import verify_dataset

        if faults := verify_dataset(path, threads=threads).faults:
            raise OutputError(f"{path} isn't right: {faults[0]}; `sraven verify {path}` says more")
        yield path
        return
    with TemporaryDirectory() as folder:
        with needs_extra("publishing a run", "baselines"):
            from baselines.publish import write_files

            write_files(path, Path(folder), place)
        yield Path(folder)


@click.command(name="publish")
@click.argument("path", metavar="DIRECTORY|RUN", type=any_path)
@click.argument("repository", metavar="USER/NAME")
@click.option("--tag", help="Name of this state, such as v1, to load it by.")
@click.option("--private", is_flag=True, help="Make the repository private, if it is made.")
@click.option(
    "--dry-run", is_flag=True, help="Verify it and list what would be sent, without a request to the Hub."
)
@click.option("--out", type=output_directory, help="With --dry-run, a directory for the files.")
@threads_option
@import_option
@json_option
def command(
    path: Path,
    repository: str,
    tag: str | None,
    private: bool,
    dry_run: bool,
    out: Path | None,
    threads: int | None,
) -> None:
    """Put a dataset or a run on the Hugging Face Hub: one commit with all of it, then a tag.

    The dataset is verified first. Nobody ever sees data without its manifest. What is interrupted is run
    again; what has been uploaded isn't uploaded twice. The token is that of `hf auth login`, or HF_TOKEN.

    A finished run becomes a model: model.safetensors, its configuration and its result, and a card.

    \b
    Example:
      sraven publish raven user/raven --tag v1
      sraven publish raven user/raven --dry-run
      sraven publish runs/seed-0 user/raven-hyla --tag v1
    """
    from sraven.core.errors import OutputError
    from sraven.core.system.staging import staged
    from sraven.data.hub import KIND, MODEL, publish_files, read_place

    if out is not None and not dry_run:
        raise click.UsageError("--out is for --dry-run; `sraven export` writes the files of a run")
    quiet_downloads()
    place = read_place(repository, MODEL if (path / _OF_RUN).is_file() else KIND)
    if place.revision:
        raise OutputError(f"{place} names a revision; publish to user/name, and name the state by --tag")
    try:
        with (
            doing("verifying") as on_progress,
            _verified(path, replace(place, revision=tag), threads) as folder,
        ):
            names = sorted(
                each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()
            )
            if dry_run:
                sizes = {name: (folder / name).stat().st_size for name in names}
                if out is not None:
                    with staged(out) as new:
                        shutil.copytree(folder, new, dirs_exist_ok=True)
            else:
                found = publish_files(folder, names, place, tag=tag, private=private, on_progress=on_progress)
    except KeyboardInterrupt:
        raise Stopped("interrupted; nothing half is visible, and the same command goes on", 130) from None
    if dry_run:
        lines = [f"{size:>14,}  {name}" for name, size in sizes.items()]
        lines += [f"to {place}: {len(sizes):,} files, {sum(sizes.values()):,} bytes; nothing was sent"]
        print_outcome(value={"repository": place.repository, "files": sizes}, text="\n".join(lines))
        return
    name, revision = found.place.repository, found.place.revision
    if place.kind == MODEL:
        line = f"load_run({json.dumps(str(found.place))})"
        example = f"from baselines.load import load_run\nconfig, params = {line}"
    else:
        line = f"load_dataset({json.dumps(name)}, revision={json.dumps(revision)})"
        example = f"from datasets import load_dataset\ndataset = {line}"
    print_outcome(
        value={"repository": name, "revision": revision, "commit": found.commit, "files": found.files}
        | {"new": found.is_new, "load": line},
        text=f"{'published' if found.is_new else 'there already'}: {found.place}, {found.files:,} files\n\n"
        f"{example}",
    )
