"""One file of a dataset: compared with what the generator and the writer make of the configuration."""

import hashlib
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sraven.core.digests import instance_bytes
from sraven.core.roles import Arrays, Rows, row_fault
from sraven.data.engines.call import OnProgress
from sraven.data.files import FileComparison, is_pointer, name_and_count
from sraven.data.formats import FORMATS
from sraven.data.leaks import Leaks, fingerprints
from sraven.data.manifest import Shard, ShardContents
from sraven.files.files import open_plain
from sraven.files.table import arrow_schema, to_table
from sraven.files.untrusted import decode_apart

SAMPLED = 16
"""Of as many instances, one is looked at by the task's second opinion, unless all are."""

_PIECE = 16_384
"""Instances that the second opinion checks between two reports of progress."""

BY_BYTES, BY_VALUES = "bytes", "values"
"""The grounds on which a file is right: it has the very bytes that are written today, or the values."""


@dataclass(frozen=True)
class Checking:
    """What all files are checked with.

    Attributes:
        rows: the generator, and what it is compared with.
        file_format: of the files.
        pyarrow: the version of PyArrow that wrote them.
        thorough: whether the second opinion checks all instances.
        threads: for each file.
        leaks: is called with the fingerprints.
    """

    rows: Rows
    file_format: str
    pyarrow: str
    thorough: bool
    threads: int
    leaks: Leaks


def compare_values(rows: Rows, split: str, arrays: Arrays, drawn: Arrays) -> list[str]:
    """Compare the rows of a block with the generator's."""
    index = drawn["index"]
    if not np.array_equal(arrays["index"], index):
        return [f"index isn't {index[0]:,} to {index[-1]:,}"]
    faults = []
    for name in drawn:
        found, expected = (  # as bytes: zeros have two signs
            np.ascontiguousarray(each[name]).reshape(len(index), -1).view(np.uint8)
            for each in (arrays, drawn)
        )
        differs = (found != expected).any(axis=1)
        if differs.any():
            faults.append(row_fault(arrays, differs, f"{name} differs from the generator's"))
    return (rows.find_faults(split, arrays) if faults else []) + faults


class ShardCheck:
    """A file of a dataset, compared with what the generator and the writer make of the configuration.

    A file of the installed PyArrow has the bytes that it writes, or is refused. Other versions compress and
    cut pages otherwise: what they wrote is decoded in a process of its own, and its values are compared.

    Attributes:
        faults: what is wrong with it.
        checked: instances that were compared.
        reviewed: instances that the second opinion checked.
        how: `BY_BYTES` or `BY_VALUES`.
        entry: what the manifest has to say of it; None unless all is right.
    """

    def __init__(self, checking: Checking, shard: Shard, on_progress: OnProgress) -> None:
        """Prepare the check; ``on_progress`` may raise `InterruptedError`, which ends it."""
        self._checking, self._shard, self._on_progress = checking, shard, on_progress
        self._contents = ShardContents(checking.rows, shard)
        self.faults: list[str] = []
        self.checked = self.reviewed = 0
        by_bytes = checking.file_format == "arrow" or checking.pyarrow == version("pyarrow")
        self.how = BY_BYTES if by_bytes else BY_VALUES
        self.entry: dict[str, Any] | None = None

    def run(self, out: Path) -> None:
        """Check the file in the directory of a dataset.

        Raises:
            InterruptedError: if it was stopped.
        """
        try:
            with open_plain(out / self._shard.path) as file:
                size = os.fstat(file.fileno()).st_size
                if pointer := is_pointer(file.read(200)):
                    raise ValueError(pointer)
                file.seek(0)
                self._check_size(size)
                sha256 = (self._compare_bytes if self.how == BY_BYTES else self._compare_values)(file)
        except InterruptedError:
            raise
        except OSError as error:
            self.faults = [f"it can't be read: {error.strerror or error}"]
        except ValueError as error:  # of the decoder, with the path in front
            self.faults = [str(error).removeprefix(f"{self._shard.path}: ") or "it can't be read"]
        if self.faults:
            self.faults = name_and_count([*dict.fromkeys(self.faults)], "faults")
        else:
            self.entry = self._contents.entry(size, sha256)

    def _check_size(self, size: int) -> None:
        """Refuse a file that can't be right before any instance of it is drawn."""
        count, checking = self._shard.count, self._checking
        raw = count * instance_bytes(checking.rows.columns)
        # Streams aren't compressed. In Parquet, the indices alone take some bits each, however packed.
        least = raw if checking.file_format == "arrow" else count // 8
        if not least <= size <= 2 * raw + (1 << 20):
            raise ValueError(f"it has {size:,} bytes, which {count:,} rows can't take")

    def _review(self, arrays: Arrays) -> None:
        """Count a block that was compared; check some of its rows, or all, by the second opinion."""
        checking, split = self._checking, self._shard.split
        if checking.leaks.needed:
            prints = fingerprints([arrays[name] for name in checking.rows.instance_columns])
            checking.leaks.add(split, prints)
        count, step = len(arrays["index"]), 1 if checking.thorough else SAMPLED
        for begin in range(0, count, _PIECE):
            chosen = slice(begin, begin + _PIECE, step)
            sample = {name: np.ascontiguousarray(array[chosen]) for name, array in arrays.items()}
            self.faults += checking.rows.find_faults(split, sample)
            self.reviewed += len(sample["index"])
            self._on_progress(min(_PIECE, count - begin), 0)
        self.checked += count

    def _compare_bytes(self, file: BinaryIO) -> str:
        """Write the file again, and compare the bytes; return the SHA-256 of those that are there."""
        columns, sink = self._checking.rows.columns, FileComparison(file)
        with FORMATS[self._checking.file_format](sink, arrow_schema(columns)) as writer:
            for encoded in self._contents.draw(self._checking.threads):
                writer.write_table(to_table(encoded.columns, columns), self._contents.block_size)
                if not sink.same:
                    break
                self._review(encoded.columns)
        if not sink.same or file.read(1):
            self.faults.append(f"its bytes aren't those that PyArrow {version('pyarrow')} writes")
        return sink.checksum.hexdigest()

    def _compare_values(self, file: BinaryIO) -> str:
        """Compare all values with the generator's; return the SHA-256 of the file."""
        shard, rows, place = self._shard, self._checking.rows, 0
        data = file.read(os.fstat(file.fileno()).st_size)
        files = {shard.path: (data, shard.count)}
        (values,) = decode_apart(files, rows.columns, bare=True).values()
        if len(values[0]) != shard.count:
            raise ValueError(f"it has {len(values[0]):,} rows; expected {shard.count:,}")
        for encoded in self._contents.draw(self._checking.threads):
            block = slice(place, place := place + len(encoded.columns["index"]))
            arrays = {column.name: array[block] for column, array in zip(rows.columns, values, strict=True)}
            self.faults += compare_values(rows, shard.split, arrays, encoded.columns)
            self._review(encoded.columns)
        return hashlib.sha256(data).hexdigest()
