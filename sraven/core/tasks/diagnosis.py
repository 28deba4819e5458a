"""The role that sorts wrong answers: what kind of mistake each is, and where which are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sraven.core.tasks.task import Labels

OVERALL = "overall"
"""Name of the tally that every diagnosis has: one row for all instances, the kinds as columns."""

MISSING = "missing"
"""The column of what isn't answered, which counts as wrong and is of no kind."""


@dataclass(frozen=True)
class Tally:
    """Wrong things counted, in rows that divide all of them and columns that divide the wrong ones.

    Attributes:
        heading: what the rows are.
        unit: what is counted, in the plural, such as ``instances``.
        rows: their names.
        columns: their names; the last one is `MISSING`.
        totals: int64 ``[rows]``: how many there are, right ones too. It depends on the labels alone.
        counts: int64 ``[rows, columns]``: the wrong ones.
    """

    heading: str
    unit: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    totals: NDArray[np.int64]
    counts: NDArray[np.int64]


class Diagnosis(Protocol):
    """How the wrong answers of a task are sorted. A family may have one."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kinds of wrong answers with their meanings; each is of the first one that fits."""

    def tally(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Mapping[str, Tally]:
        """Return the tallies of one run by name, `OVERALL` first, given what `Scoring.outcomes` is given."""
