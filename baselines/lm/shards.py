"""Shards: the tokens of a run of documents, and a table of the documents, as plain ``.npy`` files.

``NAME.tokens.npy`` is uint16 [tokens]. ``NAME.documents.npy`` has a row a document, see `DOCUMENT`.
`numpy.load` maps both into memory.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from baselines.lm.records import EMPTY, FAULTS, Record
from baselines.lm.tokenizer import Tokenizer
from sraven.core.ground.errors import ConfigurationError
from sraven.core.system.files import move_into_place, sha256_of_file, write_json
from sraven.core.system.staging import apart
from sraven.core.untrusted.schemas import read_described

DOCUMENT = np.dtype([("start", "<i8"), ("tokens", "<i8"), ("bytes", "<i8"), ("record", "<i8")])
"""A document: its first token's place in the shard, its tokens, BOS and EOS included, the bytes of
its text in UTF-8, and its line or row in the source, from 1."""

ARRAYS = {"tokens": np.dtype("<u2"), "documents": DOCUMENT}
"""The arrays of a shard, and their types."""

SHARD_BYTES = 1 << 30
"""Text of a shard, about, at most: a killed run repeats no more than that."""

NAMED = 20
"""Skipped records that are named; all are counted."""

_BATCH_BYTES, _BATCH_DOCUMENTS = 1 << 17, 256  # in the cache; more is no faster
_BATCH_RECORDS = 1 << 14  # skipped ones, too: an interrupt is heard after a batch


@dataclass(frozen=True)
class Shard:
    """A shard that is written, and how far it got in its source.

    Attributes:
        name: of its files, without the ends.
        source: name of its source.
        documents: how many; 0 if the rest of a source had none, and there are no files.
        tokens: how many, BOS and EOS included.
        text_bytes: of the documents, in UTF-8.
        records: of the source that are done, those of its earlier shards included.
        last: whether the source has no more.
        skipped: numbers of skipped records, by fault.
        named: the first of them, as ``source:record: fault``.
        sha256: of the files, by array.
        tokenizer: its SHA-256.
    """

    name: str
    source: str
    documents: int
    tokens: int
    text_bytes: int
    records: int
    last: bool
    skipped: dict[str, int]
    named: list[str]
    sha256: dict[str, str]
    tokenizer: str


@dataclass
class _Tally:
    """What was seen of a shard's records so far."""

    source: str
    strict: bool
    documents: int = 0
    text_bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    named: list[str] = field(default_factory=list)

    def skip(self, record: Record) -> None:
        fault = f"{self.source}:{record.number}: {FAULTS[record.fault]}"
        if self.strict and record.fault != EMPTY:
            raise ConfigurationError(f"{fault}; mend or remove it, or leave out --strict to skip it")
        self.skipped[record.fault] += 1
        if record.fault != EMPTY and len(self.named) < NAMED:
            self.named.append(fault)

    def add(self, record: Record) -> None:
        self.documents += 1
        self.text_bytes += len(record.text)


class _ArrayFile:
    """An array of one axis that grows in a file; only the header is written twice."""

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self.path, self.length, self._dtype = path, 0, dtype
        self._file: IO[bytes] = open(path, "wb")  # noqa: SIM115  # the caller closes it
        self._write_header()

    def _write_header(self) -> None:
        # NumPy leaves room for the length to grow.
        description = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": description, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, header)

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self.length += len(values)

    def close(self) -> None:
        if not self._file.closed:
            self._file.seek(0)
            self._write_header()
            self._file.close()


class _Writer:
    """Documents to the files of one shard, a batch at a time; they go if they weren't moved."""

    def __init__(self, name: str, write: "Writing") -> None:
        self._tokenizer, self._threads = write.tokenizer, write.threads
        self.files: dict[str, _ArrayFile] = {}
        with ExitStack() as stack:  # what was begun goes if the next can't be
            for array, dtype in ARRAYS.items():
                path = stack.enter_context(apart(write.staging, f"{name}.{array}"))
                self.files[array] = _ArrayFile(path, dtype)
                stack.callback(self.files[array].close)
            self._stack = stack.pop_all()

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def append(self, batch: list[Record]) -> None:
        texts = [record.text for record in batch]
        tokens, lengths = self._tokenizer.encode(texts, self._threads)
        rows = np.zeros(len(batch), DOCUMENT)
        rows["start"] = self.files["tokens"].length + np.cumsum(lengths) - lengths
        rows["tokens"] = lengths
        rows["bytes"] = [len(text) for text in texts]
        rows["record"] = [record.number for record in batch]
        self.files["tokens"].append(tokens)
        self.files["documents"].append(rows)

    def close(self) -> None:
        for file in self.files.values():
            file.close()


