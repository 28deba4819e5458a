"""Datasets on the Hugging Face Hub: published whole, downloaded to be verified.

Publishing makes one commit with all files, then one tag. Nobody ever sees data without its manifest, nor half
of either: files are uploaded first, where nothing shows them, and one commit makes all of them appear. It
removes what isn't part of it. Whatever is interrupted is run again: what has been uploaded isn't uploaded
twice. (`HfApi.upload_folder` makes several commits of a large folder.)
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sraven.core.errors import ConfigurationError, HubError, OutputError
from sraven.core.escape import escape
from sraven.data.manifest import MANIFEST_LIMIT
from sraven.files.environment import certificates_fault
from sraven.files.staging import MANIFEST
from sraven.files.untrusted import read_file

PREFIX = "hf://datasets/"
"""The beginning of a dataset's URI, as in `datasets` and `fsspec`."""

KIND = "dataset"
"""The Hub's name for the kind of its repositories."""

_HUBS_OWN = ".gitattributes"
"""A file of a repository that the Hub itself puts there."""

_PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}"


@dataclass(frozen=True)
class Place:
    """A dataset on the Hub.

    Attributes:
        repository: ``user/name``.
        revision: a tag, a branch or a commit; None for the newest commit of the main branch.
    """

    repository: str
    revision: str | None = None

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def read_place(text: str) -> Place:
    """Return the place that a text names: ``user/name``, or ``hf://datasets/user/name@TAG``.

    Args:
        text: what a user wrote.

    Raises:
        OutputError: if it names none.
    """
    found = re.fullmatch(rf"({_PART}/{_PART})(?:@({_REVISION}))?", text.removeprefix(PREFIX))
    if not found:
        raise OutputError(
            f"{escape(text)} names no dataset on the Hub; expected user/name, or {PREFIX}user/name@TAG"
        )
    return Place(found[1], found[2])


@contextmanager
def in_one_line(place: Place, doing: str) -> Iterator[None]:
    """Turn what goes wrong on the Hub into one line: what was requested, what the Hub says, what to do.

    Args:
        place: of what.
        doing: what is done to it, such as "publishing".

    Raises:
        OutputError: for what the caller has to change: a token, a right, a name, a conflict.
        HubError: for what the server or the line did.
    """
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        yield
    except ConfigurationError:
        raise
    except Exception as error:
        # The library says what failed, an upload or a download, and why behind it.
        wraps = isinstance(error, RuntimeError | LocalEntryNotFoundError) and error.__cause__
        if explained := _explain(error.__cause__ if wraps else error, place, doing):
            raise explained from None
        raise


_REFUSALS: dict[int, str] = {
    401: "the token isn't valid; hf auth login, or HF_TOKEN, gives another",
    403: "the token isn't allowed this; to publish it needs the right to write, in a namespace of yours",
    409: "somebody else changed it meanwhile; look at it, and run the same command again",
    412: "somebody else changed it meanwhile; look at it, and run the same command again",
    413: "the Hub finds it too large",
    422: "the Hub found another checksum than was sent; run the same command again",
}
"""Advice for the caller by HTTP status."""

_NO_ROOM = re.compile(r"\b(?:storage|quota|limit|space|billing|plan)\b", re.IGNORECASE)
"""Of a refusal that is for want of room, not of rights."""


def _reason(error: object) -> str:
    return escape(next(filter(None, str(error).splitlines()), "") or type(error).__name__, 300)


def _explain(error: Any, place: Place, doing: str) -> Exception | None:
    """Return an error that says in one line what happened; None for one that isn't the Hub's."""
    from huggingface_hub import errors

    for kind, words in {
        errors.LocalTokenNotFoundError: "it takes a token: hf auth login, or HF_TOKEN",
        errors.OfflineModeIsEnabled: "it takes the network, but HF_HUB_OFFLINE is set",
        errors.GatedRepoError: "it is gated; ask for access on its page",
        errors.RevisionNotFoundError: "there is no such revision; leave it out for the newest",
        errors.RepositoryNotFoundError: "the Hub knows no such dataset; it takes the right name, and a "
        "token that may see it",
        errors.HFValidationError: f"the Hub takes no such name ({_reason(error)})",
    }.items():
        if isinstance(error, kind):
            return OutputError(f"{doing} {place}: {words}")
    if isinstance(error, errors.HfHubHTTPError):
        status, said = error.response.status_code, escape(error.server_message or "", 300)
        told = f"HTTP {status}" + f": {said}" * bool(said)
        if status < 500 and status != 429 and _NO_ROOM.search(said):
            return OutputError(f"{doing} {place}: the Hub has no room for it ({told})")
        if status in _REFUSALS:
            return OutputError(f"{doing} {place}: {_REFUSALS[status]} ({told})")
        return HubError(f"{doing} {place}: the Hub answered {told}; try again later")
    if isinstance(error, errors.HfHubHTTPError.__bases__[0]):  # of the library for HTTP, whichever it is
        return HubError(f"{doing} {place}: the line to the Hub failed ({_reason(error)}); try again")
    if isinstance(error, OSError) and not error.filename and (fault := certificates_fault(error)):
        return OutputError(f"{doing} {place}: {fault}")
    if isinstance(error, errors.FileMetadataError | ValueError | KeyError | TypeError | AttributeError):
        said = f"{type(error).__name__}: {_reason(error)}"
        return HubError(
            f"{doing} {place}: what answered isn't the Hub ({said}); a page to log in, a proxy or "
            "HF_ENDPOINT may stand in between"
        )
    if not isinstance(error, OSError):  # of hf_xet, which has no errors of its own
        return HubError(
            f"{doing} {place}: the transfer failed ({_reason(error)}); HF_HUB_DISABLE_XET=1 does without Xet"
        )
    return None


