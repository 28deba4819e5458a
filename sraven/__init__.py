"""SRAVEN: symbolic Raven's matrices for compositional generalisation in context."""

from sraven.ambiguity import count_answers, differs_everywhere, is_answer, is_unique, list_answers
from sraven.core.boards import Board, load_board
from sraven.core.errors import BoardError, CapacityError, ConfigurationError, OutputError, SubmissionError
from sraven.core.submission import score_submission
from sraven.core.submit import write_submission
from sraven.observer import ideal_observer
from sraven.record import to_numpy
from sraven.task import SRAVEN, Batch

__version__ = "0.1.0"

__all__ = [
    "SRAVEN",
    "Batch",
    "Board",
    "BoardError",
    "CapacityError",
    "ConfigurationError",
    "OutputError",
    "SubmissionError",
    "count_answers",
    "differs_everywhere",
    "ideal_observer",
    "is_answer",
    "is_unique",
    "list_answers",
    "load_board",
    "score_submission",
    "to_numpy",
    "write_submission",
]
