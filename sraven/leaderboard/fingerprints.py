"""Pinned fingerprints: which documents the boards of a corpus are about.

The file of a board is frozen, and the benchmark doesn't hold the text. So what tells the documents from
others stands in a file beside the boards, ``fingerprints.yaml``, by the digest of the board's file.
"""

from collections.abc import Mapping

from sraven.board.board import Board
from sraven.board.paths import read_beside
from sraven.core.errors import BoardError, SubmissionError
from sraven.core.untrusted.read import parse_yaml
from sraven.core.untrusted.schemas import find_problem

FINGERPRINTS = "fingerprints.yaml"

Pins = Mapping[str, Mapping[str, str]]
"""Fingerprints by the digest of a board's file and by split."""


def parse_pins(data: bytes) -> Pins:
    """Return the fingerprints in a file.

    Raises:
        BoardError: if it isn't such a file.
    """
    try:
        content = parse_yaml(data, FINGERPRINTS) or {}
    except SubmissionError as error:
        raise BoardError(f"{error}; reinstall sraven") from None
    if problem := find_problem(content, "fingerprints"):
        raise BoardError(f"{FINGERPRINTS}: {problem}; reinstall sraven")
    return {digest: dict(pinned["fingerprints"]) for digest, pinned in content.items()}


def read_pins() -> Pins:
    """Return the fingerprints that this installation pins.

    Raises:
        BoardError: if their file is damaged.
    """
    return {digest: pins for data in read_beside(FINGERPRINTS) for digest, pins in parse_pins(data).items()}


def pin_text(board: Board, fingerprints: Mapping[str, str]) -> str:
    """Return what to add to the file for a board."""
    lines = [f"{board.digest}:", f"  board: {board.id}", "  fingerprints:"]
    return "\n".join([*lines, *(f"    {split}: {pinned}" for split, pinned in fingerprints.items())]) + "\n"
