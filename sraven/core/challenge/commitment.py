"""Commitments: the digest of a program (weights and code), published before the instances are drawn.

A program is what Git would keep of its directory: the files' paths, their bytes, and which of them can be
executed. Version 1 of the file left out the last.
"""

import os
import secrets
from pathlib import Path
from typing import Any

from sraven.core.base.errors import ChallengeError, OutputError, SubmissionError
from sraven.core.base.escape import escape
from sraven.core.challenge.files import checksum as checksum_of, exact_json, read_exact, write_new
from sraven.core.system.files import sha256_of_file, sync_directory
from sraven.core.untrusted.read import list_files
from sraven.core.untrusted.schemas import find_problem

COMMITMENT = "commitment.json"

_MOST_FILES = 10_000


def _digests(program: Path) -> list[dict[str, Any]]:
    """Return path, size, SHA-256 of every file of a program and whether it can be executed, ascending.

    Raises:
        ChallengeError: for a directory that is empty, has an empty one, or holds links.
    """
    try:
        paths = list_files(program, _MOST_FILES)
    except SubmissionError as error:
        raise ChallengeError(str(error).replace("a submission", "a program")) from None
    if not paths:
        raise ChallengeError(f"{program} is empty; expected the weights and the code")
    for folder, directories, files in os.walk(program):
        if not directories and not files:  # no path of a file tells its name, so nothing would commit to it
            name = Path(folder).relative_to(program).as_posix()
            raise ChallengeError(f"{escape(name)}/: is an empty directory; remove it")
    return [
        {
            "path": path,
            "bytes": (program / path).stat().st_size,
            "sha256": sha256_of_file(program / path),
            "executable": bool((program / path).stat().st_mode & 0o100),
        }
        for path in paths
    ]


def write_commitment(out: str | os.PathLike[str], program: str | os.PathLike[str], name: str) -> str:
    """Write the commitment to a program, to be kept; its digest is what gets published.

    The salt in it keeps others from finding out what was committed before it is shown, and shows then
    whose it is.

    Args:
        out: a file that doesn't exist yet, outside of the program.
        program: the directory that holds all of it: weights and code.
        name: what the entry is called.

    Returns:
        the digest: the file's SHA-256.

    Raises:
        OutputError: if ``out`` exists, or lies within the program.
        ChallengeError: if there is no program, or the name isn't fit to be one.
    """
    goal, source = Path(out), Path(program)
    if os.path.lexists(goal):
        raise OutputError(f"{goal} exists; a commitment is never overwritten")
    if goal.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{goal} lies within {source}, which it is to describe; choose another place")
    content = {"schema": 2, "name": name, "salt": secrets.token_hex(32), "files": _digests(source)}
    if problem := find_problem(content, "commitment"):
        raise ChallengeError(f"the commitment: {problem}")
    data = exact_json(content)
    goal.parent.mkdir(parents=True, exist_ok=True)
    write_new(goal, data, 0o600)
    sync_directory(goal.parent)
    return checksum_of(data)


def check_commitment(file: str | os.PathLike[str], program: str | os.PathLike[str]) -> str:
    """Check that a program is what was committed; return the commitment's digest.

    Raises:
        ChallengeError: if a file was changed, added or removed, or made one to execute; it says which.
    """
    content, digest = read_exact(Path(file), "commitment")
    committed = {entry["path"]: entry for entry in content["files"]}
    found = {entry["path"]: entry for entry in _digests(Path(program))}
    if content["schema"] == 1:
        committed = {path: {"executable": False, **entry} for path, entry in committed.items()}
        found = {path: {**entry, "executable": False} for path, entry in found.items()}
    for path in sorted({**committed, **found}):
        if committed.get(path) != found.get(path):
            what = "is missing" if path not in found else "was changed" if path in committed else "is new"
            raise ChallengeError(
                f"{escape(path)} {what} since the commitment {digest[:12]}…; "
                "answer with the program that was committed"
            )
    return digest
