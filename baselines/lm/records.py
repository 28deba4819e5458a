"""Sources to records: a document's text each, or what is wrong with it. Nothing read is trusted."""

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from baselines.lm.sources import STREAM, Source
from sraven.core.errors import ConfigurationError

LONGEST = 1 << 24
"""Bytes of a record at most, so that a file without line ends can't fill the memory."""

EMPTY = "empty"

FAULTS = {
    EMPTY: "an empty document",
    "bad_json": "not valid JSON",
    "no_text": "no field text that is a string",
    "bad_unicode": "not valid UTF-8",
    "too_long": f"longer than {LONGEST:,} bytes",
    "damaged_file": "the file is damaged or cut off from here on",
}
"""Why a record is skipped. An empty document is no mistake; all else is."""

_BUFFER = 1 << 20
_ROWS = 1000


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


class _DamagedError(Exception):
    """The rest of a file can't be read."""


class _Unpacked(io.RawIOBase):
    """Bytes of a gzip file, up to the very last one before any damage."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._file = gzip.open(path, "rb")  # noqa: SIM115  # closed with this

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise _DamagedError from None
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
    """Yield the column ``text`` of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source.name) as file:
            schema = file.schema_arrow
            kind = schema.field("text").type if schema.names.count("text") == 1 else None
            if kind not in (pa.string(), pa.large_string()):
                columns = ", ".join(f"{field.name} ({field.type})" for field in schema)
                raise ConfigurationError(
                    f"{source.name}: expected one column text of strings; it has {columns or 'none'}"
                )
            for batch in file.iter_batches(_ROWS, columns=["text"], use_threads=False):
                # As bytes: what says it is UTF-8 may not be.
                yield from batch.column(0).cast(pa.large_binary()).to_pylist()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault, not the file's
        raise _DamagedError from None


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
    kind, number = KINDS[source.kind], skip
    try:
        for number, raw in enumerate(islice(kind.read(source), skip, None), skip + 1):
            yield _make_record(number, raw, kind.parse)
    except _DamagedError:
        yield Record(number + 1, b"", "damaged_file")
