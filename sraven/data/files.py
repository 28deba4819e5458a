"""The files of a dataset directory: these and no others, none of them a link, byte for byte."""

import hashlib
import io
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from sraven.core.escape import escape
from sraven.data.manifest import CARD, CROISSANT, inner_cards
from sraven.files.files import open_plain
from sraven.files.staging import MANIFEST, STAGING, Plan

MOST_NAMED = 20
"""Files that are named of those with the same fault; the rest is counted."""

_REMOVE = "is no part of the dataset; remove it"

DOWNLOADED = (".cache", ".DS_Store", ".git", ".gitattributes", ".huggingface")
"""What a download of the Hub, Git or a Mac leaves in a directory: no reader of datasets looks into it."""

_ADVICE = {
    **dict.fromkeys(DOWNLOADED, "is what a download leaves; --downloaded leaves it out of account"),
    STAGING: "is left of an interrupted writer; run its generate command again, or remove it",
    ".huggingface.yaml": "may have datasets load other data than the card says; remove it",
}


def name_and_count(
    lines: list[str], what: str, most: int = MOST_NAMED, count: int | None = None
) -> list[str]:
    """Return the first lines, and one that counts the rest of what there is (all of the lines by default)."""
    rest = (len(lines) if count is None else count) - len(lines[:most])
    return lines[:most] + ([f"{rest:,} more {what}"] if rest > 0 else [])


def check_folder(
    folder: Path, prefix: str, wanted: Mapping[str, int], ignored: Collection[str] = ()
) -> tuple[list[str], set[str]]:
    """Compare what is in a folder with what belongs there; links are followed nowhere.

    Args:
        folder: where to look.
        prefix: what to put before a name in a fault.
        wanted: names of the entries that belong there, with `stat.S_IFREG` or `stat.S_IFDIR`.
        ignored: names of what may be there besides.

    Returns:
        the faults, and the names of those entries that are missing or of another kind.
    """
    with os.scandir(folder) as entries:
        modes = {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}
    names = sorted(modes.keys() - wanted.keys() - set(ignored))
    wrong = {}
    for name, kind in sorted(wanted.items()):
        mode = modes.get(name)
        if mode is None:
            wrong[name] = "the file is missing" if kind == stat.S_IFREG else "the folder is missing"
        elif stat.S_ISLNK(mode):
            wrong[name] = "it is a link, which may lead anywhere; put there what it leads to"
        elif stat.S_IFMT(mode) != kind:
            wrong[name] = "it is no plain file" if kind == stat.S_IFREG else "it is no folder"
    lines = [f"{prefix}{name}: {fault}" for name, fault in wrong.items()]
    others = [f"{prefix}{escape(name)}: {_ADVICE.get(name, _REMOVE)}" for name in names[:MOST_NAMED]]
    what = f"entries of {prefix or 'the directory'} are no part of the dataset"
    faults = name_and_count(lines, "files are missing or aren't plain")
    return faults + name_and_count(others, what, count=len(names)), set(wrong)


def check_tree(
    out: Path, plan: Plan, shards: Collection[str], ignored: Collection[str] = ()
) -> tuple[list[str], set[str]]:
    """Check that a directory holds the files of a dataset and nothing else: no link, no hidden file.

    Args:
        out: the directory.
        plan: of the dataset.
        shards: the paths of its files below the directory.
        ignored: names of what may be there besides.

    Returns:
        the faults, and the files that can't be looked into, by their paths below the directory.
    """
    config_name, inner = plan["config_name"], [*shards, *inner_cards(plan)]
    files = dict.fromkeys((MANIFEST, CARD, CROISSANT), stat.S_IFREG)
    faults, wrong = check_folder(out, "", {**files, config_name: stat.S_IFDIR}, ignored)
    if config_name in wrong:
        return faults, wrong | set(inner)
    names = {path.rpartition("/")[2]: stat.S_IFREG for path in inner}
    more, missing = check_folder(out / config_name, f"{config_name}/", names, ignored)
    return faults + more, wrong | {f"{config_name}/{name}" for name in missing}


class FileComparison(io.RawIOBase):
    """What is written to it is compared with a file.

    Attributes:
        same: whether all that was written is what the file has there.
        checksum: SHA-256 of what the file has there.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.checksum, self.same = file, hashlib.sha256(), True

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Compare the next bytes."""
        found = self._file.read(len(memoryview(data).cast("B")))
        self.same = self.same and found == bytes(data)
        self.checksum.update(found)
        return len(memoryview(data).cast("B"))


def is_pointer(data: bytes) -> str:
    """Return what a file is that Git LFS left in the place of its content; an empty text if it is none."""
    is_left = data.startswith(b"version https://git-lfs.github.com/spec/")
    return "it is a pointer of Git LFS: fetch what it stands for (git lfs pull)" if is_left else ""


def check_text(out: Path, name: str, text: str, known_as: str) -> list[str]:
    """Check that a file holds a text, byte for byte."""
    expected = text.encode()
    try:
        with open_plain(out / name) as file:
            found = file.read(2 * len(expected) + 200)
    except OSError as error:
        return [f"{name}: it can't be read: {error}"]
    if found == expected:
        return []
    if found.replace(b"\r\n", b"\n") == expected:
        return [
            f"{name}: its lines end in CRLF; Git or an editor changed them (git config core.autocrlf false)"
        ]
    other = is_pointer(found) or f"isn't what {known_as}"
    return [f"{name}: {other}"]
