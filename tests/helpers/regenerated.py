"""The digests of a board's instances, made again."""

import hashlib

import numpy as np

from sraven.core.digests import block_size


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def bytes_of(array):
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1)


def regenerate(board, split, names):
    """Return the digests of a split as docs/format.md defines them, of arrays only those with these names."""
    total, size = board.content["splits"][split]["instances"], block_size(board.task.columns)
    order = list(board.content["splits"][split]["arrays"])
    blocks, arrays = [], {name: hashlib.sha256() for name in names}
    for start in range(0, total, size):
        batch = board.task.sample(split, start, min(size, total - start))._asdict()
        block = hashlib.sha256()
        for name in order:
            content = bytes_of(batch[name])
            shape = "x".join(str(length) for length in batch[name].shape)
            block.update(f"{name} {batch[name].dtype} {shape}\n".encode())
            block.update(content)
            if name in arrays:
                arrays[name].update(content)
        blocks.append(block.hexdigest())
    found = {name: checksum.hexdigest() for name, checksum in arrays.items()}
    return {"instances": total, "sha256": sha256("".join(blocks)), "blocks": blocks, "arrays": found}
