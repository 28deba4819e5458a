"""Checks against a board: its instances by their digests, replies to its questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sraven.board.content import BoardFile
from sraven.core.digests import block_size, digest_split
from sraven.core.errors import BoardError, ConfigurationError
from sraven.core.roles import Task
from sraven.files.decode import MOST_REPLIES, MOST_REPLY


def check_digests(board: BoardFile, task: Task, split: str, instances: int | None, batch: Any) -> None:
    """Generate a split again and compare it with its digests.

    Args:
        board: whose digests cover the split.
        task: the board's.
        split: the split.
        instances: how many to check, rounded up to whole blocks; None for all that are covered.
        batch: all instances of the split, if they are at hand; else None.

    Raises:
        BoardError: if they differ; the message says where.
    """
    entry, size = board.covered[split], block_size(task.columns)
    total, arrays = entry.instances, entry.arrays or {}
    checked = total if instances is None else min(-(-instances // size) * size, total)
    found = digest_split(task, split, checked, batch)
    for number, (here, there) in enumerate(zip(entry.blocks, found["blocks"], strict=False)):
        if here != there:
            last = min((number + 1) * size, total) - 1
            other = [name for name, value in found["arrays"].items() if value != arrays.get(name)]
            raise BoardError(
                f"board {board.id}, split {split}: instances {number * size:,} to {last:,} aren't those "
                f"of the board{' (' + ', '.join(other) + ')' if instances is None else ''}; this "
                "installation would score against other labels: reinstall sraven"
            )
    if instances is None and (found["arrays"], found["sha256"]) != (arrays, entry.sha256):
        raise BoardError(f"board {board.id}, split {split}: the board's digests contradict each other")


def check_texts(name: str, replies: Any, size: int) -> list[str]:
    """Return replies to all questions of a split as a list of texts that can be submitted.

    Args:
        name: of the replies, for the message.
        replies: texts, in the order of the indices; None for one that there isn't, which is submitted as
            an empty one.
        size: of the split.

    Raises:
        ConfigurationError: for another number of them, or one that isn't a text or is too long.
    """
    if isinstance(replies, str) or not isinstance(replies, Sequence | np.ndarray):
        raise ConfigurationError(f"{name} is a {type(replies).__name__}; expected a list of texts")
    if len(replies) != size:
        raise ConfigurationError(
            f"{name} has {len(replies):,} texts; expected {size:,}, one for each instance"
        )
    texts = ["" if reply is None else reply for reply in replies]
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ConfigurationError(f"{name}: row {row} is a {type(text).__name__}; expected a text or None")
        if fault := reply_fault(text):
            raise ConfigurationError(f"{name}: row {row} {fault}")
    if (total := sum(len(text.encode()) for text in texts)) > MOST_REPLIES:
        raise ConfigurationError(f"{name} has {total:,} bytes; expected {MOST_REPLIES:,} or fewer")
    return texts


def reply_fault(text: str) -> str | None:
    """Return why a text can't be submitted as a reply; None if it can."""
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        return "has half of a surrogate pair, which UTF-8 can't hold"
    if length > MOST_REPLY:
        return f"has {length:,} bytes; expected {MOST_REPLY:,} or fewer: keep the end, where the answer is"
    return None
