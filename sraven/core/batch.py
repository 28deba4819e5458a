"""Batches: the arrays of a run of instances under their names, with the instances along the first axis."""

from collections.abc import Iterable
from inspect import get_annotations
from typing import Any, ClassVar, Self, dataclass_transform, overload

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape


def _field(place: int, name: str) -> property:
    return property(lambda batch: tuple.__getitem__(batch, place), doc=f"Field number {place}, {name}.")


@dataclass_transform(frozen_default=True)
class Instances(tuple[NDArray[Any], ...]):
    """A batch: instances as arrays, counted and cut by instance. A task's own is a subclass that names them.

    ==========================  =============================================================================
    expression                  gives
    ==========================  =============================================================================
    ``batch.name``              an array, ``[n, ...]``
    ``len(batch)``              the number of instances, n
    ``batch[3:7]``              a batch of these instances that shares their memory
    ``batch[indices]``          a batch of the chosen ones, copied, given integers or booleans in an array
    ``batch[5]``                instance 5: a dictionary of arrays that share its memory
    ``a, b, *rest = batch``     the arrays, in order; so do loops, ``tuple(batch)`` and ``zip``
    ``batch._asdict()``         the arrays by name
    ``batch._replace(a=...)``   a batch with other arrays
    ``Batch._fields``           the names
    ==========================  =============================================================================

    It is a named tuple but for its length and its items, so JAX takes it for a tree of arrays.
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *get_annotations(cls))  # those of a batch that it extends come first
        for place, name in enumerate(cls._fields):
            setattr(cls, name, _field(place, name))

    def __new__(cls, *arrays: NDArray[Any], **named: NDArray[Any]) -> Self:
        """Make a batch of arrays, in the order of the fields or by name."""
        rest = cls._fields[len(arrays) :]
        if named.keys() != set(rest):
            raise TypeError(f"{cls.__name__} takes the arrays {', '.join(cls._fields)}")
        return cls._make((*arrays, *(named[name] for name in rest)))

    @classmethod
    def _make(cls, arrays: Iterable[NDArray[Any]]) -> Self:
        """Return a batch of arrays, in the order of the fields."""
        made = super().__new__(cls, arrays)
        if tuple.__len__(made) != len(cls._fields):
            raise TypeError(f"{cls.__name__} takes the arrays {', '.join(cls._fields)}")
        return made

    def _asdict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **named: NDArray[Any]) -> Self:
        """Return a batch with other arrays in place of some."""
        if unknown := set(named) - set(self._fields):
            raise ValueError(f"{', '.join(sorted(unknown))}: expected some of {', '.join(self._fields)}")
        return type(self)(**{**self._asdict(), **named})

    def __getnewargs__(self) -> tuple[NDArray[Any], ...]:
        return tuple(self)

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(tuple.__getitem__(self, 0))

    @overload  # type: ignore[override]  # items are instances, not the tuple's
    def __getitem__(self, rows: int | np.integer[Any]) -> dict[str, NDArray[Any]]: ...
    @overload
    def __getitem__(self, rows: slice | NDArray[Any] | list[int]) -> Self: ...

    def __getitem__(self, rows: Any) -> Any:
        """Return an instance as a dictionary, or some of them as a batch.

        Raises:
            IndexError: for an instance that there isn't.
            ConfigurationError: for what is no instance, such as the name of a field.
        """
        if isinstance(rows, slice):
            return self._make([array[rows] for array in self])
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            return {name: array[rows, ...] for name, array in self._asdict().items()}
        chosen = np.asarray(rows)
        if isinstance(rows, tuple) or chosen.ndim != 1 or (chosen.dtype.kind not in "iub" and len(chosen)):
            raise ConfigurationError(
                f"batch[{escape(repr(rows))}]: expected the number of an instance, a slice, or an array of "
                "integers or booleans; the arrays have names, such as batch." + self._fields[0]
            )
        return self._make([array[chosen if len(chosen) else []] for array in self])

    def __repr__(self) -> str:
        """Return the types and shapes of the arrays."""

        def brief(array: Any) -> str:
            return f"{array.dtype}{list(array.shape)}" if hasattr(array, "shape") else repr(array)

        arrays = (f"{name}={brief(array)}" for name, array in self._asdict().items())
        return f"{type(self).__name__}({', '.join(arrays)})"
