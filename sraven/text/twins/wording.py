"""Sets of twins in words: the prompts of each variant, the answers in replies, and the levels one by one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sraven.core.estimate import Mean
from sraven.core.task import ScoredLevel
from sraven.text.scoring import guess
from sraven.text.wording import LadderWording

if TYPE_CHECKING:
    from sraven.text.twins.task import TwinLadder


@dataclass(frozen=True)
class TwinLadderWording(LadderWording):
    """The questions of sets of twins in words, and answers read.

    Attributes:
        task: the task.
    """

    task: "TwinLadder"

    def levels(self, split: str, count: int, threads: int | None) -> list[ScoredLevel]:
        """Return the levels, with what can be said of each before any model is asked."""
        batch, variants = self.task.sample(split, 0, count, threads=threads), self.task.variants
        found = []
        for level, rung in enumerate(self.task.rungs):
            own, here = self.task.tasks[level * variants], batch.rung // variants == level
            copied = batch.context[here, -1] == batch.target[here]
            found.append(
                ScoredLevel(
                    metric=f"pass_mean.{rung}",
                    settings={"M": own.M, "K": own.K},
                    instances=int(here.sum()),
                    chance=guess(own.M, own.K),
                    floors={"copy-last-panel": float(np.mean(copied.all(axis=1)))},
                    ceilings={"board": Mean(1.0, 0.0, int(here.sum()))},
                )
            )
        return found
