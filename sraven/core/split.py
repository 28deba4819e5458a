"""Splits as map-style data sets: what `torch.utils.data` and Grain read from, without either of them."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from operator import index
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Task

_BLOCK = 1024
"""Instances that iterating makes at a time."""


class Instance(dict[str, NDArray[Any]]):
    """An instance among others: its arrays by name, of a type that PyTorch's loaders know."""


class InstanceSequence(Sequence[Instance]):
    """Instances that were made together; each is cut out on access.

    Attributes:
        arrays: by name, with the instances along the first axis.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self.arrays["index"])

    def __getitem__(self, row: Any) -> Any:
        """Return an instance, or for a slice some of them."""
        if isinstance(row, slice):
            return InstanceSequence({name: array[row] for name, array in self.arrays.items()})
        return Instance({name: array[row, ...] for name, array in self.arrays.items()})


@dataclass(frozen=True, repr=False)
class Split:
    """Some instances of a split of a task, made on access.

    ========================  ===============================================================================
    expression                gives
    ========================  ===============================================================================
    ``len(split)``            the number of instances
    ``split[5]``              instance 5: a dictionary of writable arrays, among them its ``index``
    ``split[-1]``             the last one
    ``split[3:7]``            a view of these instances, which holds none; steps are fine, too
    ``for x in split``        instances as above, made a thousand at a time
    ``split.batch()``         all of them as a batch of arrays
    ========================  ===============================================================================

    It pickles as its configuration alone, so worker processes get it for nothing. PyTorch's ``DataLoader``
    takes it for a data set and requests a whole batch at once (``__getitems__``), and Grain for a
    ``RandomAccessDataSource``.

    Attributes:
        task: the task.
        name: of its split.
        indices: of the instances in there.
    """

    task: Task
    name: str
    indices: range

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self.indices)

    @overload
    def __getitem__(self, place: SupportsIndex) -> dict[str, NDArray[Any]]: ...
    @overload
    def __getitem__(self, place: slice) -> "Split": ...

    def __getitem__(self, place: Any) -> Any:
        """Return an instance as a dictionary of writable arrays, or a view of some.

        Raises:
            IndexError: past the end.
        """
        if isinstance(place, slice):
            return Split(self.task, self.name, self.indices[place])
        return dict(self.__getitems__([place])[0])

    def __getitems__(self, places: Iterable[SupportsIndex]) -> InstanceSequence:
        """Return several instances, made together: faster than one by one.

        Raises:
            IndexError: if one is past the end.
        """
        if "torch.utils.data" in sys.modules:
            import_module("sraven.core.torch.collate")  # has PyTorch's loaders take them as a whole
        indices = np.array([self.index_of(place) for place in places], np.int64)
        return InstanceSequence({"index": indices, **self.task.take(self.name, indices)._asdict()})

    def __iter__(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the instances in order. Those of a block share memory, which lives as long as one of them."""
        for start in range(0, len(self), _BLOCK):
            yield from map(dict, self.__getitems__(range(start, min(start + _BLOCK, len(self)))))

    def batch(self, *, threads: int | None = None) -> Any:
        """Return all instances as a batch of the task.

        Args:
            threads: threads to use; None for all available ones.
        """
        return self.task.take(self.name, np.array(self.indices, np.int64), threads=threads)

    def index_of(self, place: SupportsIndex) -> int:
        """Return the index of the instance at a place of this view."""
        try:
            return self.indices[index(place)]
        except IndexError:
            raise IndexError(f"instance {place}: there are {len(self):,}") from None

    def __repr__(self) -> str:
        """Return how to make it, on one line."""
        at = self.indices
        if not at:
            return f"{self.task!r}.split({self.name!r}, 0)"
        size = max(at[0], at[-1]) + 1
        view = "" if at == range(size) else f"[{at.start}:{at.stop if at.stop >= 0 else ''}:{at.step}]"
        return f"{self.task!r}.split({self.name!r}, {size}){view}"
