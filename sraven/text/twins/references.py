"""References for scores of twins in words: the predictors of the text boards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sraven.core.base.estimate import Mean
from sraven.core.tasks.task import Reference
from sraven.text.references import LadderReferences, make_replies
from sraven.text.twins.task import TwinLadder
from sraven.twins.references import CEILINGS, certain


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
