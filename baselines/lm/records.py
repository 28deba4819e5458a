"""Sources to records: a document's text each, or what is wrong with it. Nothing read is trusted."""

import gzip
import io
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from baselines.lm import parquet_texts
from baselines.lm.parquet_texts import DISK, END, FRAME, MISSING
from baselines.lm.sources import STREAM, Source, check_plain
from sraven.core.ground.echo import shown
from sraven.core.ground.errors import ConfigurationError

LONGEST = 1 << 24
"""Bytes of a record at most, so that a file without line ends can't fill the memory."""

DENSE_BYTES, DENSE = 1 << 26, 100
"""What a packed file may hold: so many bytes, and so many times its size. Text has 2 to 20 times."""

MOST_SKIPPED = 1 << 20
"""Records without a document that may follow one another."""

MEMORY = 2 << 30
"""Bytes of address space that reading a Parquet file may take."""

EMPTY = "empty"

FAULTS = {
    EMPTY: "an empty document",
    "bad_json": "not valid JSON",
    "no_text": "no field text that is a string",
    "bad_unicode": "not valid UTF-8",
    "too_long": f"longer than {LONGEST:,} bytes",
    "damaged_file": "the file is damaged, cut off, or takes too much memory from here on",
    "too_dense": f"the file unpacks to more than {DENSE} times its size; the rest is left out",
    "no_documents": f"more than {MOST_SKIPPED:,} records in a row have no document; the rest is left out",
}
"""Why a record is skipped. An empty document is no mistake; all else is."""

_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a source.

    Attributes:
        number: its line or row, from 1.
        text: the document, in UTF-8; nothing, if it is skipped.
        fault: a key of `FAULTS` if it is skipped, or else nothing.
    """

    number: int
    text: bytes
    fault: str = ""


class _UnreadableError(Exception):
    """The rest of a file can't be read: its argument is a key of `FAULTS`."""


class _Unpacking:
    """Counts what comes of a packed file, which may be a bomb."""

    def __init__(self, path: str) -> None:
        self._left = DENSE_BYTES + DENSE * os.path.getsize(path)

    def count(self, size: int) -> None:
        """Count bytes.

        Raises:
            _UnreadableError: if they are too many.
        """
        self._left -= size
        if self._left < 0:
            raise _UnreadableError("too_dense")


class _Unpacked(io.RawIOBase):
    """Bytes of a gzip file, up to the very last one before any damage."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._unpacking = _Unpacking(path)
        self._file = gzip.open(path, "rb")  # noqa: SIM115  # closed with this

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise _UnreadableError("damaged_file") from None
        self._unpacking.count(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _open(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return io.BufferedReader(_Unpacked(path), _BUFFER)
    return open(path, "rb", _BUFFER)


def _lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file without their ends; of one that is too long, a byte too much."""
    with _open(source.name) as file:
        while line := file.readline(LONGEST + 1):
            yield line.rstrip(b"\r\n")
            while len(line) > LONGEST and not line.endswith(b"\n"):
                line = file.readline(LONGEST + 1)


def _rows(source: Source) -> Iterator[bytes | None]:
    """Yield the column ``text`` of a Parquet file, read by another process."""
    limits = str(LONGEST), str(MEMORY)
    command = sys.executable, "-I", str(parquet_texts.__file__), os.path.abspath(source.name), *limits
    with subprocess.Popen(  # noqa: S603  # our own script
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # else an interrupt would end it first, as damage does
    ) as process:
        assert process.stdout is not None
        try:
            header = process.stdout.readline(1 << 16)
            if found := json.loads(header or b"{}").get("columns"):
                raise ConfigurationError(
                    f"{source.name}: expected one column text of strings; it has {shown(found, 1000)}"
                )
            yield from _frames(source, process.stdout)
        finally:
            process.kill()


def _frames(source: Source, file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield what the frames of `baselines.lm.parquet_texts` have."""
    unpacking = _Unpacking(source.name)
    while len(frame := file.read(FRAME.size)) == FRAME.size:
        (size,) = FRAME.unpack(frame)
        if size == END:
            return
        if size <= DISK:
            raise OSError(DISK - size, os.strerror(DISK - size), source.name)
        unpacking.count(FRAME.size + max(0, size))
        text = None if size == MISSING else file.read(size)
        if text is not None and len(text) < size:
            break
        yield text
    raise _UnreadableError("damaged_file")


def _streamed(source: Source) -> Iterator[Any]:
    """Yield the field ``text`` of the rows of one file of a streamed dataset."""
    assert source.stream is not None
    whole = source.stream.open()
    for row in whole.shard(num_shards=source.stream.count, index=source.stream.index):
        if "text" not in row:
            raise ConfigurationError(f"{source.name}: expected a column text; it has {', '.join(row)}")
        yield row["text"]


def _parse_json(line: bytes) -> str | None:
    if not line.strip():
        return ""
    value = json.loads(line.decode())
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else None


def _parse_value(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str) else None


@dataclass(frozen=True)
class _Kind:
    """How records are read from a source, and a text from a record."""

    read: Callable[[Source], Iterator[Any]]
    parse: Callable[[Any], str | None]


KINDS = {
    "json": _Kind(_lines, _parse_json),
    "text": _Kind(_lines, _parse_value),
    "parquet": _Kind(_rows, _parse_value),
    STREAM: _Kind(_streamed, _parse_value),
}
"""The readers, by kind of source."""


def _make_record(number: int, raw: Any, parse: Callable[[Any], str | None]) -> Record:
    if isinstance(raw, bytes) and len(raw) > LONGEST:
        return Record(number, b"", "too_long")
    try:
        text = parse(raw)
        if text is None:
            return Record(number, b"", "no_text")
        if not text.strip():
            return Record(number, b"", EMPTY)
        data = text.encode()
        return Record(number, data) if len(data) <= LONGEST else Record(number, b"", "too_long")
    except UnicodeError:  # half a pair of surrogates in JSON too
        return Record(number, b"", "bad_unicode")
    except (ValueError, RecursionError):
        return Record(number, b"", "bad_json")


def read_records(source: Source, skip: int = 0) -> Iterator[Record]:
    """Yield the records of a source.

    Args:
        source: what to read.
        skip: records to leave out at its beginning.

    Raises:
        ConfigurationError: if it has no column ``text``.
        OSError: if the disk or the network fails.
    """
    kind, number, skipped = KINDS[source.kind], skip, 0
    if source.stream is None:
        check_plain(source.name)
    try:
        for number, raw in enumerate(islice(kind.read(source), skip, None), skip + 1):
            record = _make_record(number, raw, kind.parse)
            skipped = skipped + 1 if record.fault else 0
            if skipped > MOST_SKIPPED:
                yield Record(number, b"", "no_documents")
                return
            yield record
    except _UnreadableError as error:
        yield Record(number + 1, b"", str(error))
