"""SRAVEN: symbolic Raven's matrices for compositional generalisation in context."""

from sraven.ambiguity import count_answers, differs_everywhere, is_answer, is_unique, list_answers
from sraven.core.errors import CapacityError, ConfigurationError, OutputError
from sraven.observer import ideal_observer
from sraven.record import to_numpy
from sraven.task import SRAVEN, Batch

__version__ = "0.1.0"

__all__ = [
    "SRAVEN",
    "Batch",
    "CapacityError",
    "ConfigurationError",
    "OutputError",
    "count_answers",
    "differs_everywhere",
    "ideal_observer",
    "is_answer",
    "is_unique",
    "list_answers",
    "to_numpy",
]
