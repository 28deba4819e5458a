"""References of tasks whose ideal observer takes any instances: its ceilings under each prior."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sraven.core.means import Mean

T = TypeVar("T")


@dataclass(frozen=True)
class Observed(ABC, Generic[T]):
    """The base of a family's `sraven.core.roles.References`, which has predictors and answers besides.

    Attributes:
        task: the task.
    """

    task: T

    @abstractmethod
    def observe(self, batch: Any, prior: str, threads: int | None) -> dict[str, Mean]:
        """Return what the observer scores on a batch if it knows the combinations of a split, or ``all``."""

    def ceilings(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return what the ideal observer scores on a split, by what it knows and by metric."""
        task: Any = self.task
        batch = task.sample(split, 0, count, threads=threads)
        prior = {"knowing_split": split, "not_knowing": "all"}
        return {name: self.observe(batch, of, threads) for name, of in prior.items()}

    def levels(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return no reference levels; a family's own may measure some."""
        return {}
