"""Scores of the ideal observer on a board, and what they mean.

A board's file has numbers, by what the observer knows. It never changes, so what the numbers mean stands
outside of it: by version of the definition, each task says how the observer answers for which metric
(`References.answers`). A definition never changes either; another way to answer is a new version, which
new boards name (``ceiling_definition``; 1 where a board has none).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sraven.core.means import Mean

PLACES = 6
"""Decimal places of what is measured for a board: what machines that add up in other orders agree on."""

FIRST_DEFINITION = 1
"""The definition of ceilings whose board doesn't name one."""

KNOWS = {"split": "knowing_split", "all combinations": "not_knowing"}
"""What an observer may know, and its name in a board's file: it assumes the combinations of the split, or
all, each as probable as any other."""

ANSWERS = {
    "joint": "the most probable answer as a whole",
    "mean": "the mean of all answers, each weighted by its probability",
}
"""How an observer may answer, given how probable each answer is."""


def rounded(mean: Mean) -> dict[str, float]:
    """Return a mean as files have it."""
    return {"value": round(mean.value, PLACES), "standard_error": round(mean.standard_error, PLACES)}


def measure_splits(
    measure: Callable[[str, int, None], Mapping[str, Mapping[str, Mean]]], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Return what `References.ceilings` or `References.levels` measures of splits, as files have it."""
    return {
        split: {
            name: {metric: rounded(mean) for metric, mean in means.items()}
            for name, means in measure(split, size, None).items()
        }
        for split, size in sizes.items()
    }


@dataclass(frozen=True)
class Ceiling:
    """What the ideal observer scores, and what that means.

    Attributes:
        value: the score.
        standard_error: over the instances of the split.
        knows: which combinations it assumes, a name of `KNOWS`.
        answers: how it answers, a name of `ANSWERS`.
    """

    value: float
    standard_error: float
    knows: str
    answers: str
