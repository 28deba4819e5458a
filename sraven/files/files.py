"""Files that appear whole or not at all, and their checksums."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EFBIG, EINVAL, EIO, EISDIR
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

TEMPORARY = ".tmp"
"""End of the names of files that aren't whole yet."""

LARGEST = 1 << 26
"""Most bytes of a file that is read whole, unless its reader says otherwise."""


@contextmanager
def open_plain(path: Path, follow_links: bool = False) -> Iterator[BinaryIO]:
    """Open a plain file for reading: nothing endless, and nothing that is waited for.

    Raises:
        OSError: if it can't be opened, is no plain file, or is a link that isn't to be followed.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW))
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(EISDIR if stat.S_ISDIR(mode) else EINVAL, "it is no plain file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def read_bounded(path: Path, most: int = LARGEST, follow_links: bool = True) -> bytes:
    """Return the bytes of a plain file, by default also of one that a link leads to.

    All that is read whole and that others may have made is read by this.

    Raises:
        OSError: as `open_plain`, or if the file has more than ``most`` bytes.
    """
    with open_plain(path, follow_links) as file:
        # Of its size, and not `most`: Python takes the memory for all that it is asked to read.
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise OSError(EFBIG, f"it has more than {most:,} bytes", str(path))
        return file.read(size)


def sync_directory(directory: Path) -> None:
    """Make renames within a directory survive a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def move_into_place(source: Path, goal: Path) -> None:
    """Sync a file and rename it: readers see the old file or the whole new one."""
    with open(source, "rb") as file:
        os.fsync(file.fileno())
    os.replace(source, goal)
    sync_directory(goal.parent)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which then takes the place of another, whole or not at all.

    Directories that are missing on the way are made. Whoever writes the same at the same time has another
    one, and no link is followed to it. Pipes and devices are written to as they are.

    Raises:
        OSError: with the path that the caller gave.
    """
    is_stream = path.exists() and not path.is_file()
    temporary = path if is_stream else path.with_name(f"{path.name}.{os.getpid()}-{token_hex(4)}{TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if not is_stream:
            move_into_place(temporary, path)
    except OSError as error:
        raise OSError(error.errno or EIO, error.strerror or str(error), str(path)) from None
    finally:
        if not is_stream:
            with suppress(NotADirectoryError):
                temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file at once."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file at once, in UTF-8 and with plain line ends."""
    write_bytes(path, text.encode())


def json_text(value: Any) -> str:
    """Return JSON as the files of a dataset have it."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file at once."""
    write_text(path, json_text(value))


def compact_json(value: Any) -> str:
    """Return JSON to be read and compared line by line, with lists of numbers on one line."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    flat = re.compile(r"\[\s+((?:(?:-?[\d.e+-]+|null),?\s+)+)\]")
    return flat.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
