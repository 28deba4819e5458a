"""Submissions scored before anyone files them: one, or many that share what is rebuilt of their boards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from sraven.board.board import Board, read_board
from sraven.core.parallel import check_threads
from sraven.leaderboard.eligibility import Unranked, find_omissions, judge_submission
from sraven.leaderboard.evidence import make_evidence
from sraven.leaderboard.filed import Fault, fault_of
from sraven.leaderboard.submissions.submission import decode_submission, open_submission
from sraven.scoring.composing import Composing

_BOARDS = 4  # at hand at a time: tens of megabytes each
_AT_ONCE = 8  # submissions, whatever the number of processors: a hundred megabytes each


def share_boards(*, ready: bool = False) -> Callable[[str], Board]:
    """Return a function that reads a board once for all who ask, so its labels are rebuilt once.

    It keeps a few boards at a time, so memory doesn't grow with their number. For errors see `read_board`.

    Args:
        ready: whether a board comes with its instances checked and its labels rebuilt, so that several
            threads don't do that at once; else it is done on first use. BoardError is raised if this
            installation doesn't give its instances.
    """
    lock, read = Lock(), lru_cache(_BOARDS)(_read_ready if ready else read_board)

    def find_board(board_id: str) -> Board:
        with lock:
            return read(board_id)

    return find_board


def _read_ready(board_id: str) -> Board:
    board = read_board(board_id)
    board.check_scored()
    for split in board.splits:
        board.labels(split)
    return board


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
    """Score many submissions, some at a time, and yield what is found of each, in their order.

    The labels of each board are rebuilt once. A submission that is refused is a fault, and hides no other.

    Args:
        folders: the submissions, of any boards; those of a board best side by side.
        threads: threads to use; None for all available ones.
    """
    find_board, threads = share_boards(ready=True), check_threads(threads)
    workers = max(1, min(threads, len(folders), _AT_ONCE))

    def score(folder: Path) -> Scored | Fault:
        try:
            return score_folder(folder, find_board=find_board, threads=max(1, threads // workers))
        except Exception as error:  # whatever untrusted files break, it is reported and hides no other
            return fault_of(str(folder), error)

    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(score, folders)
    finally:
        pool.shutdown(cancel_futures=True)
