"""The ladder of difficulty that language models are measured on."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.estimate import Mean
from sraven.task import SRAVEN
from sraven.text.grading import share
from sraven.text.questions import Questions

COUNT, SEED, HOLDOUT = 2_000, 0, 0.25
"""Questions of a rung; seed and held-out share of its task."""


@dataclass(frozen=True)
class Rung:
    """A step of the ladder: features of a panel and symbols, instances with one answer each.

    Attributes:
        M: features of a panel.
        K: number of symbols.
    """

    M: int
    K: int

    @property
    def task(self) -> SRAVEN:
        """The task. At M=1 no rule can be spared, so nothing is held out."""
        return SRAVEN(self.M, self.K, HOLDOUT if self.M > 1 else 0.0, SEED, "unique", version="1")

    @property
    def split(self) -> str:
        """The split of its questions, `ood`; `test` for M=1, where nothing is held out."""
        return "ood" if self.M > 1 else "test"

    def questions(self, form: str = "told", shots: int = 0, count: int = COUNT) -> Questions:
        """Return its questions, asked in one way."""
        return Questions(self.task, self.split, count, form, shots)

    def ceiling(self, count: int, split: str = "all", threads: int | None = None) -> Mean:
        """Return the best accuracy that can be expected without certificates: on instances of policy `any`.

        It is the mean of the ideal observer's exact probabilities, all combinations being possible. On the
        rung itself, where each instance has one answer, it is 1.

        Args:
            count: instances to measure it on, from 2.
            split: where they come from, as the rung's ``split``; `all` draws from all combinations.
            threads: threads to use; None for all available ones.
        """
        task = replace(self.task, answers="any")
        found: list[NDArray[np.float64]] = []
        for start in range(0, count, 4096):
            batch = task.sample(split, start, min(4096, count - start), threads=threads)
            found.append(task.ideal_observer(batch, threads=threads)[1])
        return share(np.concatenate(found))


LADDER: tuple[Rung, ...] = (
    *(Rung(M, 8) for M in (1, 2, 3, 4, 6, 8)),
    *(Rung(4, K) for K in (10, 16)),
)
"""The rungs, from easy to hard in M, then in K. None changes."""

LEVELS: tuple[Rung, ...] = (
    *(Rung(M, 8) for M in (2, 3, 4, 5, 6, 8)),
    *(Rung(4, K) for K in (10, 16)),
)
"""Those of version 2: without M=1, where no rule can be held out and puzzles are few. None changes."""
