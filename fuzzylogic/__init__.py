"""Fuzzy-logic functions learnt in context: the benchmark's second task."""

from typing import TYPE_CHECKING

from sraven import core  # noqa: F401  # if that is another project's, Python says where it lies
from sraven.core.system.lazy import lazy_names
from sraven.core.system.packages import check_packages

if TYPE_CHECKING:
    from fuzzylogic.identifiability import Identification, identify
    from fuzzylogic.record import to_numpy
    from fuzzylogic.scoring import Scores, score, score_by_combination
    from fuzzylogic.task import Batch, FuzzyLogic

check_packages("sraven", "fuzzylogic")

__part_of__ = "sraven"

__all__ = [
    "Batch",
    "FuzzyLogic",
    "Identification",
    "Scores",
    "identify",
    "score",
    "score_by_combination",
    "to_numpy",
]

_HOMES = {
    "fuzzylogic.identifiability": "Identification identify",
    "fuzzylogic.record": "to_numpy",
    "fuzzylogic.scoring": "Scores score score_by_combination",
    "fuzzylogic.task": "Batch FuzzyLogic",
}
"""The public names by the modules that define them. They are imported when asked for, so the core and the
commands can ask for this family without loading its generator."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
