"""Documents to shards of tokens, once, before training. Interrupted work resumes.

The directory::

    manifest.json      plan, tokenizer, totals, shards with checksums
    tokenizer.model    the SentencePiece model
    shards/00000.tokens.npy, .documents.npy       see `baselines.lm.token_shards`
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

from baselines.lm.directory import KIND, LAYOUT, TokensDirectory
from baselines.lm.sources import Source
from baselines.lm.token_shards import ARRAYS, TOKENIZER, SourceJob, TokenShard, array_path, write_source
from baselines.lm.tokenizer import Tokenizer
from sraven.core.errors import ConfigurationError
from sraven.core.parallel import check_threads
from sraven.data.engines.call import OnProgress
from sraven.data.engines.jobs import HERE, Engine, map_jobs
from sraven.files.files import write_bytes
from sraven.files.staging import directory_at


@dataclass(frozen=True)
class Preparation:
    """All that determines the tokens of a directory.

    Attributes:
        sources: where the documents come from.
        tokenizer: what makes tokens of them.
    """

    sources: tuple[Source, ...]
    tokenizer: Tokenizer

    @property
    def plan(self) -> dict[str, Any]:
        """The same as JSON; equal plans give equal bytes."""
        return {
            "layout": LAYOUT,
            "sources": [{"name": source.name, "size": source.size} for source in self.sources],
            "tokenizer": self.tokenizer.sha256,
            "sentencepiece": version("sentencepiece"),
        }


def make_manifest(
    plan: Mapping[str, Any], tokenizer: Tokenizer, shards: Sequence[TokenShard], folder: Path
) -> dict[str, Any]:
    """Return the manifest from the shards, in order."""
    kept = ("name", "source", "documents", "tokens", "text_bytes", "sha256")
    return {
        "kind": KIND,
        "layout": LAYOUT,
        "plan": dict(plan),
        "tokenizer": {"file": TOKENIZER, **tokenizer.description},
        "documents": sum(shard.documents for shard in shards),
        "tokens": sum(shard.tokens for shard in shards),
        "text_bytes": sum(shard.text_bytes for shard in shards),
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
        ConfigurationError: for sources without documents.
        OutputError: if the directory can't be used; nothing is created.
        OSError: if reading or writing fails; the same call again goes on from there.
    """
    engine.check_workers("processes", processes)
    directory = TokensDirectory(directory_at(out), preparation.plan, force)

    def work() -> dict[str, Any]:
        """Write tokenizer and shards; return the manifest."""
        staging, tokenizer = directory.staging.absolute(), preparation.tokenizer
        write_bytes(staging / TOKENIZER, tokenizer.model)
        # Processes that have no source of their own help as threads of the tokenizer.
        of, done = len(preparation.sources), count(1)
        threads = max(1, check_threads(processes) // max(1, of)) if engine.is_local else 1
        numbered = enumerate(preparation.sources)
        shards = map_jobs(
            write_source,
            [SourceJob(staging, source, n, tokenizer.sha256, threads) for n, source in numbered],
            on_progress,
            engine=engine,
            local="processes",
            folder=staging,
            workers=processes,
            keep=lambda _: sources(next(done), of),
        )
        manifest = make_manifest(preparation.plan, tokenizer, shards, staging)
        if not manifest["documents"]:
            directory.discard()
            raise ConfigurationError(f"source: no document in {of:,} sources; check them")
        return manifest

    return directory.make(work)
