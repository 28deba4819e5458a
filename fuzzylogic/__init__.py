"""Fuzzy-logic functions learnt in context: the benchmark's second task."""

# ruff: noqa: E402  # whose `sraven` it is comes first

from sraven import core  # noqa: F401  # if that is another project's, Python says where it lies
from sraven.core.system.packages import check_packages

check_packages("sraven", "fuzzylogic")

from fuzzylogic.identifiability import Identification, identify
from fuzzylogic.record import to_numpy
from fuzzylogic.score import Scores, score, score_by_combination
from fuzzylogic.task import Batch, FuzzyLogic

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
