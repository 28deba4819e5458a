"""A SRAVEN dataset's rows: columns, encoding, and the checks of `sraven verify`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.certificates.ambiguity import count_answers
from sraven.core.roles import Arrays, Column, Description, Encoded, row_fault, row_faults
from sraven.describe import describe
from sraven.features import symbols_by_feature
from sraven.files.table import to_arrays
from sraven.rules import RULES, Rules

if TYPE_CHECKING:
    from sraven.task import SRAVEN


def to_numpy(dataset: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a SRAVEN dataset as arrays in their natural shapes.

    A `datasets.Dataset` of one file isn't copied, so this takes milliseconds where iterating or
    the NumPy format takes minutes.

    Args:
        dataset: one split, a ``datasets.Dataset`` (shuffled, sliced and filtered ones too) or a
            ``pyarrow.Table``, with any of the columns.

    Returns:
        arrays by column name: ``context`` uint8 ``[n, 8, M]``, ``target`` and ``rules`` uint8
        ``[n, M]``, ``permutations`` uint8 ``[n, 3, M]``, ``index`` and ``num_answers`` int64
        ``[n]``, ``combination`` int32 ``[n]``. They are read-only, as Arrow's memory is.

    Raises:
        ConfigurationError: if it is neither.
    """
    arrays = to_arrays(dataset)
    for name, panels in (("context", 8), ("permutations", 3)):
        if name in arrays:
            n, size = arrays[name].shape
            arrays[name] = arrays[name].reshape(n, panels, size // panels)
    return arrays


def rows_follow_rules(arrays: Arrays, K: int, rules: Rules = RULES) -> NDArray[np.bool_]:
    """Tell, for each instance, whether all rows follow their rules: bool ``[n]``.

    By what fits a rule, in plain NumPy: a second opinion that shares no code with the generator.
    """
    symbols = symbols_by_feature(arrays["context"], arrays["target"], arrays["permutations"])
    x, y, z = symbols.astype(np.int64).transpose(2, 1, 0, 3)  # [row, n, feature] each
    fits = np.stack([rule.fits(x, y, z, K) for rule in rules])
    follows: NDArray[np.bool_] = np.take_along_axis(fits, arrays["rules"][None].astype(np.int64), axis=0)[0]
    return np.asarray(follows.all(axis=1))


@dataclass(frozen=True)
class SRAVENRows:
    """The instances of a task as rows of a dataset.

    Attributes:
        task: the task.
    """

    task: "SRAVEN"

    instance_columns: ClassVar = ("context", "target")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a dataset."""
        M = self.task.M
        return (
            Column("index", "int64", (), "index of the instance in its split", derived=True),
            Column("context", "uint8", (8, M), "the eight context panels, row-major"),
            Column("target", "uint8", (M,), "the ninth panel"),
            Column("rules", "uint8", (M,), "rule of each feature before permutation, ascending"),
            Column("permutations", "uint8", (3, M), "feature shown at each position, by column"),
            Column("combination", "int32", (), "index of the multiset of rules, in lexicographic order"),
            Column("num_answers", "int64", (), "number of ninth panels that fit the context", derived=True),
        )

    def encode(self, split: str, start: int, count: int, threads: int) -> Encoded:
        """Return instances as rows of a dataset, with counts by combination for the card."""
        task = self.task
        indices = np.arange(start, start + count, dtype=np.uint64)
        batch = task.empty_batch(count)
        rejected = task.fill(split, indices, batch, threads)
        num_answers = task.count_answers(batch, threads=threads)
        arrays = {"index": indices.astype(np.int64), **batch._asdict(), "num_answers": num_answers}
        instances = np.bincount(batch.combination, minlength=len(rejected))
        unique = np.bincount(batch.combination[num_answers == 1], minlength=len(rejected))
        tallies = {"proposals": instances + rejected, "instances": instances, "unique": unique}
        return Encoded(arrays, tallies)

    def find_faults(self, split: str, arrays: Arrays) -> list[str]:
        """Return what is wrong with rows read from a dataset, a line for each kind of fault."""
        task, order = self.task, np.arange(self.task.M)
        known = np.isin(arrays["combination"], task.combination_indices(split))
        if not known.all():
            return [row_fault(arrays, ~known, f"combination isn't one of split {split}")]
        combinations = task.combinations("all")[arrays["combination"]]
        faults = row_faults(
            arrays,
            {
                "a symbol is out of range": (arrays["context"] < task.K).all(axis=(1, 2))
                & (arrays["target"] < task.K).all(axis=1),
                "rules differ from the combination": (arrays["rules"] == combinations).all(axis=1),
                "permutations don't list each feature once": (
                    np.sort(arrays["permutations"], axis=2) == order
                ).all(axis=(1, 2)),
            },
        )
        if faults:
            return faults
        counts = count_answers(arrays["context"], task.K, threads=1, **task.context_options)
        right = {
            "a row doesn't follow its rule": rows_follow_rules(arrays, task.K, task.rules),
            "num_answers isn't the number of answers": arrays["num_answers"] == counts,
        }
        return row_faults(arrays, right)

    def remark(self, tallies: Mapping[str, Any]) -> str:
        """Return what to print behind a split's size: the share of ambiguous instances."""
        n, unique = sum(tallies["instances"]), sum(tallies["unique"])
        return f", {(n - unique) / n:.1%} with several answers"

    def describe(self, tallies: Mapping[str, Arrays]) -> Description:
        """Return the texts of a dataset card, given the tallies of each split."""
        return describe(self.task, tallies)
