"""Wrong answers by the kind of mistake: how a task sorts them, and their shares over seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.means import standard_error
from sraven.core.roles import Labels, Task
from sraven.scoring.scores import DIGITS, Run

OVERALL = "overall"
"""Name of the tally that every diagnosis has: one row for all instances, the kinds as columns."""

SIBLINGS = "siblings"
"""Name of the tally of features by what tells their rule from its sibling, where a task has siblings."""

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


def tally(
    heading: str,
    names: Sequence[str],
    columns: tuple[str, ...],
    row: NDArray[Any],
    column: NDArray[Any],
    unit: str = "instances",
) -> Tally:
    """Count things by row and, where wrong, by column; leave out rows that have none.

    Args:
        heading: what the rows are.
        names: of the rows.
        columns: names of the columns.
        row: the row of each.
        column: the column of each, -1 where it is right.
        unit: what is counted.
    """
    totals = np.bincount(row.ravel(), minlength=len(names))
    counts = np.zeros((len(names), len(columns) + 1), np.int64)
    np.add.at(counts, (row, column), 1)  # right ones go to the last column, which is dropped
    there = np.flatnonzero(totals)
    named = tuple(names[number] for number in there.tolist())
    return Tally(heading, unit, named, columns, totals[there], counts[there, :-1])


class Diagnosis(Protocol):
    """How the wrong answers of a task are sorted. A family may have one."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kinds of wrong answers with their meanings; each is of the first one that fits."""

    def tally(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Mapping[str, Tally]:
        """Return the tallies of one run by name, `OVERALL` first, given what `Scoring.outcomes` is given."""


@dataclass(frozen=True)
class Share:
    """A part of a whole.

    Attributes:
        counts: the part of each seed, in the order of the seeds.
        mean: the share, mean over seeds; None where a seed has nothing to share.
        standard_error: over seeds; None for a single seed.
    """

    counts: tuple[int, ...]
    mean: float | None
    standard_error: float | None


@dataclass(frozen=True)
class ErrorRow:
    """Some of the instances (or features) of a split.

    Attributes:
        name: which they are.
        total: how many.
        wrong: those of them that are wrong.
        of_wrong: the wrong ones by column.
    """

    name: str
    total: int
    wrong: Share
    of_wrong: Mapping[str, Share]


@dataclass(frozen=True)
class ErrorTable:
    """The wrong answers of a split, divided.

    Attributes:
        heading: what the rows are.
        unit: what is counted, such as ``instances``.
        rows: the rows.
    """

    heading: str
    unit: str
    rows: tuple[ErrorRow, ...]


@dataclass(frozen=True)
class SplitErrors:
    """What one method gets wrong on one split.

    Attributes:
        instances: the size of the split.
        seeds: the seeds, ascending.
        tables: by name; the first one, ``overall``, has one row.
    """

    instances: int
    seeds: tuple[int, ...]
    tables: Mapping[str, ErrorTable]

    @property
    def overall(self) -> ErrorRow:
        """The row of all instances."""
        return self.tables[OVERALL].rows[0]


def require_diagnosis(task: Task) -> Diagnosis:
    """Return how the wrong answers of a task are sorted.

    Raises:
        ConfigurationError: if it doesn't say.
    """
    diagnosis: Diagnosis | None = task.diagnosis
    if diagnosis is None:
        raise ConfigurationError(
            f"nothing sorts the wrong answers of the task {task.name}, as it does those of SRAVEN "
            "and of fuzzy logic"
        )
    return diagnosis


def _share(counts: NDArray[np.int64], wholes: NDArray[np.int64]) -> Share:
    """Return a share over seeds, given the part and the whole of each."""
    listed = tuple(counts.tolist())
    if (wholes == 0).any():
        return Share(listed, None, None)
    shares = counts / wholes
    error = standard_error(shares)
    return Share(
        listed, round(float(shares.mean()), DIGITS), error if error is None else round(error, DIGITS)
    )


def _table(tallies: Sequence[Tally]) -> ErrorTable:
    """Return the table of one tally, given that of each seed."""
    first = tallies[0]
    counts = np.stack([tally.counts for tally in tallies], axis=-1)  # rows, columns, seeds
    wrong = counts.sum(axis=1)
    rows = tuple(
        ErrorRow(
            name,
            int(first.totals[row]),
            _share(wrong[row], np.full(len(tallies), first.totals[row])),
            {column: _share(counts[row, n], wrong[row]) for n, column in enumerate(first.columns)},
        )
        for row, name in enumerate(first.rows)
    )
    return ErrorTable(first.heading, first.unit, rows)


def diagnose_runs(
    diagnosis: Diagnosis, labels: Labels, runs: Sequence[Run], *, threads: int | None = None
) -> SplitErrors:
    """Sort the wrong answers of the runs of one method on one split.

    Args:
        diagnosis: the task's.
        labels: the truth about the split.
        runs: predictions of one or more seeds.
        threads: threads to use; None for all available ones.
    """
    found = [diagnosis.tally(labels, run.predictions, run.answered, threads) for run in runs]
    tables = {name: _table([tallies[name] for tallies in found]) for name in found[0]}
    return SplitErrors(len(runs[0].predictions), tuple(run.seed for run in runs), tables)
