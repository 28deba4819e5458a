"""Zstandard at its narrowest: one frame, nothing hidden, nothing larger than it says."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def _is_one_frame(data: memoryview) -> bool:
    """Tell whether bytes are one Zstandard frame (RFC 8878): decoders skip others that hold no data."""
    if len(data) < 5 or bytes(data[:4]) != b"\x28\xb5\x2f\xfd" or data[4] & 0b11000:
        return False
    single, checksum = data[4] >> 5 & 1, data[4] >> 2 & 1
    at = 5 + (1 - single) + (0, 1, 2, 4)[data[4] & 3] + (single, 2, 4, 8)[data[4] >> 6]
    last = False
    while not last:
        if at + 3 > len(data):
            return False
        header = int.from_bytes(data[at : at + 3], "little")
        last = bool(header & 1)
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
    return at + 4 * checksum == len(data)


def decompress(data: memoryview, size: int) -> NDArray[np.uint8]:
    """Return what one Zstandard frame of a known content size holds.

    Raises:
        ValueError: for anything else.
    """
    if not _is_one_frame(data):
        raise ValueError("isn't one Zstandard frame")
    try:
        raw = pa.Codec("zstd").decompress(data, decompressed_size=size)
    except (pa.ArrowException, OSError):
        raise ValueError("can't be decompressed to the size that it says") from None
    return np.frombuffer(raw, np.uint8)
