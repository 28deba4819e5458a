"""A fuzzy-logic dataset's rows: columns, encoding, and the checks of `sraven verify`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.describe import describe
from fuzzylogic.terms import rank_all, term_dtype
from sraven.core.roles import Arrays, Column, Description, Encoded, row_faults
from sraven.files.table import to_arrays

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

_TALLIED = 1 << 16
"""Combinations that are counted one by one for the card, at most."""


def to_numpy(dataset: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a fuzzy-logic dataset as arrays in their natural shapes.

    Args:
        dataset: one split, a ``datasets.Dataset`` (shuffled, sliced and filtered ones too) or a
            ``pyarrow.Table``, with any of the columns; ``inputs`` needs ``targets`` beside it.

    Returns:
        arrays by column name: ``inputs`` float32 ``[n, N, L]``, ``targets`` float32 ``[n, N]``,
        ``terms`` uint8 or uint16 ``[n, K]``, ``index`` int64 and ``combination`` int32 ``[n]``.
        They are read-only, as Arrow's memory is.

    Raises:
        ConfigurationError: if it is neither.
    """
    arrays = to_arrays(dataset)
    if "inputs" in arrays and "targets" in arrays:
        n, N = arrays["targets"].shape
        arrays["inputs"] = arrays["inputs"].reshape(n, N, arrays["inputs"].shape[1] // N)
    return arrays


def evaluate_terms(inputs: NDArray[np.float32], terms: NDArray[Any]) -> NDArray[np.float32]:
    """Evaluate each sequence's function at its points: float32 ``[n, N]``.

    Plain NumPy on purpose: a second opinion that shares no code with the generator.

    Args:
        inputs: ``[n, N, L]``.
        terms: integers ``[n, K]``.
    """
    variables = np.arange(inputs.shape[2])
    values = np.zeros(inputs.shape[:2], np.float32)
    for ids in terms.astype(np.int64).T:
        plain = (ids[:, None, None] >> variables) & 1 == 1  # [n, 1, L]
        literals = np.where(plain, inputs, np.float32(1) - inputs)
        np.maximum(values, literals.min(axis=2), out=values)
    return values


@dataclass(frozen=True)
class FuzzyLogicRows:
    """The sequences of a task as rows of a dataset.

    Attributes:
        task: the task.
    """

    task: "FuzzyLogic"

    instance_columns: ClassVar = ("inputs", "targets")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a dataset."""
        L, K, N = self.task.L, self.task.K, self.task.N
        return (
            Column("index", "int64", (), "index of the sequence in its split", derived=True),
            Column("inputs", "float32", (N, L), "points in [0, 1), the last one the query's"),
            Column("targets", "float32", (N,), "value of the function at each point"),
            Column("terms", term_dtype(L), (K,), "terms of the function, ascending"),
            Column(
                "combination", "int32", (), "number of the combination of terms, in colexicographic order"
            ),
        )

    def encode(self, split: str, start: int, count: int, threads: int) -> Encoded:
        """Return sequences as rows of a dataset, with counts by combination for the card."""
        batch = self.task.sample(split, start, count, threads=threads)
        arrays = {"index": np.arange(start, start + count, dtype=np.int64), **batch._asdict()}
        tallies = {"sequences": np.array(count, np.int64)}
        n_combinations = self.task.n_combinations("all")
        if n_combinations <= _TALLIED:
            tallies["by_combination"] = np.bincount(batch.combination, minlength=n_combinations)
        return Encoded(arrays, tallies)

    def find_faults(self, split: str, arrays: Arrays) -> list[str]:
        """Return what is wrong with rows read from a dataset, a line for each kind of fault."""
        inputs, targets, terms = arrays["inputs"], arrays["targets"], arrays["terms"].astype(np.int64)
        n_terms = 1 << self.task.L
        ascend = (np.diff(terms, axis=1) > 0).all(axis=1) & (terms < n_terms).all(axis=1)
        right = {
            "an input isn't in [0, 1)": ((inputs >= 0) & (inputs < 1)).all(axis=(1, 2)),
            "terms don't ascend, or one is out of range": ascend,
        }
        return row_faults(arrays, right) or row_faults(
            arrays,
            {
                "combination isn't the terms' number": arrays["combination"] == rank_all(terms, n_terms),
                "a target isn't the function's value": (targets == evaluate_terms(inputs, terms)).all(axis=1),
            },
        )

    def remark(self, tallies: Mapping[str, Any]) -> str:
        """Return what to print behind a split's size: how many combinations occur."""
        if "by_combination" not in tallies:
            return ""
        return f", of {sum(count > 0 for count in tallies['by_combination']):,} combinations"

    def describe(self, tallies: Mapping[str, Arrays]) -> Description:
        """Return the texts of a dataset card, given the tallies of each split."""
        return describe(self.task, tallies)
