"""The configuration of the fuzzy-logic task: its fields, their defaults and what they mean.

It is apart from the task, which brings the compiled kernels: help and completion need none of them.
"""

from dataclasses import dataclass

from sraven.core.spec import setting
from sraven.core.versions import version_setting

UNSEEN = ("drawn", "last")
"""Which terms are unseen: drawn by the seed, or the last in counting order."""

QUERIES = ("uniform", "fixed_context", "fixed_query")
"""What sequences share: nothing; all points but the query's; the query's point."""


@dataclass(frozen=True)
class Settings:
    """The fields of `fuzzylogic.FuzzyLogic`, which says what is allowed."""

    L: int = setting(4, "Variables, 1 to 16.")
    K: int = setting(2, "Terms of a function, 1 to 8.")
    N: int = setting(32, "Points, the query's included.")
    holdout: float = setting(0.7, "Share of combinations kept for ood.")
    unseen_terms: float = setting(0.25, "Share of terms for ood_terms.")
    unseen: str = setting(
        "drawn",
        "Which terms are for ood_terms: drawn by the seed, or the last ones, as in the paper's code.",
        values="|".join(UNSEEN),
        is_added=True,
    )
    seed: int = setting(0, "Draws divisions and sequences.")
    query: str = setting(
        "uniform",
        "What all sequences share: nothing, all points but the query's, or the query's.",
        values="|".join(QUERIES),
    )
    version: str = version_setting()
