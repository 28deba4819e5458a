"""Fuzzy-logic functions learnt in context: the benchmark's second task."""

from typing import TYPE_CHECKING

from sraven import core  # noqa: F401  # if that is another project's, Python says where it lies
from sraven.core.lazy import lazy_names
from sraven.core.packages import check_packages

if TYPE_CHECKING:
    from fuzzylogic.identifiability import Identification as Identification, identify as identify
    from fuzzylogic.record import to_numpy as to_numpy
    from fuzzylogic.task import Batch as Batch, FuzzyLogic as FuzzyLogic

check_packages("sraven", "fuzzylogic")

__part_of__ = "sraven"

_HOMES = {
    "fuzzylogic.identifiability": "Identification identify",
    "fuzzylogic.record": "to_numpy",
    "fuzzylogic.task": "Batch FuzzyLogic",
}
"""The public names by the modules that define them. They are imported when asked for, so the core and the
commands can ask for this family without loading its generator."""

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
