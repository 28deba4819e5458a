"""Documents to shards of tokens, once, before training. Interrupted work resumes.

The directory::

    manifest.json      plan, tokenizer, totals, skipped records, shards with checksums
    tokenizer.model    the SentencePiece model
    shards/00000-00000.tokens.npy, .documents.npy       see `baselines.lm.shards`
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from baselines.lm.directory import (
    ENTRIES,
    KIND,
    LAYOUT,
    SHARDS,
    TOKENIZER,
    TokensDirectory,
    read_manifest,
)
from baselines.lm.pool import Tell, map_jobs
from baselines.lm.records import EMPTY, FAULTS, read_records
from baselines.lm.shards import ARRAYS, NAMED, Shard, Writing, path_of, read_shard, write_shard
from baselines.lm.sources import Source
from baselines.lm.tokenizer import MOST_PIECES, Tokenizer, first_texts, read_tokenizer, train_tokenizer
from sraven.core.compute.parallel import check_threads
from sraven.core.ground.arguments import check_integer
from sraven.core.ground.errors import ConfigurationError, OutputError
from sraven.core.system.files import write_bytes, write_json
from sraven.core.system.staging import MANIFEST

MOST_DOCUMENTS = 1 << 40


@dataclass(frozen=True)
class Training:
    """How to train a tokenizer on the corpus.

    Attributes:
        vocab_size: pieces of the tokenizer.
        documents: the first documents of the sources, which it is trained on.
    """

    vocab_size: int = 32_000
    documents: int = 100_000

    def __post_init__(self) -> None:
        check_integer("vocab_size", self.vocab_size, 1, MOST_PIECES, "tokens are stored in 16 bits")
        check_integer("train_documents", self.documents, 1, MOST_DOCUMENTS)


@dataclass(frozen=True)
class Preparation:
    """All that determines the tokens of a directory.

    Attributes:
        sources: where the documents come from.
        tokenizer: a tokenizer, or how to train one.
        limit: documents to take at most, the first ones; None for all.
        shard_documents: documents of a shard, at most.
    """

    sources: tuple[Source, ...]
    tokenizer: Tokenizer | Training
    limit: int | None = None
    shard_documents: int = 500_000

    def __post_init__(self) -> None:
        if self.limit is not None:
            check_integer("limit", self.limit, 1, MOST_DOCUMENTS)
        check_integer("shard_documents", self.shard_documents, 1, MOST_DOCUMENTS)

    @property
    def plan(self) -> dict[str, Any]:
        """The same as JSON; equal plans give equal bytes."""
        given = self.tokenizer
        return {
            "layout": LAYOUT,
            "sources": [source.identity for source in self.sources],
            "tokenizer": asdict(given) if isinstance(given, Training) else given.sha256,
            "limit": self.limit,
            "shard_documents": self.shard_documents,
            "sentencepiece": version("sentencepiece"),
        }


@dataclass(frozen=True)
class _Job:
    """A source to work on, in a form that another process takes."""

    source: Source
    index: int
    staging: Path
    tokenizer: str
    documents: int
    limit: int | None
    strict: bool
    threads: int


@lru_cache(maxsize=1)
def _load_tokenizer(path: Path, sha256: str) -> Tokenizer:
    """Return the tokenizer of a file, read once in a process as long as it is the same."""
    return read_tokenizer(path)


def _prepare_source(job: _Job, tell: Tell) -> list[Shard]:
    """Write the shards of a source that aren't there yet; return all of them."""
    write = Writing(
        folder=job.staging / SHARDS,
        entries=job.staging / ENTRIES,
        tokenizer=_load_tokenizer(job.staging / TOKENIZER, job.tokenizer),
        documents=job.documents,
        strict=job.strict,
        threads=job.threads,
        tell=tell,
    )
    shards: list[Shard] = []

    def name() -> str:
        return f"{job.index:05d}-{len(shards):05d}"

    def finished() -> bool:
        return bool(shards) and shards[-1].last

    while not finished() and (kept := read_shard(write, name())):
        shards.append(kept)
    done = shards[-1].records if shards else 0
    records = read_records(job.source, done)
    while not finished():
        left = None if job.limit is None else job.limit - sum(shard.documents for shard in shards)
        shards.append(write_shard(records, name(), job.source.name, done, left, write))
        done = shards[-1].records
    return shards


