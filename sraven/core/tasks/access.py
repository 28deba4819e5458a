"""Random access to the instances of a task, the same for all tasks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.ground.arguments import check_array, check_integer
from sraven.core.ground.errors import ConfigurationError

INDEX_LIMIT = 1 << 62
"""Indices of instances lie below this."""

B = TypeVar("B", bound=tuple[Any, ...])


class RandomAccess(ABC, Generic[B]):
    """Gives the instances of a split by their indices; ``B`` is the task's batch of arrays."""

    @abstractmethod
    def empty_batch(self, count: int) -> B:
        """Return arrays for ``count`` instances, their content undefined."""

    @abstractmethod
    def fill(self, split: str, indices: NDArray[np.uint64], batch: B, threads: int | None) -> Any:
        """Write the instances ``indices`` of a split into ``batch``."""

    @abstractmethod
    def _stream(self, split: str) -> tuple[NDArray[np.uint64], Any]:
        """Return the key and the tables of a split, as ``_streams`` keeps them."""

    def with_keys(self, keys: Mapping[str, NDArray[np.uint64]]) -> Self:
        """Return this task with other instances: those of the given keys instead of its own.

        What the splits draw from stays the same, and so does the configuration: to the eye and to ``==``
        the two are one. See `sraven.core.challenge`.

        Args:
            keys: uint64 ``[2]`` for each split that is going to be asked for.
        """
        twin = copy(self)
        vars(twin)["_streams"] = {split: (key, self._stream(split)[1]) for split, key in keys.items()}
        return twin

    def sample(
        self, split: str, start: int, count: int, *, threads: int | None = None, out: B | None = None
    ) -> B:
        """Return the instances ``start`` to ``start + count - 1`` of a split.

        Any range costs the same wherever it lies, and gives the same bytes for any number of
        threads.

        Args:
            split: name of a split; ``all`` draws from all combinations.
            start: first index, from 0.
            count: number of instances, from 0.
            threads: threads to use; None for all available ones.
            out: a batch of ``count`` instances of this task to write into, instead of a new one.

        Raises:
            ConfigurationError: for an unknown split, a range out of bounds or an ``out`` that
                doesn't fit.
            CapacityError: with ``answers="unique"``, if next to no instance has one answer.
        """
        check_integer("start", start, 0, INDEX_LIMIT)
        check_integer("count", count, 0, INDEX_LIMIT - int(start))
        indices = np.arange(start, int(start) + int(count), dtype=np.uint64)
        batch = self.empty_batch(len(indices)) if out is None else self._checked(out, len(indices))
        self.fill(split, indices, batch, threads)
        return batch

    def take(self, split: str, indices: ArrayLike, *, threads: int | None = None) -> B:
        """Return the instances with the given indices, in their order.

        Args:
            split: as for `sample`.
            indices: integers ``[n]``, from 0; repeats are allowed.
            threads: threads to use; None for all available ones.
        """
        array = check_array("indices", indices, ("n",), "iu", "integers")
        if array.size:
            check_integer("the least index", int(array.min()), 0, INDEX_LIMIT - 1)
            check_integer("the greatest index", int(array.max()), 0, INDEX_LIMIT - 1)
        batch = self.empty_batch(len(array))
        self.fill(split, array.astype(np.uint64), batch, threads)
        return batch

    def _checked(self, out: B, count: int) -> B:
        """Return ``out`` if it holds ``count`` instances of this task as `sample` makes them."""
        model = self.empty_batch(0)
        wanted = [(array.dtype, (count, *array.shape[1:])) for array in model]
        arrays = type(out) is type(model) and all(isinstance(array, np.ndarray) for array in out)
        if not arrays or wanted != [(array.dtype, array.shape) for array in out]:
            raise ConfigurationError(f"out isn't a batch of {count:,} instances of this task")
        if not all(array.flags.c_contiguous and array.flags.writeable for array in out):
            raise ConfigurationError("out has an array that is read-only or not C-contiguous")
        return out
