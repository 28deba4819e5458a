"""Data sets for `torch.utils.data.DataLoader`: batches of tensors, made on demand.

A generator makes a batch in less time than it takes to collate one from its instances, so both data sets
here give whole batches: map-style, in any order that a sampler likes, or a stream.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, SupportsIndex

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from sraven.core.access import INDEX_LIMIT
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.split import Split
from sraven.core.task import Task

Tensors = Mapping[str, torch.Tensor]
"""Tensors by name, with the instances along the first axis."""

View = Callable[[Tensors], Any]
"""Returns what a loader gives instead of a batch's tensors, such as `sraven.torch.sequences`."""


def as_tensors(batch: Any) -> dict[str, torch.Tensor]:
    """Return the arrays of a batch as tensors that share their memory, and may be written to."""
    return {name: torch.from_numpy(array) for name, array in batch._asdict().items()}


@dataclass(frozen=True)
class _Made:
    """A batch that is made already: what stands in the list that a loader collates."""

    batch: Any


# PyTorch's documented way to have its loaders collate a type; so no `collate_fn` has to be passed.
default_collate_fn_map[_Made] = lambda made, **_: made[0].batch


class SplitDataset(Dataset[Any]):
    """The instances of a view of a split, map-style: for shuffling, samplers and ``DistributedSampler``.

    A ``DataLoader`` with its own ``collate_fn`` gets whole batches, which are made at once.

    Args:
        split: what ``task.split(name, size)`` returns.
        view: what to make of the tensors of a batch; None for the tensors, and the ``index``.

    Example:
        >>> train = SplitDataset(task.split("train", 1_000_000))
        >>> loader = DataLoader(train, batch_size=128, shuffle=True, num_workers=2)
        >>> next(iter(loader))["context"].shape
        torch.Size([128, 8, 4])
    """

    def __init__(self, split: Split, view: View | None = None) -> None:
        if not isinstance(split, Split):
            raise ConfigurationError(
                f"split is a {type(split).__name__}; expected what task.split(name, size) returns"
            )
        self.split, self.view = split, view

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self.split)

    def __getitem__(self, place: SupportsIndex) -> Any:
        """Return an instance as tensors, or what the view makes of a batch of it alone.

        Raises:
            IndexError: past the end.
        """
        batch = self._take([place])
        if self.view:
            return self.view(batch)
        return {name: tensor[0] for name, tensor in batch.items()}

    def __getitems__(self, places: Iterable[SupportsIndex]) -> list[Any]:
        """Return several instances as a batch, in the form that a loader's ``collate_fn`` takes."""
        batch = self._take(places)
        return [_Made(self.view(batch) if self.view else batch)]

    def _take(self, places: Iterable[SupportsIndex]) -> dict[str, torch.Tensor]:
        indices = np.array([self.split.index_of(place) for place in places], np.int64)
        batch = self.split.task.take(self.split.name, indices, threads=1)
        return {"index": torch.from_numpy(indices), **as_tensors(batch)}


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
        for place in places[first::step] if isinstance(places, range) else count(self.start + first, step):
            begin = (place * self.ranks + self.rank) * self.batch_size
            batch = as_tensors(self.task.sample(self.split, begin, self.batch_size, threads=1))
            yield self.view(batch) if self.view else batch
