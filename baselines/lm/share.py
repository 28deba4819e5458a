"""A process's rows of a batch, when several train together."""

from dataclasses import dataclass

from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError


@dataclass(frozen=True)
class BatchShare:
    """Rows of every batch: process p of n takes rows p·B/n to (p + 1)·B/n - 1.

    A batch has the same rows for any number of processes, so a run that goes on with another number
    repeats and skips nothing.

    Attributes:
        batch_size: B, rows of a batch over all processes.
        process: p, from 0.
        processes: n, which divides B.
    """

    batch_size: int
    process: int = 0
    processes: int = 1

    def __post_init__(self) -> None:
        check_integer("batch_size", self.batch_size, 1, 1 << 30)
        check_integer("processes", self.processes, 1, 1 << 20)
        check_integer("process", self.process, 0, self.processes - 1)
        if self.batch_size % self.processes:
            raise ConfigurationError(
                f"batch_size={self.batch_size:,}: {self.processes:,} processes can't share it evenly; "
                "use a multiple of their number"
            )

    def rows(self, step: int) -> range:
        """Return the numbers of this process's rows of a step, counted from the first step's first."""
        local = self.batch_size // self.processes
        first = step * self.batch_size + self.process * local
        return range(first, first + local)
