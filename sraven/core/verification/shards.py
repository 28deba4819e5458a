"""One file of a dataset: compared with what the generator and the writer make of the configuration."""

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from sraven.core.compute.parallel import Progress
from sraven.core.dataset.formats import FORMATS
from sraven.core.dataset.manifest import Shard, add_tallies, blocks_of, make_entry
from sraven.core.tasks.digests import block_digest, block_size, instance_bytes
from sraven.core.tasks.table import arrow_schema, to_table
from sraven.core.tasks.task import Arrays, Encoded, Rows, name_fault
from sraven.core.verification.files import MOST_NAMED, Comparison, open_plain
from sraven.core.verification.leaks import Leaks, fingerprints
from sraven.core.verification.shard_files import read_parquet

SAMPLED = 16
"""Of as many instances, one is looked at by the task's second opinion, unless all are."""

_PIECE = 16_384
"""Instances that are drawn before it is asked again whether all is to stop."""

BY_BYTES, BY_VALUES = "bytes", "values"
"""How a file was found right: it has the very bytes that are written today, or the values and fields."""


@dataclass(frozen=True)
class Checking:
    """What all files are checked with.

    Attributes:
        rows: the generator, and what it is compared with.
        file_format: of the files.
        pyarrow: the version of PyArrow that wrote them.
        thorough: whether the second opinion is asked about all instances.
        threads: for each file.
        leaks: is told the fingerprints.
        progress: is told of checked instances.
    """

    rows: Rows
    file_format: str
    pyarrow: str
    thorough: bool
    threads: int
    leaks: Leaks
    progress: Progress


@dataclass
class Finding:
    """What was found about a file.

    Attributes:
        faults: what is wrong with it.
        checked: instances that were compared.
        reviewed: instances that the second opinion was asked about.
        how: `BY_BYTES` or `BY_VALUES`; None unless all is right.
        entry: what the manifest has to say of it; None unless all is right.
    """

    faults: list[str] = field(default_factory=list)
    checked: int = 0
    reviewed: int = 0
    how: str | None = None
    entry: dict[str, Any] | None = None


class _Blocks:
    """The blocks of a shard as the generator gives them, and what they add up to."""

    def __init__(self, checking: Checking, shard: Shard, stop: threading.Event, told: int = 0) -> None:
        self._checking, self._shard, self._stop, self._told = checking, shard, stop, told
        self.digests: list[str] = []
        self.tallies: dict[str, Any] = {}
        self.checked = self.reviewed = 0
        self.faults: list[str] = []

    def draw(self) -> Iterator[Encoded]:
        """Yield the blocks.

        Raises:
            InterruptedError: soon after all is to stop.
        """
        for start, count in blocks_of(self._shard, block_size(self._checking.rows.columns)):
            pieces = [self._draw_piece(begin, start + count) for begin in range(start, start + count, _PIECE)]
            columns = {
                name: np.concatenate([piece.columns[name] for piece in pieces]) for name in pieces[0].columns
            }
            tallies: dict[str, Any] = {}
            for piece in pieces:
                add_tallies(tallies, piece.tallies)
            yield Encoded(columns, tallies)

    def _draw_piece(self, begin: int, end: int) -> Encoded:
        if self._stop.is_set():
            raise InterruptedError
        return self._checking.rows.encode(
            self._shard.split, begin, min(_PIECE, end - begin), self._checking.threads
        )

    def note(self, encoded: Encoded) -> None:
        """Add a block that the file holds."""
        rows, arrays = self._checking.rows, encoded.columns
        self.digests.append(block_digest(arrays, rows.columns))
        add_tallies(self.tallies, encoded.tallies)
        if self._checking.leaks.needed:
            prints = fingerprints([arrays[name] for name in rows.instance_columns])
            self._checking.leaks.add(self._shard.split, prints)
        self._review(arrays)
        self.checked += len(arrays["index"])
        if self.checked > self._told:
            self._checking.progress(self.checked - self._told)
            self._told = self.checked

    def _review(self, arrays: Arrays) -> None:
        """Ask the second opinion about some rows of a block, or about all."""
        step = 1 if self._checking.thorough else SAMPLED
        for begin in range(0, len(arrays["index"]), _PIECE):
            if self._stop.is_set():
                raise InterruptedError
            chosen = slice(begin, begin + _PIECE, step)
            sample = {name: np.ascontiguousarray(array[chosen]) for name, array in arrays.items()}
            self.faults += self._checking.rows.find_faults(self._shard.split, sample)
            self.reviewed += len(sample["index"])

    def finding(self, faults: list[str], how: str = "", size: int = 0, sha256: str = "") -> Finding:
        """Return what was found, given the faults of the file, and how it was compared."""
        faults = faults + self.faults
        if faults:
            rest = len(faults) - MOST_NAMED
            more = [f"{rest:,} more faults"] if rest > 0 else []
            return Finding([*dict.fromkeys(faults[:MOST_NAMED]), *more], self.checked, self.reviewed)
        entry = make_entry(self._shard, size, sha256, self.digests, self.tallies)
        return Finding([], self.checked, self.reviewed, how, entry)


