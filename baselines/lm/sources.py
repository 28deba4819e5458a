"""Sources of documents: files by pattern, and the documents in them."""

import glob
import gzip
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
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


LONGEST = 1 << 24
"""Bytes of a line at most, so that a file without line ends can't fill the memory."""


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


def _parse_json(line: bytes) -> str:
    """Return the text of an object as C4 has it; nothing of an empty line."""
    text = json.loads(line)["text"] if line.strip() else ""
    if not isinstance(text, str):
        raise TypeError(text)
    return text


PARSERS: dict[str, tuple[Callable[[bytes], str], str]] = {
    "json": (_parse_json, "a JSON object with a text, in UTF-8"),
    "text": (bytes.decode, "UTF-8"),
}
"""What makes a text of a line, and what it expects, by kind of source."""


def read_documents(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a source: numbers of their lines, from 1, and texts in UTF-8.

    Lines without text are left out.

    Raises:
        ConfigurationError: for a line that is no document, a damaged file, or one that isn't plain any more.
        OSError: if the disk fails.
    """
    check_plain(source.path, source.name)
    path, number = source.path, 0
    try:
        with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                if text := _read_line(line, source, number):
                    yield number, text
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ConfigurationError(
            f"{source.name}: damaged or cut off after line {number}; get it again"
        ) from None


def _read_line(line: bytes, source: Source, number: int) -> bytes:
    if len(line) > LONGEST:
        raise ConfigurationError(f"{source.name}:{number}: longer than {LONGEST:,} bytes; cut it")
    parse, expected = PARSERS[source.kind]
    try:
        text = parse(line.rstrip(b"\r\n"))
        return text.encode() if text.strip() else b""
    except (ValueError, TypeError, LookupError, RecursionError):
        raise ConfigurationError(f"{source.name}:{number}: expected {expected}; mend or remove it") from None
