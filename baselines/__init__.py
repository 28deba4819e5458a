"""Baselines in JAX: the paper's transformers, their training, and what is read off them."""

from sraven import core  # noqa: F401  # if that is another project's, Python says where it lies
from sraven.core.packages import check_packages

__part_of__ = "sraven"

check_packages("sraven", "fuzzylogic", "baselines")
