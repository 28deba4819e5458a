"""SRAVEN: symbolic Raven's matrices for compositional generalisation in context."""

from typing import TYPE_CHECKING

from sraven.core import moved as _moved  # noqa: F401  # modules are found by their old names, too
from sraven.core.lazy import lazy_names

if TYPE_CHECKING:
    from sraven.board.board import Board as Board, board_ids, load_board as load_board
    from sraven.certificates.ambiguity import (
        count_answers as count_answers,
        differs_everywhere as differs_everywhere,
        is_answer as is_answer,
        is_unique as is_unique,
        list_answers as list_answers,
    )
    from sraven.certificates.observer import ideal_observer as ideal_observer
    from sraven.certificates.posterior import (
        rule_posterior as rule_posterior,
        symbol_marginals as symbol_marginals,
    )
    from sraven.core.errors import (
        BoardError as BoardError,
        CapacityError as CapacityError,
        ConfigurationError as ConfigurationError,
        OutputError as OutputError,
        SubmissionError as SubmissionError,
    )
    from sraven.core.families import make_task as make_task
    from sraven.data.verify import verify_dataset as verify_dataset
    from sraven.data.write import write_dataset as write_dataset
    from sraven.leaderboard.comparison import compare_submissions as compare_submissions
    from sraven.leaderboard.export import standing as standing
    from sraven.leaderboard.submissions.submission import score_submission as score_submission
    from sraven.leaderboard.submissions.submit import write_submission as write_submission
    from sraven.mistakes import sort_errors as sort_errors
    from sraven.networks.pytorch import evaluate_network as evaluate_network
    from sraven.record import to_numpy as to_numpy
    from sraven.rules import RULES as RULES
    from sraven.task import SRAVEN as SRAVEN, Batch as Batch

    boards = board_ids

__version__ = "0.1.0"
__part_of__ = "sraven"

_HOMES = {
    "sraven.certificates.ambiguity": "count_answers differs_everywhere is_answer is_unique list_answers",
    "sraven.core.errors": "BoardError CapacityError ConfigurationError OutputError SubmissionError",
    "sraven.board.board": "Board boards:board_ids load_board",
    "sraven.data.write": "write_dataset",
    "sraven.leaderboard.comparison": "compare_submissions",
    "sraven.networks.pytorch": "evaluate_network",
    "sraven.leaderboard.export": "standing",
    "sraven.leaderboard.submissions.submission": "score_submission",
    "sraven.leaderboard.submissions.submit": "write_submission",
    "sraven.core.families": "make_task",
    "sraven.data.verify": "verify_dataset",
    "sraven.mistakes": "sort_errors",
    "sraven.certificates.observer": "ideal_observer",
    "sraven.certificates.posterior": "rule_posterior symbol_marginals",
    "sraven.record": "to_numpy",
    "sraven.rules": "RULES",
    "sraven.task": "Batch SRAVEN",
}
"""The public names by the modules that define them. They are imported when asked for: the command begins in
this package, and `sraven --help` is to answer at once."""

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
