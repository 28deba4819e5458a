"""Instances as rows of a dataset: columns, encoding, and a second opinion."""

from dataclasses import dataclass

import numpy as np

from helpers.sums.task import Sums
from sraven.core.roles import Column, Description, Encoded, row_faults


@dataclass(frozen=True)
class SumsRows:
    """The instances of a task as rows of a dataset."""

    task: Sums

    @property
    def columns(self):
        return (
            Column("index", "int64", (), "index of the instance in its split", derived=True),
            Column("pairs", "uint8", (self.task.N, 2), "pairs of terms, the last one asked for"),
            Column("sums", "uint8", (self.task.N,), "weighted sum of each pair"),
            Column("weights", "uint8", (2,), "weights of the terms"),
            Column("combination", "int32", (), "number of the weights"),
        )

    instance_columns = ("pairs", "sums")

    def encode(self, split, start, count, threads):
        batch = self.task.sample(split, start, count, threads=threads)
        arrays = {"index": np.arange(start, start + count, dtype=np.int64), **batch._asdict()}
        return Encoded(arrays, {"sums_of_0": np.array((batch.sums[:, -1] == 0).sum(), np.int64)})

    def find_faults(self, split, arrays):
        P, found = self.task.P, arrays["combination"]
        (first, second), (a, b) = arrays["weights"].T.astype(int), arrays["pairs"].T.astype(int)
        right = {
            "combination isn't the weights' number": found == first * P + second,
            "combination isn't the split's": np.isin(found, self.task.combination_indices(split)),
            "a sum is wrong": ((first * a + second * b) % P == arrays["sums"].T).all(axis=0),
        }
        return row_faults(arrays, right)

    def remark(self, tallies):
        return f", {int(tallies['sums_of_0']):,} of sum 0"

    def describe(self, tallies):
        return Description(
            title=f"Modular sums (P={self.task.P}, N={self.task.N})",
            summary="Weighted sums of two terms, the weights to be found from examples.",
            body="## Seen and held out\n\nSplits share no weights, but for `train` and `test`.",
            limitations="A toy.",
            biases="Weights are drawn uniformly from each split.",
            uses="Tests.",
            keywords=("modular-arithmetic",),
        )
