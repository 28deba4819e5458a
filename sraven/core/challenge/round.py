"""A round: drawn under a secret by the organiser, published without labels, checked by all afterwards."""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.errors import ChallengeError, SubmissionError
from sraven.core.base.escape import escape
from sraven.core.base.spec import canonical_json, digest
from sraven.core.boards.board import Board, load_board, read_board
from sraven.core.challenge.files import (
    MOST_JSON,
    array_digest,
    checksum,
    exact_json,
    new_directory,
    npy_bytes,
    read_exact,
    read_npy,
    write_new,
)
from sraven.core.compute.rng import derive_key
from sraven.core.tasks.access import INDEX_LIMIT
from sraven.core.tasks.digests import block_digest
from sraven.core.tasks.families import generator_of, rows_of
from sraven.core.tasks.task import Arrays
from sraven.core.untrusted.read import list_files, read_file
from sraven.core.untrusted.schemas import find_problem

PUBLIC, PRIVATE, CHALLENGE = "public", "private", "challenge.json"
SECRET = "secret.json"  # noqa: S105  # the name of a file

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MOST_ENTRANTS = 10_000
_MOST_CONTEXTS = 100


@dataclass(frozen=True)
class Challenge:
    """What is published of a round.

    Attributes:
        content: what ``challenge.json`` says.
        digest: its SHA-256, which an answer names.
        board: the board whose task, splits and sizes the round has.
        contexts: by split and by name, what a solver is given: ``context`` uint8 ``[n, 8, M]`` for
            SRAVEN, ``inputs`` float32 ``[n, N, L]`` and ``targets`` float32 ``[n, N - 1]`` for fuzzy
            logic. An instance's index is its place in them.
    """

    content: Mapping[str, Any]
    digest: str
    board: Board
    contexts: Mapping[str, Arrays]


def _secret_indices(stream: str, split: str, count: int) -> NDArray[np.uint64]:
    """Return at which places of its stream the instances of a split lie: uint64 ``[count]``."""
    name = canonical_json({"stream": "challenge indices", "secret": stream, "split": split})
    words = np.frombuffer(hashlib.shake_256(name.encode()).digest(8 * count), "<u8")
    return words.astype(np.uint64) % np.uint64(INDEX_LIMIT)


def draw_round(
    board: Board, secret: str, commitments: Sequence[str], threads: int | None = None
) -> dict[str, Any]:
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
    if find_problem(content, "secret") or exact_json(content) != data:
        raise ChallengeError(f"isn't the {SECRET} of a round")
    return dict(content)


def context_path(split: str, name: str) -> str:
    """Return where an array that is given lies in the public directory."""
    return f"contexts/{split}/{name}.npy"


def _check_commitments(commitments: Iterable[str]) -> list[str]:
    """Return commitments in order.

    Raises:
        ChallengeError: if there is none, or one isn't a digest or is there twice.
    """
    found = list(commitments)
    for number, value in enumerate(found):
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            raise ChallengeError(
                f"the commitment {escape(value)} is no SHA-256; expected 64 hexadecimal digits, as "
                "`sraven challenge commit` prints them"
            )
        if value in found[:number]:
            raise ChallengeError(f"the commitment {value[:12]}… is given twice")
    if not 0 < len(found) <= _MOST_ENTRANTS:
        raise ChallengeError(
            f"{len(found):,} commitments are given; expected 1 to {_MOST_ENTRANTS:,}: entrants commit before "
            "a round is drawn"
        )
    return sorted(found)


def new_challenge(
    board: str,
    out: str | os.PathLike[str],
    commitments: Iterable[str],
    *,
    day: date | None = None,
    threads: int | None = None,
) -> str:
    """Draw a round, and write what is published of it and the secret, whole or not at all.

    Args:
        board: id of the board whose task it has.
        out: a directory that doesn't exist yet; gets ``public`` and ``private``.
        commitments: the digests that entrants have sent.
        day: when it is opened; None for today (UTC).
        threads: threads to use; None for all available ones.

    Returns:
        the digest of the round.

    Raises:
        ChallengeError: for commitments that aren't, or a board of a corpus or of texts.
        ConfigurationError: if there is no such board.
        OutputError: if ``out`` exists.
    """
    entrants = _check_commitments(commitments)
    loaded = load_board(board)
    if loaded.is_corpus:
        raise ChallengeError(f"{loaded.id} is about a text that anyone may have read; no round can hide it")
    if loaded.is_text:
        raise ChallengeError(
            f"{loaded.id} takes replies, and rounds take predictions that are numbers; ask about "
            "instances of a secret seed instead: sraven text generate --seed"
        )
    with new_directory(Path(out)) as folder:
        opened = f"{day or datetime.now(UTC).date()}"
        # 256 bits that draw the instances, and as many of salt.
        secret = exact_json({"schema": 1, "secret": secrets.token_hex(32), "salt": secrets.token_hex(32)})
        return write_round(folder, loaded, secret, entrants, opened, threads)


