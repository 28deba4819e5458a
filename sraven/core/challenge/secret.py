"""What the organiser's secret makes: the instances of a round, and the digests that are published of them."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.errors import ChallengeError
from sraven.core.base.spec import canonical_json, digest
from sraven.core.boards.board import Board
from sraven.core.challenge.files import array_digest, checksum, to_text
from sraven.core.compute.rng import derive_key
from sraven.core.tasks.access import INDEX_LIMIT
from sraven.core.tasks.digests import block_digest
from sraven.core.tasks.families import rows_of
from sraven.core.untrusted.schemas import find_problem

SECRET = "secret.json"  # noqa: S105  # the name of a file


def make_secret() -> bytes:
    """Return a new secret as its file has it: 256 bits that draw the instances, and as many of salt."""
    return to_text({"schema": 1, "secret": secrets.token_hex(32), "salt": secrets.token_hex(32)})


def _secret_indices(stream: str, split: str, count: int) -> NDArray[np.uint64]:
    """Return at which places of its stream the instances of a split lie: uint64 ``[count]``."""
    name = canonical_json({"stream": "challenge indices", "secret": stream, "split": split})
    words = np.frombuffer(hashlib.shake_256(name.encode()).digest(8 * count), "<u8")
    return words.astype(np.uint64) % np.uint64(INDEX_LIMIT)


def draw(board: Board, secret: str, commitments: Sequence[str], threads: int | None = None) -> dict[str, Any]:
    """Return the instances of a round: by split, a batch of the task.

    They are a function of the board, the secret and the commitments, so no committed program can hold
    them. The combinations of each split are the board's own, as its training split needs. Key and indices
    come from the secret, which leaves whoever looks for them 126 bits to guess.
    """
    named = {"board": board.digest, "secret": secret, "commitments": sorted(commitments)}
    stream = digest({"stream": "challenge", **named})
    task: Any = board.task
    secretly = task.with_keys(
        {split: derive_key(stream="challenge", secret=stream, split=split) for split in board.splits}
    )
    return {
        split: secretly.take(split, _secret_indices(stream, split, size), threads=threads)
        for split, size in board.splits.items()
    }


def describe_split(board: Board, batch: Any, salt: str) -> dict[str, Any]:
    """Return what is published of a split: the digests of what is given, and a salted one of everything."""
    rows = rows_of(board.task)
    questions = rows.questions(batch)
    everything = block_digest(batch._asdict(), rows.columns)
    return {
        "instances": len(batch),
        "contexts": {name: array_digest(name, array) for name, array in questions.items()},
        "labels": checksum(f"{salt} {everything}".encode()),
    }


def parse_secret(data: bytes) -> dict[str, str]:
    """Return what a secret says; no error shows any of it."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        content = None
    if find_problem(content, "secret") or to_text(content) != data:
        raise ChallengeError(f"isn't the {SECRET} of a round")
    return dict(content)
