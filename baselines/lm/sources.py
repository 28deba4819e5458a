"""Sources of documents: files by pattern, or a dataset that is streamed."""

import glob
import logging
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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

STREAM = "stream"


@dataclass(frozen=True)
class Source:
    """A unit of work: what one process reads from its first record to its last.

    Attributes:
        name: what messages and the manifest call it; a file's path, as it was given.
        kind: how it is read: a value of `SUFFIXES`, or ``stream``.
        path: of the file, for any working directory; or what `datasets.load_dataset` takes: a name on the
            Hub, or a directory.
        size: bytes of the file; 0 for a stream.
        config: of a streamed dataset, or None.
        split: of a streamed dataset.
        index: which of the dataset's files.
        count: of how many.
    """

    name: str
    kind: str
    path: str
    size: int = 0
    config: str | None = None
    split: str = ""
    index: int = 0
    count: int = 1

    def stream(self) -> Any:
        """Return the rows of the whole split, as a `datasets.IterableDataset`."""
        from datasets import load_dataset

        return load_dataset(self.path, self.config, split=self.split, streaming=True)


def find_sources(patterns: Sequence[str], config: str | None = None, split: str = "train") -> list[Source]:
    """Return the sources that some patterns stand for, in order, each once.

    Args:
        patterns: paths of files, patterns of paths (``*``, ``?``, ``**``), or else datasets that
            `datasets.load_dataset` can stream: names on the Hub, or directories.
        config: configuration of the datasets.
        split: split of the datasets.

    Raises:
        ConfigurationError: if a pattern stands for nothing, or for something that can't be read.
    """
    if not patterns:
        raise ConfigurationError("source: none given; name files, a pattern of files, or a dataset")
    found: dict[str, Source] = {}
    for pattern in patterns:
        files = _match(pattern)
        sources = [_file_source(path) for path in files] if files else _stream_sources(pattern, config, split)
        if files and config is not None:
            raise ConfigurationError(f"config={config!r}: {pattern} is files, and only datasets have it")
        found.update({source.name: source for source in sources})
    return list(found.values())


def _match(pattern: str) -> list[str]:
    """Return the files of a pattern; nothing, if it names a dataset."""
    path = os.path.expanduser(pattern)
    if os.path.isdir(path):
        if not path.startswith((".", os.sep)):  # `datasets` would take it, rather than the Hub's
            raise ConfigurationError(
                f"source={pattern!r}: a folder here has that name, which a dataset may have too; "
                f"use ./{pattern} for the folder"
            )
        return []
    files = (
        [path] if os.path.exists(path) else sorted(filter(os.path.isfile, glob.glob(path, recursive=True)))
    )
    looks_like_files = glob.has_magic(path) or path.startswith((".", "/")) or _suffix(path)
    if not files and looks_like_files:
        raise ConfigurationError(f"source={pattern!r}: no such file; give a path, quoted pattern or dataset")
    return files


def _suffix(path: str) -> str:
    return next((suffix for suffix in SUFFIXES if Path(path).name.lower().endswith(suffix)), "")


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
    suffix = _suffix(path)
    if not suffix:
        raise ConfigurationError(
            f"source={path!r}: expected a name that ends in {', '.join(SUFFIXES)}; "
            "other files of a folder are streamed by the folder's name, such as ./corpus"
        )
    return Source(path, SUFFIXES[suffix], os.path.abspath(path), os.path.getsize(path))


def _stream_sources(name: str, config: str | None, split: str) -> list[Source]:
    """Return the files of a dataset as sources.

    Raises:
        ConfigurationError: if it can't be opened.
    """
    words = " ".join(filter(None, (name, config, split)))
    path = os.path.abspath(name) if name.startswith(".") else name
    whole = Source(words, STREAM, path, config=config, split=split)
    quiet = logging.root.manager.disable
    logging.disable(logging.WARNING)  # the libraries log each try: their outcome is one line here
    try:
        count = whole.stream().num_shards
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigurationError(
            f"source={name!r}: can't be streamed ({reason}); check name, --config, --split and network, or "
            "download its files elsewhere and give their paths"
        ) from None
    finally:
        logging.disable(quiet)
    return [replace(whole, name=f"{words} {n + 1}/{count}", index=n, count=count) for n in range(count)]
