"""A dataset or a model onto the Hub: one commit with all files, then one tag.

Nobody ever sees data without its manifest, nor half of either: files are uploaded first, where nothing
shows them, and one commit makes all of them appear. It removes what isn't part of it. Whatever is
interrupted is run again: what has been uploaded isn't uploaded twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sraven.core.errors import OutputError
from sraven.data.hub.service import HUBS_OWN, Place, in_one_line, insist


@dataclass(frozen=True)
class Published:
    """A dataset or a model on the Hub.

    Attributes:
        place: with the revision that users should name: the tag if there is one, else the commit.
        commit: the commit.
        files: how many it holds.
        is_new: whether there was anything to do.
    """

    place: Place
    commit: str
    files: int
    is_new: bool


def publish_files(
    folder: Path,
    names: list[str],
    place: Place,
    *,
    tag: str | None = None,
    private: bool = False,
    on_progress: Callable[[str], None] = lambda doing: None,
) -> Published:
    """Put files on the Hub, which must have been verified before, in place of all that was there.

    Args:
        folder: where they are.
        names: of them, below it.
        place: without a revision; made if there is none.
        tag: a name for this state, such as v1, which `load_dataset` takes as a revision; None for none.
        private: whether a repository that is made is private.
        on_progress: is called with what is being done.

    Raises:
        OutputError: for want of a token, of a right, for a tag that is elsewhere, or a conflict.
        HubError: if the server or the line fails, again and again.
    """
    from huggingface_hub import HfApi, get_token

    api, repository, kind = HfApi(), place.repository, place.kind
    with in_one_line(place, "publishing"):
        on_progress("looking at the Hub")
        if get_token() is None:
            raise OutputError(f"publishing {place} needs a token of the Hub: hf auth login, or HF_TOKEN")
        insist(lambda: api.create_repo(repository, repo_type=kind, private=private, exist_ok=True))
        before: Any = insist(lambda: api.repo_info(repository, repo_type=kind))
        refs = insist(lambda: api.list_repo_refs(repository, repo_type=kind))
        tags = {each.name: each.target_commit for each in refs.tags}
        if tag in tags and tags[tag] != before.sha:
            raise OutputError(
                f"{place} has tag {tag} on another commit ({tags[tag][:7]}); a tag never moves: choose "
                "another"
            )
        there = {each.rfilename for each in before.siblings or ()}
        on_progress("uploading")
        gone = sorted(there - {*names, *HUBS_OWN})
        commit = _commit(api, folder, names, gone, place, str(before.sha))
        if tag is not None and tag not in tags:
            on_progress("tagging")
            insist(
                lambda: api.create_tag(repository, tag=tag, revision=commit, repo_type=kind, exist_ok=True)
            )
    return Published(replace(place, revision=tag or commit), commit, len(names), commit != before.sha)


def _commit(api: Any, folder: Path, names: list[str], gone: list[str], place: Place, parent: str) -> str:
    """Commit files and removals at once, on a parent that nobody may have followed; return the commit."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    def add() -> Any:
        # Again each time: what a call uploaded it marks as committed.
        operations = [
            *(CommitOperationAdd(path_in_repo=name, path_or_fileobj=str(folder / name)) for name in names),
            *(CommitOperationDelete(path_in_repo=name, is_folder=False) for name in gone),
        ]
        return api.create_commit(
            place.repository,
            operations,
            repo_type=place.kind,
            commit_message=f"A {place.kind}, whole",
            parent_commit=parent,
        )

    return str(insist(add).oid)
