"""Fuzzy-logic functions learnt in context: the benchmark's second task."""

from fuzzylogic.identifiability import Identification, identify
from fuzzylogic.record import to_numpy
from fuzzylogic.score import Scores, score, score_by_combination
from fuzzylogic.task import Batch, FuzzyLogic

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
