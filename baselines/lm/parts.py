"""Tokens in parts: for a job array, whose jobs know nothing of each other, and one merge at the end.

A part has some of the sources, every so many-th, and is the unfinished directory of the whole, so that it is
resumed like any other. The tokenizer is a file: one that each part would train might come out otherwise on
another machine. Merging puts the shards of all parts into one directory, with the bytes of the whole.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.lm.directory import (
    ENTRIES,
    PLAN,
    SHARDS,
    TOKENIZER,
    TokensDirectory,
    differences,
    read_manifest,
)
from baselines.lm.preparation import Preparation, Training
from baselines.lm.prepare import directory_at, make_manifest, refuse_broken, refuse_empty, take_tokenizer
from baselines.lm.shards import ARRAYS, Shard, path_of
from baselines.lm.source_shards import Running, name_of, write_sources
from baselines.lm.tokenizer import read_tokenizer
from sraven.core.dataset.parts import Part
from sraven.core.engines.call import Tell
from sraven.core.engines.jobs import HERE, Engine
from sraven.core.ground.echo import shown
from sraven.core.ground.errors import ConfigurationError, OutputError
from sraven.core.system.files import read_bounded, sha256_of_file, write_bytes, write_json
from sraven.core.system.staging import MANIFEST, STAGING, Plan, take_file
from sraven.core.untrusted.schemas import read_described

_NAMED = 3
"""Sources that an error names; it counts the others."""


def prepare_part(
    preparation: Preparation,
    out: str | os.PathLike[str],
    part: Part,
    *,
    processes: int | None = None,
    strict: bool = False,
    force: bool = False,
    tell: Tell = lambda documents, size: None,
    sources: Callable[[int, int], None] = lambda done, of: None,
    engine: Engine = HERE,
) -> list[Shard]:
    """Write the shards of a part of the sources; resume if it was begun.

    Args:
        preparation: of the whole, with a tokenizer and without a limit.
        out: the part's own directory; as for `baselines.lm.prepare.prepare`.
        part: which.
        processes: as there.
        strict: as there.
        force: as there.
        tell: as there.
        sources: is told of finished sources of the part, and how many it has.
        engine: as there.

    Returns:
        the shards of the part, all of which are there. There are none if there are more parts than sources.

    Raises:
        ConfigurationError: for a limit or a tokenizer to train, or a broken record that is to be refused.
        OutputError: if the directory can't be used, or holds the whole.
        OSError: if reading or writing fails; the same call again goes on from there.
    """
    running = Running(engine, processes, strict, tell, sources)
    if preparation.limit is not None:
        raise ConfigurationError(
            f"limit={preparation.limit:,}: the first documents may be in one source or in many, which no "
            "part can know; leave out the limit or the part"
        )
    if isinstance(preparation.tokenizer, Training):
        raise ConfigurationError(
            "tokenizer=train: all parts need the same one; train it first (--tokenizer train --limit 1), and "
            f"give its {TOKENIZER}"
        )
    directory = TokensDirectory(directory_at(out), preparation.plan, force)
    lock = directory.open()
    if lock is None:
        raise OutputError(f"{out} holds the whole already; choose another directory for a part")
    with lock:
        numbers = part.choose(range(len(preparation.sources)))
        sha256 = take_tokenizer(preparation, directory.staging).sha256
        shards = write_sources(preparation, numbers, sha256, directory.staging, running)
    if strict:
        for shard in shards:
            refuse_broken(shard.skipped, shard.named)
    return shards


@dataclass(frozen=True)
class _Source:
    """A shard of a part: its directory, and what is noted of it."""

    folder: Path
    shard: Shard


def merge_tokens(
    folders: Sequence[Path],
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    tell: Tell = lambda documents, size: None,
) -> dict[str, Any]:
    """Make one directory of tokens of its parts; resume if it was begun. The parts stay as they are.

    Args:
        folders: the directories of the parts, in any order.
        out: the directory.
        force: replace other tokens.
        tell: is told of documents and bytes of text.

    Returns:
        the manifest.

    Raises:
        OutputError: if a directory holds no part, one of other tokens, or a source that another has as well;
            if sources are missing or shards damaged; if the directory can't be used. Nothing is published.
        OSError: if writing fails; the same call again goes on from there.
    """
    plan, found = _read_parts(folders)
    _refuse_missing(plan, found)
    directory = TokensDirectory(directory_at(out), plan, force)
    lock = directory.open()
    if lock is not None:
        with lock:
            staging = directory.staging
            if not (staging / MANIFEST).exists():
                origin = folders[0] / STAGING / TOKENIZER
                tokenizer = read_tokenizer(origin)
                write_bytes(staging / TOKENIZER, tokenizer.model)
                for name in sorted(found):
                    _take(found[name], staging)
                    tell(found[name].shard.documents, found[name].shard.text_bytes)
                shards = [found[name].shard for name in sorted(found)]
                manifest = make_manifest(plan, tokenizer, shards, staging / SHARDS)
                refuse_empty(manifest, len(plan["sources"]))
                write_json(staging / MANIFEST, manifest)
            directory.publish()
    return read_manifest(directory.out)


def _read_parts(folders: Sequence[Path]) -> tuple[dict[str, Any], dict[str, _Source]]:
    """Return the plan that all parts share, and who has which shard."""
    if not folders:
        raise OutputError("there are no parts; name their directories")
    plan: dict[str, Any] | None = None
    found: dict[str, _Source] = {}
    for folder in folders:
        begun = _read_plan(folder)
        if plan is None:
            plan = begun
        elif different := differences(plan, begun):
            raise OutputError(
                f"{folder} is part of other tokens than {folders[0]} ({', '.join(different)} differ)"
            )
        for shard in _read_shards(folder, plan):
            if shard.name in found:
                raise OutputError(
                    f"{shard.name} is in {found[shard.name].folder} and in {folder}; leave out one of them"
                )
            found[shard.name] = _Source(folder, shard)
    assert plan is not None
    return plan, found


def _read_plan(folder: Path) -> dict[str, Any]:
    """Return the plan of a part.

    Raises:
        OutputError: if it is none.
    """
    try:
        plan = json.loads(read_bounded(folder / STAGING / PLAN))
        names = [str(source["name"]) for source in plan["sources"]]
        if names and isinstance(plan["tokenizer"], str) and "limit" in plan:
            return dict(plan)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    held = "whole tokens" if (folder / MANIFEST).is_file() else "no part of tokens"
    raise OutputError(f"{folder} holds {held}; `sraven c4 prepare --part 1/64 --out DIR` makes a part")


def _read_shards(folder: Path, plan: Plan) -> list[Shard]:
    """Return what a part has noted of its shards.

    Raises:
        OutputError: if a note can't be read, or is of another tokenizer.
    """
    shards = []
    for path in sorted((folder / STAGING / ENTRIES).glob("*.json")):
        try:
            shard = Shard(**read_described(path, "tokens_shard"))
        except (OSError, ValueError):
            shard = None
        if shard is None or shard.name != path.stem or shard.tokenizer != plan["tokenizer"]:
            raise OutputError(
                f"{path} isn't what `sraven c4 prepare --part` wrote; remove it, and run that again"
            )
        shards.append(shard)
    return shards


def _refuse_missing(plan: Plan, found: dict[str, _Source]) -> None:
    """Refuse sources that are in no part, or in one that didn't finish them."""
    names = [str(source["name"]) for source in plan["sources"]]
    missing = [name for number, name in enumerate(names) if not _is_whole(number, found)]
    if missing:
        named = ", ".join(map(shown, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        raise OutputError(
            f"{len(missing):,} of {len(names):,} sources are in none of these parts ({named}); "
            "name the other parts, or finish them"
        )


def _is_whole(source: int, found: dict[str, _Source]) -> bool:
    """Tell whether all shards of a source are there."""
    number = 0
    while (each := found.get(name_of(source, number))) and not each.shard.last:
        number += 1
    return each is not None


def _take(source: _Source, staging: Path) -> None:
    """Put a part's shard into the staging directory, as second names of the files where that can be."""
    name = source.shard.name
    for array in ARRAYS if source.shard.documents else ():
        origin, goal = (
            path_of(folder / SHARDS / name, array) for folder in (source.folder / STAGING, staging)
        )
        wanted = source.shard.sha256.get(array)
        if goal.is_file() and sha256_of_file(goal) == wanted:
            continue
        if not origin.is_file() or origin.is_symlink() or sha256_of_file(origin) != wanted:
            raise OutputError(
                f"{origin} is missing or damaged; the same `sraven c4 prepare --part` again mends it"
            )
        take_file(origin, goal, staging)
