"""References for scores of twins: the ideal observer, and SRAVEN's predictors with one more."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.board.ceilings import KNOWS
from sraven.certificates.observer import ideal_observer
from sraven.core.means import Mean
from sraven.core.roles import Reference
from sraven.references import SRAVENReferences
from sraven.splits import rule_combinations

CEILINGS = {1: dict.fromkeys(("pass_all", "pass_mean", "pass_any"), "joint")}
"""How the ideal observer answers, by version of the definition and by metric. No line changes."""


def certain(count: int) -> dict[str, dict[str, Mean]]:
    """Return ceilings of 1 throughout, for ``count`` variants that are certified to have one answer."""
    return {knows: dict.fromkeys(CEILINGS[1], Mean(1.0, 0.0, count)) for knows in KNOWS.values()}


class TwinsReferences(SRAVENReferences):
    """What scores of a task are read against."""

    answers: ClassVar = CEILINGS

    @property
    def predictors(self) -> Mapping[str, Reference]:
        """The reference predictors by name."""
        task = self.task

        def order_blind(split: str, count: int, seed: int) -> NDArray[np.uint8]:
            context, single = task.sample(split, 0, count).context, rule_combinations(1)
            panels = [ideal_observer(context[:, :, [p]], task.K, single)[0][:, 0] for p in range(task.M)]
            return np.stack(panels, axis=1)

        return {
            **super().predictors,
            "order-blind": Reference(
                "Perfect rules, but no attention to order: at each position the most probable symbol as if "
                "all columns showed the same feature there; 0 where no rule explains it.",
                order_blind,
            ),
        }

    def ceilings(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return 1 throughout: every variant is certified to have one answer."""
        return certain(count)
