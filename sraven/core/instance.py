"""Instances that were made together, as dictionaries of arrays that are cut out on access."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


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
