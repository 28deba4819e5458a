"""References for scores of twins in words: the predictors of the text boards."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sraven.core.estimate import Mean
from sraven.text.references import LadderReferences
from sraven.twins.references import CEILINGS, certain

if TYPE_CHECKING:
    from sraven.text.twins.task import TwinLadder


@dataclass(frozen=True)
class TwinLadderReferences(LadderReferences):
    """What scores of a task are read against.

    Attributes:
        task: the task.
    """

    task: "TwinLadder"

    answers: ClassVar = CEILINGS

    def ceilings(self, split: str, count: int, threads: int | None) -> dict[str, dict[str, Mean]]:
        """Return 1 throughout: every variant is certified to have one answer."""
        return certain(count)
