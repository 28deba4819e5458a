"""Submissions scored before anyone files them: one, or many that share what is rebuilt of their boards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sraven.board.board import Board, read_board
from sraven.leaderboard.eligibility import Unranked, find_omissions, judge_submission
from sraven.leaderboard.evidence import make_evidence
from sraven.leaderboard.filed import Fault, fault_of
from sraven.leaderboard.submissions.submission import decode_submission, open_submission
from sraven.scoring.composing import Composing

_BOARDS = 4  # at hand at a time: tens of megabytes each


def remembering_boards() -> Callable[[str], Board]:
    """Return a function as `read_board` that remembers the last few boards, and so the labels of each."""
    return lru_cache(_BOARDS)(read_board)


@dataclass(frozen=True)
class Scored:
    """What a submission scores, and whether it will be ranked.

    Attributes:
        folder: the submission.
        board: the board it is for.
        scores: what ``scores.json`` holds.
        beside: by split and metric, scores that aren't the board's.
        unranked: why it won't be ranked; nothing if it will.
        omissions: what it should say and doesn't.
    """

    folder: Path
    board: Board
    scores: Mapping[str, Any]
    beside: Mapping[str, Mapping[str, Any]]
    unranked: tuple[Unranked, ...]
    omissions: tuple[str, ...]

    @property
    def content(self) -> dict[str, Any]:
        """The same as JSON values."""
        reasons = [reason._asdict() for reason in self.unranked]
        found = {**self.scores, "beside": self.beside} if self.beside else dict(self.scores)
        composing = {"composing": asdict(self.composing)} if self.composing else {}
        return {**found, **composing, "ranked": not reasons, "unranked_because": reasons}

    @cached_property
    def composing(self) -> Composing | None:
        """What it keeps on held-out combinations; None where scores don't say."""
        return self.board.composing(self.scores["splits"])


def score_folder(
    folder: Path, *, find_board: Callable[[str], Board] = read_board, threads: int | None = None
) -> Scored:
    """Validate a submission, score it and say whether it will be ranked.

    Args:
        folder: the submission.
        find_board: returns a board, given its id.
        threads: threads to use; None for all available ones.

    Raises:
        SubmissionError: if it is refused; the message says why.
        ConfigurationError: if there is no such board.
        BoardError: if this installation doesn't give the board's instances.
    """
    found = make_evidence(decode_submission(open_submission(folder, find_board)), threads=threads)
    unranked, omissions = judge_submission(found), find_omissions(found)
    return Scored(folder, found.board, found.scores, found.beside, unranked, omissions)


def score_folders(folders: Sequence[Path], *, threads: int | None = None) -> Iterator[Scored | Fault]:
    """Score submissions one after the other, and yield what is found of each.

    The labels of each board are rebuilt once. A submission that is refused is a fault, and hides no other.

    Args:
        folders: the submissions, of any boards; those of a board best side by side.
        threads: threads to use; None for all available ones.
    """
    find_board = remembering_boards()
    for folder in folders:
        try:
            yield score_folder(folder, find_board=find_board, threads=threads)
        except Exception as error:  # whatever untrusted files break, it is reported and hides no other
            yield fault_of(str(folder), error)
