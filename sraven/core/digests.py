"""Digests of arrays: the identity of a split's data, whatever files hold it.

A split is cut into blocks: as many instances as fit into 16 MiB, rounded down to a power of two,
but 65,536 at most. The digest of a block is the SHA-256 of, for each array in the order of the
columns, a header line ``name dtype shape`` and the array's bytes, little-endian in C order. The
digest of the split is the SHA-256 of the block digests, one after the other as hexadecimal text.
So blocks can be checked, resumed and hashed apart, and a difference can be traced to one of them.
"""

import hashlib
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Arrays, Column, Task

MOST_INSTANCES, MOST_BYTES = 65_536, 1 << 24


def instance_bytes(columns: Sequence[Column]) -> int:
    """Return how many bytes the arrays of one instance take."""
    return sum(np.dtype(column.dtype).itemsize * prod(column.shape) for column in columns)


def block_size(columns: Sequence[Column]) -> int:
    """Return how many instances make a block."""
    fitting = max(1, MOST_BYTES // instance_bytes(columns))
    return min(MOST_INSTANCES, 1 << (fitting.bit_length() - 1))


def array_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array, little-endian in C order; native ones aren't copied."""
    array = np.ascontiguousarray(array)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return array.reshape(-1).view(np.uint8).data


def block_digest(arrays: Arrays, columns: Sequence[Column]) -> str:
    """Return the digest of a block of instances; derived columns are left out."""
    checksum = hashlib.sha256()
    for column in columns:
        if column.derived:
            continue
        array = arrays[column.name]
        shape = "x".join(map(str, array.shape))
        checksum.update(f"{column.name} {column.dtype} {shape}\n".encode())
        checksum.update(array_bytes(array))
    return checksum.hexdigest()


def split_digest(block_digests: Iterable[str]) -> str:
    """Return the digest of a split from those of its blocks, in order."""
    return hashlib.sha256("".join(block_digests).encode()).hexdigest()


def digest_split(task: Task, split: str, instances: int, batch: Any = None) -> dict[str, Any]:
    """Return the digests of the first instances of a split: whole, by block and by array.

    Args:
        task: the task.
        split: the split.
        instances: how many.
        batch: all of them, if they are at hand; else they are generated a block at a time.
    """
    every = task.columns
    step, blocks = block_size(every), []
    columns = [column for column in every if not column.derived]
    arrays = {column.name: hashlib.sha256() for column in columns}
    for start in range(0, instances, step):
        end = min(start + step, instances)
        block = task.sample(split, start, end - start) if batch is None else batch[start:end]
        named = block._asdict()
        blocks.append(block_digest(named, columns))
        for column in columns:
            arrays[column.name].update(array_bytes(named[column.name]))
    return {
        "instances": instances,
        "sha256": split_digest(blocks),
        "blocks": blocks,
        "arrays": {name: checksum.hexdigest() for name, checksum in arrays.items()},
    }


def digest_prompts(prompts: Iterable[str]) -> str:
    """Return the SHA-256 of prompts: of each in UTF-8 with a NUL behind it, in their order."""
    checksum = hashlib.sha256()
    for prompt in prompts:
        checksum.update(prompt.encode() + b"\0")
    return checksum.hexdigest()