def _compare_bytes(blocks: _Blocks, checking: Checking, file: BinaryIO) -> str | None:
    """Write a shard anew, and compare it with its file; return the file's SHA-256 if they are equal."""
    columns = checking.rows.columns
    sink, step = Comparison(file), block_size(columns)
    with FORMATS[checking.file_format](sink, arrow_schema(columns)) as writer:
        for encoded in blocks.draw():
            writer.write_table(to_table(encoded.columns, columns), step)
            if not sink.same:
                break
            blocks.note(encoded)
    return sink.sha256() if sink.ends() else None


def compare_values(rows: Rows, split: str, arrays: Arrays, encoded: Encoded) -> list[str]:
    """Compare the rows of a block with the generator's."""
    index = encoded.columns["index"]
    if not np.array_equal(arrays["index"], index):
        return [f"index isn't {index[0]:,} to {index[-1]:,}"]
    faults = []
    for name, drawn in encoded.columns.items():
        found, expected = (  # as bytes: zeros have two signs
            np.ascontiguousarray(array).reshape(len(index), -1).view(np.uint8)
            for array in (arrays[name], drawn)
        )
        differs = (found != expected).any(axis=1)
        if differs.any():
            faults.append(name_fault(arrays, differs, f"{name} differs from the generator's"))
    return (rows.find_faults(split, arrays) if faults else []) + faults


def _compare_fields(blocks: _Blocks, checking: Checking, shard: Shard, data: bytes) -> list[str]:
    """Compare all values and fields of a Parquet file with those that it should have."""
    rows, faults = checking.rows, list[str]()
    counts = [count for _, count in blocks_of(shard, block_size(rows.columns))]
    try:
        read = read_parquet(data, rows.columns, counts, checking.pyarrow)
        for arrays, encoded in zip(read, blocks.draw(), strict=True):
            faults += compare_values(rows, shard.split, arrays, encoded)
            blocks.note(encoded)
    except ValueError as error:
        faults.append(f"it isn't as PyArrow {checking.pyarrow} writes it: {error}")
    return faults


def _check_size(size: int, checking: Checking, shard: Shard) -> None:
    """Refuse a file that can't be right before any instance of it is drawn."""
    raw = shard.count * instance_bytes(checking.rows.columns)
    # Streams aren't compressed. In Parquet, the indices alone take some bits each, however packed.
    least = raw if checking.file_format == "arrow" else shard.count // 8
    if not least <= size <= 2 * raw + (1 << 20):
        raise ValueError(f"it has {size:,} bytes, which {shard.count:,} rows can't take")


def _find(checking: Checking, shard: Shard, file: BinaryIO, stop: threading.Event) -> Finding:
    size, told = os.fstat(file.fileno()).st_size, 0
    _check_size(size, checking, shard)
    if checking.file_format == "arrow" or checking.pyarrow == version("pyarrow"):
        blocks = _Blocks(checking, shard, stop)
        if sha256 := _compare_bytes(blocks, checking, file):
            return blocks.finding([], BY_BYTES, size, sha256)
        if checking.file_format == "arrow":
            return blocks.finding([f"its bytes aren't those that PyArrow {version('pyarrow')} writes"])
        told = blocks.checked
    blocks = _Blocks(checking, shard, stop, told)
    file.seek(0)
    data = file.read(size)
    faults = _compare_fields(blocks, checking, shard, data)
    return blocks.finding(faults, BY_VALUES, len(data), hashlib.sha256(data).hexdigest())


def check_shard(checking: Checking, shard: Shard, out: Path, stop: threading.Event) -> Finding:
    """Compare a file with what it should be.

    A file with the bytes that the installed PyArrow writes is right, whoever reads it. Any other
    Parquet file is taken apart: another version may have written it.

    Args:
        checking: what to check with.
        shard: what the file should hold.
        out: the directory of the dataset.
        stop: ends the work, between two blocks.

    Raises:
        InterruptedError: if it was stopped.
    """
    try:
        with open_plain(out / shard.path) as file:
            return _find(checking, shard, file, stop)
    except InterruptedError:
        raise
    except OSError as error:
        return Finding([f"it can't be read: {error.strerror or error}"])
    except (ValueError, pa.ArrowException) as error:
        return Finding([str(error).splitlines()[0] if str(error) else "it can't be read"])
