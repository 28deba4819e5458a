"""Sets of twins in words: prompts of each variant, answers in replies, levels one by one, and references."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sraven.core.base.estimate import Mean
from sraven.core.tasks.task import Reference, ScoredLevel
from sraven.text.references import LadderReferences, make_replies
from sraven.text.scoring import guess
from sraven.text.twins.task import TwinLadder
from sraven.text.wording import LadderWording
from sraven.twins.references import CEILINGS, certain


@dataclass(frozen=True)
class TwinLadderWording(LadderWording):
    """The questions of sets of twins in words, and answers read.

    Attributes:
        task: the task.
    """

    task: TwinLadder

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


@dataclass(frozen=True)
class TwinLadderReferences(LadderReferences):
    """What scores of a task are read against.

    Attributes:
        task: the task.
    """

    task: TwinLadder

    answers: ClassVar = CEILINGS

    @property
    def predictors(self) -> Mapping[str, Reference]:
        """The reference predictors by name: those of a ladder, each variant guessed by itself."""
        found = dict(super().predictors)
        guess = make_replies(self.task, "uniform-random", apart=self.task.variants)
        return found | {"uniform-random": found["uniform-random"]._replace(predict=guess)}

    def ceilings(self, split: str, count: int, threads: int | None) -> dict[str, dict[str, Mean]]:
        """Return 1 throughout: every variant is certified to have one answer."""
        return certain(count)