def _prepare_sources(
    preparation: Preparation, sha256: str, staging: Path, processes: int, strict: bool, tell: Tell
) -> list[Shard]:
    """Return the shards of all sources, in order."""
    limit, sources = preparation.limit, preparation.sources
    # Processes that have no source of their own help as threads of the tokenizer.
    threads = processes if limit else max(1, processes // len(sources))
    jobs = [
        _Job(source, index, staging, sha256, preparation.shard_documents, limit, strict, threads)
        for index, source in enumerate(sources)
    ]
    if limit is None:
        return [shard for shards in map_jobs(_prepare_source, jobs, processes, tell) for shard in shards]
    shards: list[Shard] = []
    for job in jobs:  # one after the other: how many are left depends on those before
        left = limit - sum(shard.documents for shard in shards)
        if left:
            shards += _prepare_source(replace(job, limit=left), tell)
    return shards


def _tokenizer(preparation: Preparation, staging: Path) -> Tokenizer:
    """Return the tokenizer, trained if need be, and leave its file in the staging directory."""
    path = staging / TOKENIZER
    given = preparation.tokenizer
    if path.is_file():  # of the run that is resumed
        return read_tokenizer(path)
    if isinstance(given, Training):
        given = train_tokenizer(first_texts(preparation.sources, given.documents), given.vocab_size)
    write_bytes(path, given.model)
    return given


def _make_manifest(
    preparation: Preparation, tokenizer: Tokenizer, shards: Sequence[Shard], folder: Path
) -> dict[str, Any]:
    """Return the manifest from the shards, in order."""
    skipped: Counter[str] = Counter()
    for shard in shards:
        skipped.update(shard.skipped)
    kept = ("name", "source", "documents", "tokens", "text_bytes", "sha256")
    return {
        "kind": KIND,
        "layout": LAYOUT,
        "plan": preparation.plan,
        "tokenizer": {"file": TOKENIZER, **tokenizer.description},
        "documents": sum(shard.documents for shard in shards),
        "tokens": sum(shard.tokens for shard in shards),
        "text_bytes": sum(shard.text_bytes for shard in shards),
        "skipped": {fault: skipped[fault] for fault in FAULTS if skipped[fault]},
        "first_skipped": [each for shard in shards for each in shard.named][:NAMED],
        "shards": [
            {
                **{key: getattr(shard, key) for key in kept},
                "file_bytes": {each: path_of(folder / shard.name, each).stat().st_size for each in ARRAYS},
            }
            for shard in shards
            if shard.documents
        ],
    }


def _refuse_broken(skipped: dict[str, int], named: Sequence[str]) -> None:
    """Refuse records that were skipped before anybody asked for strictness."""
    if broken := sum(count for fault, count in skipped.items() if fault != EMPTY):
        raise ConfigurationError(
            f"{named[0]}; {broken:,} broken in all: mend or remove them, or leave out --strict to skip them"
        )


def prepare(
    preparation: Preparation,
    out: str | os.PathLike[str],
    *,
    processes: int | None = None,
    strict: bool = False,
    force: bool = False,
    tell: Tell = lambda documents, size: None,
) -> dict[str, Any]:
    """Write a directory of tokens; resume if it was begun.

    The bytes don't depend on the number of processes, nor on interruptions.

    Args:
        preparation: what to write.
        out: the directory. It may be absent, empty, or hold these very tokens, finished or not.
        processes: how many work at a time; None for one per available processor.
        strict: refuse the first broken record; whole shards before it are kept.
        force: replace other tokens.
        tell: is told of documents and bytes of text as they are done.

    Returns:
        The manifest. If the same tokens are there already, nothing is written.

    Raises:
        ConfigurationError: for sources without documents, a tokenizer that can't be trained, or a
            broken record that is to be refused.
        OutputError: if the directory can't be used; nothing is created.
        OSError: if reading or writing fails; the same call again goes on from there.
    """
    processes = check_threads(processes)
    try:
        path = Path(out).expanduser()
    except RuntimeError as error:
        raise OutputError(f"{out}: {error}; choose another directory") from None
    directory = TokensDirectory(path, preparation.plan, force)
    lock = directory.open()
    if lock is not None:
        with lock:
            staging = directory.staging
            if not (staging / MANIFEST).exists():
                manifest = _prepare_all(preparation, directory, processes, strict, tell)
                write_json(staging / MANIFEST, manifest)
            directory.publish()
    manifest = read_manifest(path)
    if strict:
        _refuse_broken(manifest["skipped"], manifest["first_skipped"])
    return manifest


def _prepare_all(
    preparation: Preparation, directory: TokensDirectory, processes: int, strict: bool, tell: Tell
) -> dict[str, Any]:
    """Write tokenizer and shards; return the manifest."""
    staging = directory.staging
    try:
        tokenizer = _tokenizer(preparation, staging)
    except ConfigurationError:
        directory.discard()
        raise
    shards = _prepare_sources(preparation, tokenizer.sha256, staging, processes, strict, tell)
    manifest = _make_manifest(preparation, tokenizer, shards, staging / SHARDS)
    if strict:
        _refuse_broken(manifest["skipped"], manifest["first_skipped"])
    if not manifest["documents"]:
        directory.discard()
        first = "".join(f"; {each}" for each in manifest["first_skipped"][:1])
        raise ConfigurationError(
            f"source: no document in {len(preparation.sources):,} sources{first}; check them"
        )
    return manifest
