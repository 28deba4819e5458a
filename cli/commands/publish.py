"""Put a dataset or questions on the Hugging Face Hub, whole."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from cli.shared.options import threads_option
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import Stopped, doing


def _check_dataset(directory: Path, threads: int | None) -> list[str]:
    """Make sure that a dataset directory is right; return the names of its files."""
    from sraven.core.base.errors import OutputError
    from sraven.core.hub.publish import files_of
    from sraven.core.tasks.families import make_task
    from sraven.core.verification.verify import verify_dataset

    faults = verify_dataset(directory, make_task, threads=threads).faults
    if faults:
        raise OutputError(f"{directory} isn't right: {faults[0]}; `sraven verify {directory}` says more")
    return files_of(directory)


@contextmanager
def _verified(path: Path, threads: int | None) -> Iterator[tuple[Path, list[str]]]:
    """Yield a folder with the files to publish, and their names: of a dataset, or made of prompts."""
    if not path.is_file():
        yield path, _check_dataset(path, threads)
        return
    from sraven.text.published import read_sets, write_files

    sets = read_sets(path)
    with TemporaryDirectory() as folder:
        yield Path(folder), write_files(sets, Path(folder))


@click.command(name="publish")
@click.argument("path", metavar="DIRECTORY|PROMPTS", type=click.Path(path_type=Path))
@click.argument("repository", metavar="USER/NAME")
@click.option("--tag", help="Name of this state, such as v1, to load it by.")
@click.option("--private", is_flag=True, help="Make the repository private, if it is made.")
@click.option("--dry-run", is_flag=True, help="Verify it and list what would be sent; ask the Hub nothing.")
@threads_option
@json_option
def command(
    path: Path, repository: str, tag: str | None, private: bool, dry_run: bool, threads: int | None
) -> None:
    """Put a dataset on the Hugging Face Hub: one commit with all of it, then a tag.

    The dataset is verified first. Nobody ever sees data without its manifest. What is interrupted is run
    again; what has been uploaded isn't uploaded twice. The token is that of `hf auth login`, or HF_TOKEN.

    A file of prompts becomes a benchmark of the Hub, with the eval.yaml that inspect-ai runs.

    \b
    Example:
      sraven publish raven user/raven --tag v1
      sraven publish raven user/raven --dry-run
      sraven publish prompts.jsonl user/raven-text --tag v1
    """
    from sraven.core.base.errors import OutputError
    from sraven.core.hub.publish import publish_files
    from sraven.core.hub.service import read_place

    if not sys.stderr.isatty():
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
    place = read_place(repository)
    if place.revision:
        raise OutputError(f"{place} names a revision; publish to user/name, and name the state by --tag")
    try:
        with doing("verifying") as tell, _verified(path, threads) as (folder, names):
            if dry_run:
                sizes = {name: (folder / name).stat().st_size for name in names}
            else:
                found = publish_files(folder, names, place.repository, tag=tag, private=private, tell=tell)
    except KeyboardInterrupt:
        raise Stopped("interrupted; nothing half is visible, and the same command goes on", 130) from None
    if dry_run:
        lines = [f"{size:>14,}  {name}" for name, size in sizes.items()]
        lines += [f"to {place}: {len(sizes):,} files, {sum(sizes.values()):,} bytes; nothing was sent"]
        print_outcome(value={"repository": place.repository, "files": sizes}, text="\n".join(lines))
        return
    name, revision = found.place.repository, found.place.revision
    line = f"load_dataset({json.dumps(name)}, revision={json.dumps(revision)})"
    print_outcome(
        value={"repository": name, "revision": revision, "commit": found.commit, "files": found.files}
        | {"new": found.is_new, "load": line},
        text=f"{'published' if found.is_new else 'there already'}: {found.place}, {found.files:,} files\n\n"
        f"from datasets import load_dataset\ndataset = {line}",
    )
