"""Sources of documents: files by pattern."""

import glob
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sraven.core.errors import ConfigurationError

SUFFIXES = {
    ".json": "json",
    ".jsonl": "json",
    ".json.gz": "json",
    ".jsonl.gz": "json",
    ".txt": "text",
    ".txt.gz": "text",
}
"""How a file is read, by the end of its name. JSON is one object a line, as C4 has it."""


@dataclass(frozen=True)
class Source:
    """A unit of work: what one process reads from its first record to its last.

    Attributes:
        name: what messages and the manifest call it; the file's path, as it was given.
        kind: how it is read: a value of `SUFFIXES`.
        path: of the file, for any working directory.
        size: bytes of the file.
    """

    name: str
    kind: str
    path: str
    size: int


def find_sources(patterns: Sequence[str]) -> list[Source]:
    """Return the files that some patterns stand for, in order, each once.

    Args:
        patterns: paths of files, or patterns of paths (``*``, ``?``, ``**``).

    Raises:
        ConfigurationError: if a pattern stands for nothing, or for something that can't be read.
    """
    found: dict[str, Source] = {}
    for pattern in patterns:
        path = os.path.expanduser(pattern)
        files = [path] if os.path.exists(path) else filter(os.path.isfile, glob.glob(path, recursive=True))
        sources = [_file_source(file) for file in sorted(files)]
        if not sources:
            raise ConfigurationError(f"source={pattern!r}: no such file; give a path, or a pattern in quotes")
        found.update({source.name: source for source in sources})
    return list(found.values())


def check_plain(path: str, name: str) -> None:
    """Refuse what may have no end, or wait for one: a pipe or a device, also behind a link.

    Args:
        path: to look at.
        name: what to call it in the error.

    Raises:
        ConfigurationError: if it is no plain file.
        OSError: if it can't be looked at.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ConfigurationError(f"source={name!r}: is a pipe, a device or a directory; give a plain file")


def _file_source(path: str) -> Source:
    check_plain(path, path)
    kinds = [kind for suffix, kind in SUFFIXES.items() if Path(path).name.lower().endswith(suffix)]
    if not kinds:
        raise ConfigurationError(f"source={path!r}: expected a name that ends in {', '.join(SUFFIXES)}")
    return Source(path, kinds[0], os.path.abspath(path), os.path.getsize(path))