@dataclass(frozen=True)
class Published:
    """A dataset on the Hub.

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
        HubError: if the server or the line fails; the same call again goes on.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_token

    api, repository = HfApi(), place.repository
    with in_one_line(place, "publishing"):
        on_progress("looking at the Hub")
        if get_token() is None:
            raise OutputError(f"publishing {place} needs a token of the Hub: hf auth login, or HF_TOKEN")
        api.create_repo(repository, repo_type=KIND, private=private, exist_ok=True)
        before: Any = api.repo_info(repository, repo_type=KIND)
        refs = api.list_repo_refs(repository, repo_type=KIND)
        tags = {each.name: each.target_commit for each in refs.tags}
        held = {each.rfilename for each in before.siblings or ()}
        if ignoring := next((name for name in sorted(held) if Path(name).name == ".gitignore"), None):
            raise OutputError(f"{place} has {ignoring}, by which the Hub leaves files out; remove it there")
        is_here = tag in tags and tags[tag] == before.sha and MANIFEST in held
        if tag in tags and not (is_here and _has_manifest(api, repository, folder)):
            raise OutputError(
                f"{place} has tag {tag} on another dataset (commit {tags[tag][:7]}); a tag never moves: "
                "choose another"
            )
        gone = sorted(held - {*names, _HUBS_OWN})
        on_progress("uploading")
        made = api.create_commit(
            repository,
            [
                *(CommitOperationAdd(name, str(folder / name)) for name in names),
                *(CommitOperationDelete(name, is_folder=False) for name in gone),
            ],
            repo_type=KIND,
            commit_message="A dataset, whole",
            parent_commit=before.sha,  # which nobody may have followed
        )
        if tag is not None and tag not in tags:
            on_progress("tagging")
            api.create_tag(repository, tag=tag, revision=made.oid, repo_type=KIND, exist_ok=True)
    return Published(replace(place, revision=tag or made.oid), made.oid, len(names), made.oid != before.sha)


def _has_manifest(api: Any, repository: str, folder: Path) -> bool:
    """Return whether a repository has the manifest of a folder, and so the same dataset."""
    with tempfile.TemporaryDirectory() as name:
        api.hf_hub_download(repository, MANIFEST, repo_type=KIND, local_dir=name, cache_dir=_own_cache(name))
        found = read_file(Path(name), MANIFEST, MANIFEST_LIMIT)
        return found == read_file(folder, MANIFEST, MANIFEST_LIMIT)


def _own_cache(folder: str) -> Path:
    """Return a cache that is empty: what an earlier download left in the usual one isn't what the Hub has."""
    return Path(folder, ".cache", "own")


@contextmanager
def downloaded(place: Place) -> Iterator[Path]:
    """Download a dataset, whatever is in it; yield its directory, gone afterwards.

    Raises:
        OutputError: if there is no such dataset, or the disk has no room for it.
        HubError: if the server or the line fails.
    """
    from huggingface_hub import HfApi, snapshot_download

    with tempfile.TemporaryDirectory() as name:
        with in_one_line(place, "downloading"):
            info = HfApi().dataset_info(place.repository, revision=place.revision, files_metadata=True)
            size = sum(each.size or 0 for each in info.siblings or ())
            if size > (free := shutil.disk_usage(name).free):
                raise OutputError(f"{place} has {size:,} bytes; {name} has room for {free:,}")
            snapshot_download(
                place.repository,
                repo_type=KIND,
                revision=info.sha,
                local_dir=name,
                cache_dir=_own_cache(name),
                ignore_patterns=[_HUBS_OWN],
            )
        shutil.rmtree(Path(name, ".cache"), ignore_errors=True)  # what the download itself put there
        yield Path(name)
