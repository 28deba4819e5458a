"""A round: drawn under a secret by the organiser, published without labels, checked by all afterwards."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sraven.core.base.errors import ChallengeError, SubmissionError
from sraven.core.base.escape import escape
from sraven.core.boards.board import Board, load_board, read_board
from sraven.core.challenge.files import (
    MOST_JSON,
    array_digest,
    checksum,
    new_directory,
    npy_bytes,
    read_exact,
    read_npy,
    to_text,
    write_new,
)
from sraven.core.challenge.secret import SECRET, describe_split, draw, make_secret, parse_secret
from sraven.core.tasks.families import generator_of, rows_of
from sraven.core.tasks.task import Arrays
from sraven.core.untrusted.read import list_files, read_file

PUBLIC, PRIVATE, CHALLENGE = "public", "private", "challenge.json"

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
        return write_round(folder, loaded, make_secret(), entrants, opened, threads)


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
    batches = draw(board, known["secret"], entrants, threads)
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
    data = to_text(content)
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
        raise ChallengeError(f"{CHALLENGE}: has not the splits of {board.id} in their sizes")
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
    """Draw a round anew from its secret, and check that it is what was published.

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
    batches = draw(board, known["secret"], content["commitments"], threads)
    for split, batch in batches.items():
        found, published = describe_split(board, batch, known["salt"]), content["splits"][split]
        for name in published:
            if found[name] != published[name]:
                raise ChallengeError(
                    f"{CHALLENGE}: {name} of {split} isn't what the secret gives: the organiser published "
                    "something else, or this is another version of sraven"
                )
    return batches
