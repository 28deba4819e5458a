"""The files of a challenge round: each has one way to be written, and so one digest."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.errors import ChallengeError, OutputError, SubmissionError
from sraven.core.base.escape import escape
from sraven.core.system.staging import staged
from sraven.core.tasks.digests import array_bytes
from sraven.core.untrusted.read import read_file
from sraven.core.untrusted.schemas import find_problem

MOST_JSON = 1 << 22
_MOST_HEADER = 1 << 10


def exact_json(content: Mapping[str, Any]) -> bytes:
    """Return the one text of a file's content."""
    return (json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def checksum(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_exact(path: Path, schema: str) -> tuple[dict[str, Any], str]:
    """Return what a file of JSON says, and its SHA-256.

    Raises:
        ChallengeError: if it can't be read, breaks its schema, or isn't written as this project writes.
    """
    try:
        data = read_file(path.parent, path.name, MOST_JSON)
        content = json.loads(data)
    except SubmissionError as error:
        raise ChallengeError(f"{escape(str(path.parent))}: {error}") from None
    except (ValueError, RecursionError):
        raise ChallengeError(f"{escape(str(path))}: isn't JSON") from None
    if problem := find_problem(content, schema):
        raise ChallengeError(f"{escape(str(path))}: {problem}")
    if exact_json(content) != data:
        raise ChallengeError(f"{escape(str(path))}: was edited: it isn't written as the command writes it")
    return dict(content), checksum(data)


def write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that isn't there yet, to the disk, with exactly this mode whatever the umask."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


@contextmanager
def new_directory(goal: Path) -> Iterator[Path]:
    """Give a directory to write into, which becomes ``goal`` at the end, whole or not at all.

    Until then nobody else can look into it.

    Raises:
        OutputError: if there is something already.
    """
    if os.path.lexists(goal):
        raise OutputError(f"{goal} exists; choose another directory")
    with staged(goal) as new:
        new.parent.chmod(0o700)
        new.chmod(0o755)  # whatever the umask: only its owner may put anything into it
        yield new


def array_digest(name: str, array: NDArray[Any]) -> str:
    """Return the SHA-256 of a line ``name dtype shape`` and an array's bytes, little-endian in C order."""
    found = hashlib.sha256(f"{name} {array.dtype.name} {'x'.join(map(str, array.shape))}\n".encode())
    found.update(array_bytes(array))
    return found.hexdigest()


def npy_bytes(array: NDArray[Any]) -> bytes:
    """Return an array as the bytes of an .npy file."""
    file = BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return file.getvalue()


def read_npy(folder: Path, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the array in an .npy file, which must have this type and shape and nothing besides.

    Raises:
        ChallengeError: if it hasn't.
    """
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    try:
        file = BytesIO(read_file(folder, name, size + _MOST_HEADER))
        array = np.lib.format.read_array(file, allow_pickle=False, max_header_size=_MOST_HEADER)
    except SubmissionError as error:
        raise ChallengeError(str(error)) from None
    except (ValueError, OSError, EOFError, RecursionError, MemoryError):
        raise ChallengeError(f"{name}: isn't an .npy file of {size:,} bytes of data") from None
    found = array.dtype, array.shape, bool(file.read())
    if found != (np.dtype(dtype).newbyteorder("<"), shape, False) or not array.flags.c_contiguous:
        raise ChallengeError(
            f"{name}: holds {escape(array.dtype.name)} {escape(list(array.shape))}, or something besides; "
            f"expected {dtype} {list(shape)} in C order"
        )
    return np.asarray(array, dtype)
