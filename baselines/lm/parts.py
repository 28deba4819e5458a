"""Tokens in parts: for a job array, whose jobs know nothing of each other, and one merge at the end.

A part, which `baselines.lm.prepare.prepare` writes, has some of the sources, every so many-th, and is the
unfinished directory of the whole, so that it is resumed like any other. Merging puts the shards of all parts
into one directory, with the bytes of the whole.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baselines.lm.directory import PLAN, TokensDirectory, differences
from baselines.lm.prepare import make_manifest, refuse_empty
from baselines.lm.shards import ARRAYS, ENTRIES, TOKENIZER, TokenShard, array_path, name_of
from baselines.lm.tokenizer import read_tokenizer
from sraven.core.errors import OutputError
from sraven.core.system.files import read_bounded, sha256_of_file, write_bytes
from sraven.core.system.parts import gather_parts, refuse_missing
from sraven.core.system.staging import MANIFEST, STAGING, Plan, directory_at, take_file
from sraven.core.untrusted.schemas import read_described
from sraven.data.engines.call import OnProgress

PartShards = dict[str, tuple[Path, TokenShard]]
"""Shards by name, each with the directory of its part."""


def merge_tokens(
    folders: Sequence[Path],
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    on_progress: OnProgress = lambda documents, size: None,
) -> dict[str, Any]:
    """Make one directory of tokens of its parts; resume if it was begun. The parts stay as they are.

    Args:
        folders: the directories of the parts, in any order.
        out: the directory.
        force: replace other tokens.
        on_progress: is called with more documents and bytes of text.

    Returns:
        the manifest.

    Raises:
        OutputError: if a directory holds no part, one of other tokens, or a source that another has as well;
            if sources are missing or shards damaged; if the directory can't be used. Nothing is published.
        OSError: if writing fails; the same call again goes on from there.
    """
    plan, found = gather_parts(folders, _read_part, differences, "other tokens")
    _refuse_missing(plan, found)
    directory = TokensDirectory(directory_at(out), plan, force)

    def take_all() -> dict[str, Any]:
        tokenizer = read_tokenizer(folders[0] / STAGING / TOKENIZER)
        write_bytes(directory.staging / TOKENIZER, tokenizer.model)
        shards = []
        for _, (folder, shard) in sorted(found.items()):
            _take(folder, shard, directory.staging)
            on_progress(shard.documents, shard.text_bytes)
            shards.append(shard)
        manifest = make_manifest(plan, tokenizer, shards, directory.staging)
        refuse_empty(manifest)
        return manifest

    return directory.make(take_all)


def _read_part(folder: Path) -> tuple[dict[str, Any], dict[str, TokenShard]]:
    """Return the plan of a part, and its shards by name."""
    plan = _read_plan(folder)
    return plan, {shard.name: shard for shard in _read_shards(folder, plan)}


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


def _read_shards(folder: Path, plan: Plan) -> list[TokenShard]:
    """Return what a part has noted of its shards.

    Raises:
        OutputError: if a note can't be read, or is of another tokenizer.
    """
    shards = []
    for path in sorted((folder / STAGING / ENTRIES).glob("*.json")):
        try:
            shard = TokenShard(**read_described(path, "tokens_shard"))
        except (OSError, ValueError):
            shard = None
        if shard is None or shard.name != path.stem or shard.tokenizer != plan["tokenizer"]:
            raise OutputError(
                f"{path} isn't what `sraven c4 prepare --part` wrote; remove it, and run that again"
            )
        shards.append(shard)
    return shards


def _refuse_missing(plan: Plan, found: PartShards) -> None:
    """Refuse sources that are in no part, or in one that didn't finish them."""
    names = [str(source["name"]) for source in plan["sources"]]
    missing = [name for number, name in enumerate(names) if not _is_whole(number, found)]
    refuse_missing(missing, len(names), "sources")


def _is_whole(source: int, found: PartShards) -> bool:
    """Return whether all shards of a source are there."""
    number = 0
    while (each := found.get(name_of(source, number))) and not each[1].last:
        number += 1
    return each is not None


def _take(folder: Path, shard: TokenShard, staging: Path) -> None:
    """Put a part's shard into the staging directory, as second names of the files where that can be."""
    for array in ARRAYS if shard.documents else ():
        origin, goal = (array_path(each, shard.name, array) for each in (folder / STAGING, staging))
        if goal.is_file() and sha256_of_file(goal) == shard.sha256[array]:
            continue
        if not origin.is_file() or origin.is_symlink() or sha256_of_file(origin) != shard.sha256[array]:
            raise OutputError(
                f"{origin} is missing or damaged; the same `sraven c4 prepare --part` again mends it"
            )
        take_file(origin, goal, staging)
