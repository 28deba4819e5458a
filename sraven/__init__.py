"""SRAVEN: symbolic Raven's matrices for compositional generalisation in context."""

from typing import TYPE_CHECKING

from sraven.core.system.lazy import lazy_names

if TYPE_CHECKING:
    from sraven.ambiguity import count_answers, differs_everywhere, is_answer, is_unique, list_answers
    from sraven.core.base.errors import (
        BoardError,
        CapacityError,
        ConfigurationError,
        OutputError,
        SubmissionError,
    )
    from sraven.core.boards.board import Board, load_board
    from sraven.core.boards.board import board_ids as boards
    from sraven.core.dataset.write import write_dataset
    from sraven.core.leaderboard.export import standing
    from sraven.core.submissions.submission import score_submission
    from sraven.core.submissions.submit import write_submission
    from sraven.core.tasks.families import make_task
    from sraven.core.verification.verify import verify_dataset
    from sraven.errors import sort_errors
    from sraven.observer import ideal_observer
    from sraven.posterior import rule_posterior, symbol_marginals
    from sraven.record import to_numpy
    from sraven.rules import RULES
    from sraven.task import SRAVEN, Batch

__version__ = "0.1.0"
__part_of__ = "sraven"

__all__ = [
    "RULES",
    "SRAVEN",
    "Batch",
    "Board",
    "BoardError",
    "CapacityError",
    "ConfigurationError",
    "OutputError",
    "SubmissionError",
    "boards",
    "count_answers",
    "differs_everywhere",
    "ideal_observer",
    "is_answer",
    "is_unique",
    "list_answers",
    "load_board",
    "make_task",
    "rule_posterior",
    "score_submission",
    "sort_errors",
    "standing",
    "symbol_marginals",
    "to_numpy",
    "verify_dataset",
    "write_dataset",
    "write_submission",
]

_HOMES = {
    "sraven.ambiguity": "count_answers differs_everywhere is_answer is_unique list_answers",
    "sraven.core.base.errors": "BoardError CapacityError ConfigurationError OutputError SubmissionError",
    "sraven.core.boards.board": "Board boards:board_ids load_board",
    "sraven.core.dataset.write": "write_dataset",
    "sraven.core.leaderboard.export": "standing",
    "sraven.core.submissions.submission": "score_submission",
    "sraven.core.submissions.submit": "write_submission",
    "sraven.core.tasks.families": "make_task",
    "sraven.core.verification.verify": "verify_dataset",
    "sraven.errors": "sort_errors",
    "sraven.observer": "ideal_observer",
    "sraven.posterior": "rule_posterior symbol_marginals",
    "sraven.record": "to_numpy",
    "sraven.rules": "RULES",
    "sraven.task": "Batch SRAVEN",
}
"""The public names by the modules that define them. They are imported when asked for: the command begins in
this package, and `sraven --help` is to answer at once."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
