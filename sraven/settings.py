"""The configuration of SRAVEN: its fields, their defaults and what they mean. Commands make options of it.

It is apart from the task, which brings the compiled kernels: help and completion need none of them.
"""

from dataclasses import dataclass

from sraven.core.spec import setting
from sraven.core.versions import version_setting

M_LIMIT = 12
"""Most features an instance may have: beyond, a combination and a permutation need two draws,
and the certificate of one instance may need more memory than a machine has."""

POLICIES = ("any", "unique")
"""Which instances a task draws: all, or those with one answer."""


@dataclass(frozen=True)
class Settings:
    """The fields of `sraven.SRAVEN`, which says what is allowed."""

    M: int = setting(4, "Features of a panel, 1 to 12.")
    K: int = setting(8, "Symbols, 3 to 256.")
    holdout: float | str = setting(
        0.25,
        "Share of rule combinations kept for ood, or a division: camps, ring, scattered, scattered-ring, "
        "pairs, blocks or repeats.",
        values="SHARE|NAME",
    )
    seed: int = setting(0, "Draws the partition and the instances.")
    answers: str = setting(
        "any", "Keep all instances, or those with one answer.", values="|".join(POLICIES), measured=False
    )
    permute: bool = setting(True, "Show the features of all columns in the same order.", option="no-permute")
    rule_set: str = setting(
        "paper",
        "Rules that features follow: the paper's eight, or another set, such as ten.",
        option="rules",
        values="NAME",
        is_added=True,
    )
    version: str = version_setting()
