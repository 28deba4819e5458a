"""Documents to shards of tokens, once, before training. Interrupted work resumes.

The directory::

    manifest.json      plan, tokenizer, totals, skipped records, shards with checksums
    tokenizer.model    the SentencePiece model
    shards/00000-00000.tokens.npy, .documents.npy       see `baselines.lm.shards`
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import Any

from baselines.lm.directory import KIND, LAYOUT, TokensDirectory
from baselines.lm.records import FAULTS
from baselines.lm.shards import ARRAYS, NAMED, TOKENIZER, SourceJob, TokenShard, array_path, write_source
from baselines.lm.sources import Source
from baselines.lm.tokenizer import Tokenizer
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.parallel import check_threads
from sraven.core.system.files import write_bytes
from sraven.core.system.staging import directory_at
from sraven.data.engines.call import OnProgress
from sraven.data.engines.jobs import HERE, Engine, map_jobs

MOST_DOCUMENTS = 1 << 40


@dataclass(frozen=True)
class Preparation:
    """All that determines the tokens of a directory.

    Attributes:
        sources: where the documents come from.
        tokenizer: what makes tokens of them.
        limit: documents to take at most, the first ones; None for all.
        shard_documents: documents of a shard, at most.
    """

    sources: tuple[Source, ...]
    tokenizer: Tokenizer
    limit: int | None = None
    shard_documents: int = 500_000

    def __post_init__(self) -> None:
        if self.limit is not None:
            check_integer("limit", self.limit, 1, MOST_DOCUMENTS)
        check_integer("shard_documents", self.shard_documents, 1, MOST_DOCUMENTS)

    @property
    def plan(self) -> dict[str, Any]:
        """The same as JSON; equal plans give equal bytes."""
        return {
            "layout": LAYOUT,
            "sources": [{"name": source.name, "size": source.size} for source in self.sources],
            "tokenizer": self.tokenizer.sha256,
            "limit": self.limit,
            "shard_documents": self.shard_documents,
            "sentencepiece": version("sentencepiece"),
        }


def make_manifest(
    plan: Mapping[str, Any], tokenizer: Tokenizer, shards: Sequence[TokenShard], folder: Path
) -> dict[str, Any]:
    """Return the manifest from the shards, in order."""
    skipped = sum((Counter(shard.skipped) for shard in shards), Counter[str]())
    kept = ("name", "source", "documents", "tokens", "text_bytes", "sha256")
    return {
        "kind": KIND,
        "layout": LAYOUT,
        "plan": dict(plan),
        "tokenizer": {"file": TOKENIZER, **tokenizer.description},
        "documents": sum(shard.documents for shard in shards),
        "tokens": sum(shard.tokens for shard in shards),
        "text_bytes": sum(shard.text_bytes for shard in shards),
        "skipped": {fault: skipped[fault] for fault in FAULTS if skipped[fault]},
        "first_skipped": [each for shard in shards for each in shard.named][:NAMED],
        "shards": [
            {
                **{key: getattr(shard, key) for key in kept},
                "file_bytes": {each: array_path(folder, shard.name, each).stat().st_size for each in ARRAYS},
            }
            for shard in shards
            if shard.documents
        ],
    }


def prepare(
    preparation: Preparation,
    out: str | os.PathLike[str],
    *,
    processes: int | None = None,
    force: bool = False,
    on_progress: OnProgress = lambda documents, size: None,
    sources: Callable[[int, int], None] = lambda done, of: None,
    engine: Engine = HERE,
) -> dict[str, Any]:
    """Write a directory of tokens; resume if it was begun.

    The bytes don't depend on the engine, the number of processes, nor on interruptions.

    Args:
        preparation: what to write.
        out: the directory. It may be absent, empty, or hold these very tokens, finished or not.
        processes: how many work at a time; None for one per available processor.
        force: replace other tokens.
        on_progress: is called with documents and bytes of text as they are done.
        sources: is called with finished sources, and how many there are.
        engine: what works on the sources; see `sraven.data.engines.jobs`.

    Returns:
        The manifest. If the same tokens are there already, nothing is written.

    Raises:
        ConfigurationError: for sources without documents, or what can't be shared out.
        OutputError: if the directory can't be used; nothing is created.
        OSError: if reading or writing fails; the same call again goes on from there.
    """
    engine.check_workers("processes", processes)
    if preparation.limit is not None and not engine.is_local:
        raise ConfigurationError(
            f"limit={preparation.limit:,}: the first documents are read one source after the other, and "
            "nothing can be shared out; leave out the limit or the engine"
        )
    directory = TokensDirectory(directory_at(out), preparation.plan, force)

    def work() -> dict[str, Any]:
        """Write tokenizer and shards; return the manifest."""
        staging, tokenizer = directory.staging.absolute(), preparation.tokenizer
        write_bytes(staging / TOKENIZER, tokenizer.model)
        jobs = [
            SourceJob(staging, source, number, tokenizer.sha256, preparation.shard_documents)
            for number, source in enumerate(preparation.sources)
        ]
        shards = _write_sources(jobs, preparation.limit, processes, on_progress, sources, engine)
        manifest = make_manifest(preparation.plan, tokenizer, shards, staging)
        if not manifest["documents"]:
            directory.discard()
            first = "".join(f"; {each}" for each in manifest["first_skipped"][:1])
            raise ConfigurationError(
                f"source: no document in {len(preparation.sources):,} sources{first}; check them"
            )
        return manifest

    return directory.make(work)


def _write_sources(
    jobs: list[SourceJob],
    limit: int | None,
    processes: int | None,
    on_progress: OnProgress,
    sources: Callable[[int, int], None],
    engine: Engine,
) -> list[TokenShard]:
    """Write those shards of sources that aren't there yet; return all of them, in order."""
    # Processes that have no source of their own help as threads of the tokenizer.
    at_a_time = 1 if limit else max(1, len(jobs))
    threads = max(1, check_threads(processes) // at_a_time) if engine.is_local else 1
    jobs = [replace(job, threads=threads) for job in jobs]
    if limit is None:
        done = count(1)
        found = map_jobs(
            write_source,
            jobs,
            on_progress,
            engine=engine,
            local="processes",
            folder=jobs[0].staging if jobs else Path(),
            workers=processes,
            keep=lambda _: sources(next(done), len(jobs)),
        )
        return list(chain.from_iterable(found))
    shards: list[TokenShard] = []
    for job in jobs:  # one after the other: how many are left depends on those before
        if left := limit - sum(shard.documents for shard in shards):
            shards += write_source(replace(job, limit=left), on_progress)
    return shards
