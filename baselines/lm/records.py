"""Sources to records: a document's text each, or what is wrong with it. Nothing read is trusted."""

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from baselines.lm.sources import Source, check_plain

LONGEST = 1 << 24
"""Bytes of a record at most, so that a file without line ends can't fill the memory."""

DENSE_BYTES, DENSE = 1 << 26, 100
"""What a packed file may hold: so many bytes, and so many times its size. Text has 2 to 20 times."""

MOST_SKIPPED = 1 << 20
"""Records without a document that may follow one another."""

EMPTY = "empty"

FAULTS = {
    EMPTY: "an empty document",
    "bad_json": "not valid JSON",
    "no_text": "no field text that is a string",
    "bad_unicode": "not valid UTF-8",
    "too_long": f"longer than {LONGEST:,} bytes",
    "damaged_file": "the file is damaged or cut off from here on",
    "too_dense": f"the file unpacks to more than {DENSE} times its size; the rest is left out",
    "no_documents": f"more than {MOST_SKIPPED:,} records in a row have no document; the rest is left out",
}
"""Why a record is skipped. An empty document is no mistake; all else is."""

_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record of a source.

    Attributes:
        number: its line, from 1.
        text: the document, in UTF-8; nothing, if it is skipped.
        fault: a key of `FAULTS` if it is skipped, or else nothing.
    """

    number: int
    text: bytes
    fault: str = ""


class _UnreadableError(Exception):
    """The rest of a file can't be read: its argument is a key of `FAULTS`."""


def _most_bytes(path: str) -> int:
    """Return how many bytes may come of a packed file, which may be a bomb."""
    return DENSE_BYTES + DENSE * os.path.getsize(path)


def _lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file without their ends; of one that is too long, a byte too much."""
    is_packed = source.path.lower().endswith(".gz")
    most = _most_bytes(source.path)
    with gzip.open(source.path) if is_packed else open(source.path, "rb", _BUFFER) as file:
        try:
            goes_on = False
            while line := file.readline(LONGEST + 1):
                if is_packed and file.tell() > most:
                    raise _UnreadableError("too_dense")
                if not goes_on:
                    yield line.rstrip(b"\r\n")
                goes_on = len(line) > LONGEST and not line.endswith(b"\n")
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise _UnreadableError("damaged_file") from None


def _parse_json(line: bytes) -> str | None:
    if not line.strip():
        return ""
    value = json.loads(line.decode())
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else None


PARSERS: dict[str, Callable[[bytes], str | None]] = {"json": _parse_json, "text": bytes.decode}
"""What makes a text of a line, by kind of source."""


def _make_record(number: int, line: bytes, kind: str) -> SourceRecord:
    if len(line) > LONGEST:
        return SourceRecord(number, b"", "too_long")
    try:
        text = PARSERS[kind](line)
        if text is None:
            return SourceRecord(number, b"", "no_text")
        if not text.strip():
            return SourceRecord(number, b"", EMPTY)
        data = text.encode()
        return SourceRecord(number, data) if len(data) <= LONGEST else SourceRecord(number, b"", "too_long")
    except UnicodeError:  # half a pair of surrogates in JSON too
        return SourceRecord(number, b"", "bad_unicode")
    except (ValueError, RecursionError):
        return SourceRecord(number, b"", "bad_json")


def read_source(source: Source) -> Iterator[SourceRecord]:
    """Yield the records of a source.

    Raises:
        ConfigurationError: if it is no plain file any more.
        OSError: if the disk fails.
    """
    number = skipped = 0
    check_plain(source.path, source.name)
    try:
        for number, line in enumerate(_lines(source), 1):
            record = _make_record(number, line, source.kind)
            skipped = skipped + 1 if record.fault else 0
            if skipped > MOST_SKIPPED:
                yield SourceRecord(number, b"", "no_documents")
                return
            yield record
    except _UnreadableError as error:
        yield SourceRecord(number + 1, b"", str(error))
