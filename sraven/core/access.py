"""Random access to the instances of a task, the same for all tasks."""

from abc import abstractmethod
from dataclasses import fields
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_indices, check_integer
from sraven.core.batch import Instances
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.rng import derive_key
from sraven.core.roles import Task
from sraven.core.spec import digest, task_config
from sraven.core.split import Split

INDEX_LIMIT = 1 << 62
"""Indices of instances lie below this."""

B = TypeVar("B", bound=Instances)


class RandomAccess(Task, Generic[B]):
    """The base of tasks that generate their instances: gives those of a split by their indices.

    A task is a frozen dataclass of its configuration, with a field ``version`` and a field ``seed``. ``B``
    is its batch.
    """

    seed: int

    @property
    def config(self) -> dict[str, Any]:
        """Everything that determines the instances, as JSON values."""
        return task_config(self.name, self)

    @abstractmethod
    def empty_batch(self, count: int) -> B:
        """Return a batch for ``count`` instances, its content undefined."""

    @abstractmethod
    def fill(self, split: str, indices: NDArray[np.uint64], batch: B, threads: int | None) -> Any:
        """Write the instances ``indices`` of a split into ``batch``."""

    @abstractmethod
    def make_tables(self, split: str) -> Any:
        """Return what `fill` reads of a split; refuses a split that there isn't."""

    # Streams

    @cached_property
    def _streams(self) -> dict[str, tuple[NDArray[np.uint64], Any]]:
        return {}

    def stream(self, split: str) -> tuple[NDArray[np.uint64], Any]:
        """Return the key (uint64 ``[2]``) and the tables of a split, made once."""
        if not isinstance(split, str) or split not in self._streams:
            tables = self.make_tables(split)
            self._streams[split] = self.key(split, "instances"), tables
        return self._streams[split]

    def key(self, split: str, stream: str) -> NDArray[np.uint64]:
        """Return the key of a random stream of a split."""
        return derive_key(
            version=self.version, config=digest(self.config), seed=self.seed, split=split, stream=stream
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles: the configuration."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]  # tasks are dataclasses

    # Access

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
            CapacityError: if there is no memory for them; with ``answers="unique"``, if next to no instance
                has one answer.
        """
        start = check_integer("start", start, 0, INDEX_LIMIT)
        count = check_integer("count", count, 0, INDEX_LIMIT - start)
        if out is not None:
            self._check_fits(out, count)
        try:
            indices = np.arange(start, start + count, dtype=np.uint64)
            batch = self.empty_batch(count) if out is None else out
        except (MemoryError, ValueError):  # of what no array can hold
            raise CapacityError(f"count={count:,} has no room in memory; take some at a time") from None
        self.fill(split, indices, batch, threads)
        return batch

    def take(self, split: str, indices: ArrayLike, *, threads: int | None = None) -> B:
        """Return the instances with the given indices, in their order.

        Args:
            split: as for `sample`.
            indices: integers ``[n]``, from 0; repeats are allowed.
            threads: threads to use; None for all available ones.
        """
        array = check_indices(indices, INDEX_LIMIT)
        batch = self.empty_batch(len(array))
        self.fill(split, array.astype(np.uint64), batch, threads)
        return batch

    def split(self, name: str, size: int) -> Split:
        """Return the first instances of a split as a map-style data set, which makes them on access.

        Args:
            name: of the split, or ``all``.
            size: number of instances, from 0.

        Raises:
            ConfigurationError: for an unknown split, or a size out of range.
        """
        size = check_integer("size", size, 0, INDEX_LIMIT)
        self.stream(name)  # refuses a split that there isn't
        return Split(self, name, range(size))

    def _check_fits(self, out: B, count: int) -> None:
        """Refuse ``out`` unless it holds ``count`` instances of this task as `sample` makes them."""
        model = self.empty_batch(0)
        wanted = [(array.dtype, (count, *array.shape[1:])) for array in model]
        arrays = type(out) is type(model) and all(isinstance(array, np.ndarray) for array in out)
        if not arrays or wanted != [(array.dtype, array.shape) for array in out]:
            raise ConfigurationError(f"out isn't a batch of {count:,} instances of this task")
        if not all(array.flags.c_contiguous and array.flags.writeable for array in out):
            raise ConfigurationError("out has an array that is read-only or not C-contiguous")
