"""Sources to shards: the tokens of all documents of a source, and a table of them, as plain ``.npy`` files.

``NAME.tokens.npy`` is uint16 [tokens]. ``NAME.documents.npy`` has a row a document, see `DOCUMENT`.
`numpy.load` maps both into memory. An interrupted run keeps the shards that a note says are done and whose
checksums are right.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np

from baselines.lm.sources import Source, read_documents
from baselines.lm.tokenizer import Tokenizer, read_tokenizer
from sraven.data.engines.call import OnProgress
from sraven.files.files import move_into_place, sha256_of_file, write_json
from sraven.files.schemas import read_described
from sraven.files.staging import apart

DOCUMENT = np.dtype([("start", "<i8"), ("tokens", "<i8"), ("bytes", "<i8"), ("record", "<i8")])
"""A document: its first token's place in the shard, its tokens, BOS and EOS included, the bytes of
its text in UTF-8, and its line in the source, from 1."""

SHARDS, ENTRIES, TOKENIZER = "shards", "entries", "tokenizer.model"
"""Shards, the notes of them, and the tokenizer, in the directory in which all is made."""

ARRAYS = {"tokens": np.dtype("<u2"), "documents": DOCUMENT}
"""The arrays of a shard, and their types."""

_BATCH_BYTES, _BATCH_DOCUMENTS = 1 << 17, 256  # in the cache; an interrupt is heard after a batch


@dataclass(frozen=True)
class TokenShard:
    """A shard that is written.

    Attributes:
        name: of its files, without the ends: the number of its source.
        source: name of its source.
        documents: how many; 0 if the source has none, and there are no files.
        tokens: how many, BOS and EOS included.
        text_bytes: of the documents, in UTF-8.
        sha256: of the files, by array.
        tokenizer: its SHA-256.
    """

    name: str
    source: str
    documents: int
    tokens: int
    text_bytes: int
    sha256: dict[str, str]
    tokenizer: str


@dataclass(frozen=True)
class SourceJob:
    """A source to write, in a form that another process takes.

    Attributes:
        staging: the directory in which all is made, with the tokenizer.
        source: where the documents come from.
        number: of the source.
        tokenizer: SHA-256 of the tokenizer.
        threads: of the tokenizer.
    """

    staging: Path
    source: Source
    number: int
    tokenizer: str
    threads: int = 1


def array_path(folder: Path, shard: str, array: str) -> Path:
    """Return the file of one of a shard's arrays, in a directory of tokens or its staging directory."""
    return folder / SHARDS / f"{shard}.{array}.npy"


@lru_cache(maxsize=1)
def _load_tokenizer(path: Path, sha256: str) -> Tokenizer:
    """Return the tokenizer of a file, read once in a process as long as it is the same."""
    return read_tokenizer(path)


def _batches(documents: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the documents of a source some at a time."""
    batch: list[tuple[int, bytes]] = []
    size = 0
    for number, text in documents:
        batch.append((number, text))
        size += len(text)
        if len(batch) >= _BATCH_DOCUMENTS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write_header(file: IO[bytes], length: int) -> None:
    """Write the header of an array of tokens. NumPy leaves room in it for the length to grow."""
    header = {"descr": ARRAYS["tokens"].str, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, header)


def write_source(job: SourceJob, on_progress: OnProgress) -> TokenShard:
    """Return the shard of a source, written if it isn't there yet.

    Args:
        job: the source, and how.
        on_progress: is called with more documents and bytes of text.
    """
    name = f"{job.number:05d}"
    if shard := read_shard(job.staging, name, job.tokenizer):
        return shard
    tokenizer = _load_tokenizer(job.staging / TOKENIZER, job.tokenizer)
    tokens, tables = 0, [np.zeros(0, DOCUMENT)]
    with apart(job.staging, f"{name}.tokens") as token_path, apart(job.staging, f"{name}.documents") as path:
        with open(token_path, "wb") as file:
            _write_header(file, 0)
            for batch in _batches(read_documents(job.source)):
                numbers, texts = zip(*batch, strict=True)
                found, lengths = tokenizer.encode(list(texts), job.threads)
                starts, sizes = tokens + np.cumsum(lengths) - lengths, list(map(len, texts))
                tables.append(np.array([*zip(starts, lengths, sizes, numbers, strict=True)], DOCUMENT))
                file.write(found.astype(ARRAYS["tokens"], copy=False).data)
                tokens += len(found)
                on_progress(len(batch), sum(sizes))
            file.seek(0)
            _write_header(file, tokens)
        table = np.concatenate(tables)
        with open(path, "wb") as file:
            np.save(file, table)
        goals = {array: array_path(job.staging, name, array) for array in ARRAYS}
        if len(table):
            move_into_place(token_path, goals["tokens"])
            move_into_place(path, goals["documents"])
    shard = TokenShard(
        name=name,
        source=job.source.name,
        documents=len(table),
        tokens=tokens,
        text_bytes=int(table["bytes"].sum()),
        sha256={array: sha256_of_file(goal) for array, goal in goals.items()} if len(table) else {},
        tokenizer=job.tokenizer,
    )
    write_json(job.staging / ENTRIES / f"{name}.json", asdict(shard))
    return shard


def read_shard(staging: Path, name: str, tokenizer: str) -> TokenShard | None:
    """Return a shard that is there and whole, of the tokenizer that has some SHA-256; else None."""
    try:
        shard = TokenShard(**read_described(staging / ENTRIES / f"{name}.json", "tokens_shard"))
        whole = all(
            sha256_of_file(array_path(staging, name, array)) == shard.sha256[array]
            for array in (ARRAYS if shard.documents else ())
        )
    except (OSError, ValueError):
        return None
    return shard if whole and shard.tokenizer == tokenizer else None
