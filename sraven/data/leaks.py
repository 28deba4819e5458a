"""Instances that two splits share, found by 64-bit fingerprints."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.jit import kernel

_FNV_OFFSET, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@kernel
def _fingerprint(rows: Any, out: Any) -> None:
    for n in range(rows.shape[0]):
        value = _FNV_OFFSET
        for byte in range(rows.shape[1]):
            value = (value ^ np.uint64(rows[n, byte])) * _FNV_PRIME
        out[n] = value


def fingerprints(arrays: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a 64-bit FNV-1a hash of each instance's bytes in all of the arrays: uint64 ``[n]``."""
    n = len(arrays[0])
    rows = [np.ascontiguousarray(array).reshape(n, -1).view(np.uint8) for array in arrays]
    out = np.empty(n, np.uint64)
    _fingerprint(np.concatenate(rows, axis=1), out)
    return out


class Leaks:
    """Counts the fingerprints that two splits have in common.

    The largest split comes last and is looked up in the others, so that memory holds no fingerprint
    of it: 9 bytes for each instance of the others are needed.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.largest = max(sizes, key=lambda split: sizes[split])
        self._pairs = list(combinations(sizes, 2))
        self.needed = bool(self._pairs)
        self._lock = threading.Lock()
        self._held: defaultdict[str, list[NDArray[np.uint64]]] = defaultdict(list)
        self._distinct: dict[str, NDArray[np.uint64]] = {}
        self._hit: dict[str, NDArray[np.bool_]] = {}

    def add(self, split: str, prints: NDArray[np.uint64]) -> None:
        """Note fingerprints of a split; those of the largest after `seal`, from any thread."""
        if split != self.largest:
            with self._lock:
                self._held[split].append(prints)
            return
        prints = np.sort(prints)
        for other, distinct in self._distinct.items():
            places = np.searchsorted(distinct, prints)
            places[places == len(distinct)] = 0
            self._hit[other][places[distinct[places] == prints]] = True

    def seal(self) -> None:
        """Say that all splits but the largest are complete."""
        while self._held:
            split, prints = self._held.popitem()
            self._distinct[split] = np.unique(np.concatenate(prints))
            self._hit[split] = np.zeros(len(self._distinct[split]), np.bool_)

    def counts(self) -> dict[str, int]:
        """Return how many distinct instances are in two splits, by "a, b"."""

        def count(a: str, b: str) -> int:
            if self.largest in (a, b):
                other = b if a == self.largest else a
                return int(self._hit[other].sum()) if other in self._hit else 0
            one, two = (self._distinct.get(split, np.empty(0, np.uint64)) for split in (a, b))
            return len(np.intersect1d(one, two, assume_unique=True))

        return {f"{a}, {b}": count(a, b) for a, b in self._pairs}