def write_round(
    folder: Path,
    board: Board,
    secret: bytes,
    entrants: Sequence[str],
    opened: str,
    threads: int | None = None,
) -> str:
    """Write both directories of a round, given its secret; return its digest."""
    (folder / PRIVATE).mkdir(mode=0o700)
    (folder / PRIVATE).chmod(0o700)
    write_new(folder / PRIVATE / SECRET, secret, 0o600)
    write_new(folder / PRIVATE / ".gitignore", b"*\n", 0o600)
    known = parse_secret(secret)
    batches = draw_round(board, known["secret"], entrants, threads)
    (folder / PUBLIC).mkdir()
    for split, batch in batches.items():
        for name, array in rows_of(board.task).questions(batch).items():
            path = folder / PUBLIC / context_path(split, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(npy_bytes(array))
    content = {
        "schema": 1,
        "board": board.id,
        "board_digest": board.digest,
        "opened": opened,
        "secret": checksum(secret),
        "commitments": list(entrants),
        "splits": {split: describe_split(board, batch, known["salt"]) for split, batch in batches.items()},
    }
    data = exact_json(content)
    (folder / PUBLIC / CHALLENGE).write_bytes(data)
    return checksum(data)


def read_challenge(public: str | os.PathLike[str]) -> Challenge:
    """Read what is published of a round, and check it against its own digests.

    Raises:
        ChallengeError: if a file is missing, changed, or not part of it.
        ConfigurationError: if there is no such board.
    """
    folder = Path(public)
    content, found_digest = read_exact(folder / CHALLENGE, "challenge")
    board = read_board(content["board"])
    if board.digest != content["board_digest"]:
        raise ChallengeError(
            f"{CHALLENGE}: the round is for {board.id} with the digest {content['board_digest'][:12]}…; here "
            f"it has {board.digest[:12]}…: use the version of sraven that the organiser has"
        )
    if {split: entry["instances"] for split, entry in content["splits"].items()} != board.splits:
        raise ChallengeError(f"{CHALLENGE}: its splits or their sizes aren't those of {board.id}")
    model = rows_of(board.task).questions(generator_of(board.task).empty_batch(0))
    contexts: dict[str, dict[str, NDArray[Any]]] = {split: {} for split in board.splits}
    named = {CHALLENGE}
    for split, size in board.splits.items():
        published = content["splits"][split]["contexts"]
        if set(published) != set(model):
            raise ChallengeError(f"{CHALLENGE}: expected {', '.join(model)} of {split} and nothing else")
        for name, empty in model.items():
            path = context_path(split, name)
            array = read_npy(folder, path, empty.dtype.name, (size, *empty.shape[1:]))
            if array_digest(name, array) != published[name]:
                raise ChallengeError(
                    f"{path}: isn't what {CHALLENGE} says: it was changed; fetch the round again"
                )
            contexts[split][name] = array
            named.add(path)
    try:
        strange = sorted(set(list_files(folder, _MOST_CONTEXTS)) - named)
    except SubmissionError as error:
        raise ChallengeError(str(error).replace("a submission", "a round")) from None
    if strange:
        raise ChallengeError(
            f"{escape(strange[0])}: isn't part of a round; fetch it again, or remove the file"
        )
    return Challenge(content, found_digest, board, contexts)


def reveal(challenge: Challenge, secret: Path, threads: int | None = None) -> dict[str, Any]:
    """Draw a round again from its secret, and check that it is what was published.

    Returns:
        the instances by split.

    Raises:
        ChallengeError: if the secret is another, or the organiser published something else.
    """
    try:
        data = read_file(secret.parent, secret.name, MOST_JSON)
        known = parse_secret(data)
    except (SubmissionError, ChallengeError) as error:
        raise ChallengeError(f"{escape(str(secret))}: {error}") from None
    content = challenge.content
    if checksum(data) != content["secret"]:
        raise ChallengeError(f"{escape(str(secret))}: is the secret of another round")
    board = challenge.board
    board.check_combinations()
    batches = draw_round(board, known["secret"], content["commitments"], threads)
    for split, batch in batches.items():
        found, published = describe_split(board, batch, known["salt"]), content["splits"][split]
        for name in published:
            if found[name] != published[name]:
                raise ChallengeError(
                    f"{CHALLENGE}: {name} of {split} isn't what the secret gives: the organiser published "
                    "something else, or this is another version of sraven"
                )
    return batches
