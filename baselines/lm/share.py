"""A process's rows of a batch, when several train together."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchShare:
    """Rows of every batch: process p of n takes rows p·B/n to (p + 1)·B/n - 1.

    A batch has the same rows for any number of processes, so a run that goes on with another number
    repeats and skips nothing.

    Attributes:
        batch_size: B, rows of a batch over all processes.
        process: p, from 0.
        processes: n, which divides B: so does the mesh (`baselines.train.sharding.check_batch`).
    """

    batch_size: int
    process: int = 0
    processes: int = 1

    def rows(self, step: int) -> range:
        """Return the numbers of this process's rows of a step, counted from the first step's first."""
        local = self.batch_size // self.processes
        first = step * self.batch_size + self.process * local
        return range(first, first + local)
