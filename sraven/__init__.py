"""SRAVEN: symbolic Raven's matrices for compositional generalisation in context."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sraven.ambiguity import count_answers, differs_everywhere, is_answer, is_unique, list_answers
    from sraven.core.boards.board import Board, load_board
    from sraven.core.ground.errors import (
        BoardError,
        CapacityError,
        ConfigurationError,
        OutputError,
        SubmissionError,
    )
    from sraven.core.submissions.submission import score_submission
    from sraven.core.submissions.submit import write_submission
    from sraven.observer import ideal_observer
    from sraven.record import to_numpy
    from sraven.task import SRAVEN, Batch

__version__ = "0.1.0"
__part_of__ = "sraven"

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

_HOMES = {
    "sraven.ambiguity": (
        "count_answers",
        "differs_everywhere",
        "is_answer",
        "is_unique",
        "list_answers",
    ),
    "sraven.core.boards.board": ("Board", "load_board"),
    "sraven.core.ground.errors": (
        "BoardError",
        "CapacityError",
        "ConfigurationError",
        "OutputError",
        "SubmissionError",
    ),
    "sraven.core.submissions.submission": ("score_submission",),
    "sraven.core.submissions.submit": ("write_submission",),
    "sraven.observer": ("ideal_observer",),
    "sraven.record": ("to_numpy",),
    "sraven.task": ("SRAVEN", "Batch"),
}
"""Where the public names are defined. They are imported when asked for (PEP 562): the command begins in
this package, and `sraven --help` is to answer at once."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