def path_of(stem: Path, array: str) -> Path:
    """Return the file of one of a shard's arrays."""
    return stem.with_name(f"{stem.name}.{array}.npy")


def _batches(
    records: Iterator[Record], tally: _Tally, documents: int
) -> Iterator[tuple[list[Record], int, bool]]:
    """Yield batches of one shard's documents, with the last record's number and whether there is more."""
    batch: list[Record] = []
    size = number = seen = 0
    more = False
    for record in records:
        number = record.number
        seen += 1
        if record.fault:
            tally.skip(record)
        else:
            tally.add(record)
            batch.append(record)
            size += len(record.text)
        if tally.documents >= documents or tally.text_bytes >= SHARD_BYTES:
            more = True
            break
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_DOCUMENTS or seen >= _BATCH_RECORDS:
            yield batch, number, True
            batch, size, seen = [], 0, 0
    yield batch, number, more


@dataclass(frozen=True)
class Writing:
    """How the shards of a source are written.

    Attributes:
        staging: the directory in which all is made.
        folder: where in it the arrays go.
        entries: where the notes go of shards that are done.
        tokenizer: what makes tokens of documents.
        documents: of a shard, at most.
        strict: refuse the first broken record.
        threads: of the tokenizer.
        tell: is told of more documents and bytes of text.
    """

    staging: Path
    folder: Path
    entries: Path
    tokenizer: Tokenizer
    documents: int
    strict: bool
    threads: int
    tell: Callable[[int, int], None]


def write_shard(
    records: Iterator[Record], name: str, source: str, done: int, limit: int | None, write: Writing
) -> Shard:
    """Write the next shard of a source: documents until it is full, or the source at its end.

    Args:
        records: what is left of the source.
        name: of the shard.
        source: name of the source.
        done: records of the source that earlier shards have.
        limit: documents that may be taken of the source yet; None for all.
        write: where and how.

    Raises:
        ConfigurationError: if a record is broken, and that is to be refused.
    """
    tally = _Tally(source, write.strict)
    most = write.documents if limit is None else min(limit, write.documents)
    more = False
    with _Writer(name, write) as writer:
        for batch, number, more in _batches(records, tally, most):  # noqa: B007  # used below
            if batch:
                writer.append(batch)
            done = max(done, number)
            write.tell(len(batch), sum(len(record.text) for record in batch))
        writer.close()
        shard = Shard(
            name=name,
            source=source,
            documents=tally.documents,
            tokens=writer.files["tokens"].length,
            text_bytes=tally.text_bytes,
            records=done,
            last=not more or tally.documents == limit,
            skipped=dict(tally.skipped),
            named=tally.named,
            sha256=_publish(write.folder / name, writer.files) if tally.documents else {},
            tokenizer=write.tokenizer.sha256,
        )
    write_json(write.entries / f"{name}.json", asdict(shard))
    return shard


def _publish(stem: Path, files: Mapping[str, _ArrayFile]) -> dict[str, str]:
    """Move finished arrays into place; return their digests."""
    for array, file in files.items():
        move_into_place(file.path, path_of(stem, array))
    return {array: sha256_of_file(path_of(stem, array)) for array in files}


def read_shard(write: Writing, name: str) -> Shard | None:
    """Return a shard of an earlier run, if it is there and whole."""
    try:
        shard = Shard(**read_described(write.entries / f"{name}.json", "tokens_shard"))
        whole = all(
            sha256_of_file(path_of(write.folder / name, array)) == shard.sha256[array]
            for array in (ARRAYS if shard.documents else ())
        )
    except (OSError, ValueError):
        return None
    return shard if whole and shard.tokenizer == write.tokenizer.sha256 else None
