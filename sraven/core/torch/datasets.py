"""A stream of batches for `torch.utils.data.DataLoader`, made on demand.

A generator makes a batch in less time than it takes to collate one from its instances, so it gives whole
batches. In any order that a sampler likes, `sraven.core.split.Split` gives them, too.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from sraven.core.access import INDEX_LIMIT
from sraven.core.arguments import check_integer
from sraven.core.roles import Task

Tensors = Mapping[str, torch.Tensor]
"""Tensors by name, with the instances along the first axis."""

View = Callable[[Tensors], Any]
"""Returns what a loader gives instead of a batch's tensors, such as `sraven.torch.sequences`."""


def as_tensors(batch: Any) -> dict[str, torch.Tensor]:
    """Return the arrays of a batch as tensors that share their memory, and may be written to."""
    return {name: torch.from_numpy(array) for name, array in batch._asdict().items()}


class BatchStream(IterableDataset[Any]):
    """Batches of a split one after the other: no instance twice, the same for any number of workers.

    Batch ``s`` of rank ``r`` has the instances ``(s · ranks + r) · batch_size`` and on. So a run that is
    interrupted goes on with ``start``, and ranks have batches of their own. Instances are independent
    draws: reading them in order is as good as shuffling.

    Args:
        task: the task.
        split: name of a split; ``all`` draws from all combinations.
        batch_size: instances of a batch.
        start: first batch, from 0.
        stop: the batch before which to stop; None for no end.
        rank: of this process.
        ranks: processes that train together.
        view: what to make of the tensors of a batch; None for the tensors.

    Raises:
        ConfigurationError: for an unknown split, or a number out of range.

    Example:
        >>> stream = BatchStream(task, "train", batch_size=128, stop=10_000)
        >>> for batch in DataLoader(stream, batch_size=None, num_workers=2):
        ...     ...
    """

    def __init__(
        self,
        task: Task,
        split: str,
        batch_size: int = 128,
        *,
        start: int = 0,
        stop: int | None = None,
        rank: int = 0,
        ranks: int = 1,
        view: View | None = None,
    ) -> None:
        task.sample(split, 0, 0)  # refuses a split that there isn't
        self.task, self.split, self.view = task, split, view
        self.batch_size = check_integer("batch_size", batch_size, 1, 1 << 24)
        self.ranks = check_integer("ranks", ranks, 1, 1 << 20)
        self.rank = check_integer("rank", rank, 0, self.ranks - 1)
        most = INDEX_LIMIT // (self.batch_size * self.ranks)
        self.start = check_integer("start", start, 0, most)
        self.stop = None if stop is None else check_integer("stop", stop, self.start, most)

    def __len__(self) -> int:
        """Return the number of batches.

        Raises:
            TypeError: if there is no end.
        """
        if self.stop is None:
            raise TypeError("this stream has no end; give stop=...")
        return self.stop - self.start

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches; a worker yields its share, which the loader puts into order."""
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        places = count(self.start) if self.stop is None else range(self.start, self.stop)
        for place in islice(places, first, None, step):
            begin = (place * self.ranks + self.rank) * self.batch_size
            batch = as_tensors(self.task.sample(self.split, begin, self.batch_size, threads=1))
            yield self.view(batch) if self.view else batch
