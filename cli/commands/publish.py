"""Put a dataset on the Hugging Face Hub, whole."""

import json
import sys
from pathlib import Path

import click

from cli.shared.options import any_path, threads_option
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import doing, interruptible


@click.command(name="publish")
@click.argument("path", metavar="DIRECTORY", type=any_path)
@click.argument("repository", metavar="USER/NAME")
@click.option("--tag", help="Name of this state, such as v1, to load it by.")
@click.option("--private", is_flag=True, help="Make the repository private, if it is made.")
@threads_option
@json_option
def command(path: Path, repository: str, tag: str | None, private: bool, threads: int | None) -> None:
    """Put a dataset on the Hugging Face Hub: one commit with all of it, then a tag.

    The dataset is verified first. Nobody ever sees data without its manifest. What is interrupted is run
    again; what has been uploaded isn't uploaded twice. The token is that of `hf auth login`, or HF_TOKEN.

    \b
    Example:
      sraven publish raven user/raven --tag v1
    """
    from huggingface_hub.utils.tqdm import disable_progress_bars

    from sraven.core.errors import OutputError
    from sraven.data.hub import publish_files, read_place
    from sraven.data.verify import verify_dataset

    if not sys.stderr.isatty():  # the Hub's own bars are for terminals, too
        disable_progress_bars()
    place = read_place(repository)
    if place.revision:
        raise OutputError(f"{place} names a revision; publish to user/name, and name the state by --tag")
    meaning = "nothing half is visible, and the same command goes on"
    with interruptible(meaning), doing("verifying") as on_progress:
        if faults := verify_dataset(path, threads=threads).faults:
            raise OutputError(f"{path} isn't right: {faults[0]}; `sraven verify {path}` says more")
        names = sorted(each.relative_to(path).as_posix() for each in path.rglob("*") if each.is_file())
        found = publish_files(path, names, place, tag=tag, private=private, on_progress=on_progress)
    name, revision = found.place.repository, found.place.revision
    line = f"load_dataset({json.dumps(name)}, revision={json.dumps(revision)})"
    print_outcome(
        value={"repository": name, "revision": revision, "commit": found.commit, "files": found.files}
        | {"new": found.is_new, "load": line},
        text=f"{'published' if found.is_new else 'there already'}: {found.place}, {found.files:,} files\n\n"
        f"from datasets import load_dataset\ndataset = {line}",
    )
