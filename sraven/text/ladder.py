"""The levels of difficulty on which language models are measured."""

from dataclasses import dataclass, replace

from sraven.core.estimate import Mean
from sraven.task import SRAVEN
from sraven.text.grading import share
from sraven.text.questions import Questions

COUNT, SEED, HOLDOUT = 2_000, 0, 0.25
"""Questions of a level; seed and held-out share of its task."""


@dataclass(frozen=True)
class Level:
    """A level of difficulty: features of a panel and symbols, instances with one answer each.

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
        level itself, where each instance has one answer, it is 1.

        Args:
            count: instances to measure it on, from 2.
            split: where they come from, as the level's ``split``; `all` draws from all combinations.
            threads: threads to use; None for all available ones.
        """
        task = replace(self.task, answers="any")
        return share(task.ideal_observer(task.sample(split, 0, count, threads=threads), threads=threads)[1])


LADDER: tuple[Level, ...] = (*(Level(M, 8) for M in (1, 2, 3, 4, 6, 8)), Level(4, 10), Level(4, 16))
"""The levels, from easy to hard in M, then in K. None changes."""

LEVELS: tuple[Level, ...] = (*(Level(M, 8) for M in (2, 3, 4, 5, 6, 8)), Level(4, 10), Level(4, 16))
"""Those of version 2: without M=1, where no rule can be held out and puzzles are few. None changes."""
