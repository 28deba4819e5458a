"""Results of figures: records by level, the chosen point of the grid, means over seeds, how much has run.

A row shows the point of the grid whose mean over seeds is best on `test`; `ood` chooses nothing. Means have
the standard error over seeds. Two means are compared by Welch's t-test, whose degrees of freedom follow from
both errors: variances of two networks needn't be equal.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from baselines.paper.cells import Cell, Figures, as_planned, cells_of, has_levels
from baselines.paper.figures import FIGURES, Figure, Row, read_board_once
from baselines.paper.records import Record, read_records
from baselines.train.grid import SELECTION_SPLIT
from sraven.core.means import standard_error

_ROUNDING = 1e-9
"""Standard errors up to this come of equal scores."""


class Level(NamedTuple):
    """Runs of one length, and on one text.

    Attributes:
        steps: of all; None for full length, which may differ from row to row.
        records: by the digest that their cell has at full length.
        text: digest of the text that they were trained on; None for runs that need none.
    """

    steps: int | None
    records: Mapping[str, Record]
    text: str | None = None

    @property
    def name(self) -> str:
        """What it is called beside runs of full length."""
        return "another text" if self.steps is None else f"{self.steps:,} steps"


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds.

    Attributes:
        mean: of the scores.
        error: its standard error; None for a single seed.
        seeds: how many.
    """

    mean: float
    error: float | None
    seeds: int


@dataclass(frozen=True)
class Runs:
    """The result of a row at a point of the grid.

    Attributes:
        row: the row.
        point: of the grid; None if nothing ran, or everything diverged.
        records: of the runs, by seed.
        metric: the board's.
    """

    row: Row
    point: Mapping[str, float] | None
    records: tuple[Record, ...]
    metric: str

    @property
    def seeds(self) -> frozenset[int]:
        """Of the runs."""
        return frozenset(record.config.seed for record in self.records)

    def estimate(self, split: str, seeds: Collection[int] | None = None) -> Estimate | None:
        """Return the mean of the metric over the seeds, or over some of them; None if a run has none."""
        records = [each for each in self.records if seeds is None or each.config.seed in seeds]
        return mean_of([record.score(split, self.metric) for record in records])

    def ratio(self, split: str, other: str) -> Estimate | None:
        """Return the mean over seeds of the metric on a split as a share of that on another."""
        scores = [[record.score(name, self.metric) for name in (split, other)] for record in self.records]
        return mean_of([one / all_ if one is not None and all_ else None for one, all_ in scores])

    @property
    def training_loss(self) -> Estimate | None:
        """The mean of the training losses."""
        return mean_of([record.training_loss for record in self.records])


@dataclass(frozen=True)
class RowSummary(Runs):
    """The results of a row: at the point of the grid that is chosen by the split ``test``.

    Attributes:
        points: its result at each point at which something ran.
    """

    points: tuple[Runs, ...]


def mean_of(values: Sequence[float | None]) -> Estimate | None:
    """Return the mean of numbers with its standard error; None without them."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Estimate(float(np.mean(known)), standard_error(known), len(known))


@dataclass(frozen=True)
class Difference:
    """One mean less another.

    Attributes:
        value: of the difference.
        p: of Welch's t-test, two-sided: how often means of so few seeds are as far apart if there is no
            difference; None unless both have several seeds that differ.
    """

    value: float
    p: float | None


def difference(one: Estimate, other: Estimate) -> Difference:
    """Return how much greater one mean is than another, and how surely."""
    value = one.mean - other.mean
    if one.error is None or other.error is None or hypot(one.error, other.error) <= _ROUNDING:
        return Difference(value, None)
    squares = one.error**2, other.error**2
    freedom = sum(squares) ** 2 / (squares[0] ** 2 / (one.seeds - 1) + squares[1] ** 2 / (other.seeds - 1))
    return Difference(value, float(2 * stdtr(freedom, -abs(value) / sqrt(sum(squares)))))


def levels_of(
    figure: Figure, cells: Sequence[Cell], records: Mapping[str, Record], loose: Collection[str]
) -> list[Level]:
    """Return the records of a figure by their length and text: full length first, though it be empty.

    Of several texts at full length, the one with the most records is the figure's.

    Args:
        figure: of the paper.
        cells: all of it, at full length.
        records: all that there are, by digest.
        loose: digests of those that aren't cells of any figure at full length.
    """
    digests, boards = {cell.digest for cell in cells}, {row.board for row in figure.rows}
    lengths = {cell.config.steps for cell in cells} if has_levels(figure) else set[int]()
    found: dict[tuple[int | None, str | None], dict[str, Record]] = {}
    for digest, record in records.items():
        if record.config.board not in boards:
            continue
        planned = as_planned(record.config)
        if planned.digest in digests:
            found.setdefault((None, record.text), {})[planned.digest] = record
        for steps in lengths if digest in loose else ():
            whole = replace(planned, steps=steps).digest
            if whole in digests:
                found.setdefault((record.config.steps, record.text), {})[whole] = record
    levels = [Level(steps, each, text) for (steps, text), each in found.items()]
    full = sorted((each for each in levels if each.steps is None), key=lambda each: -len(each.records))
    shorter = sorted((each for each in levels if each.steps), key=lambda each: -(each.steps or 0))
    return [*(full or [Level(None, {})]), *shorter]


def summarise_rows(figure: Figure, cells: Sequence[Cell], level: Level) -> list[RowSummary]:
    """Return the results of each row of a figure.

    Of the points of the grid that ran with the most seeds, the one is chosen whose mean score on ``test``
    is the best; one of which a run diverged isn't chosen.

    Args:
        figure: of the paper.
        cells: all of it, at full length.
        level: the records to look at.
    """
    ran = [cell for cell in cells if cell.digest in level.records]
    return [_summarise(row, figure, [cell for cell in ran if cell.row is row], level) for row in figure.rows]


def _summarise(row: Row, figure: Figure, cells: Sequence[Cell], level: Level) -> RowSummary:
    """Return the results of a row, given its cells that ran."""
    board = read_board_once(row.board)
    sign = 1 if board.higher_is_better else -1
    split = SELECTION_SPLIT if SELECTION_SPLIT in board.splits else next(iter(board.splits))
    ran, scored = list[Runs](), list[tuple[int, float, Runs]]()
    for point in figure.points:
        records = tuple(level.records[cell.digest] for cell in cells if cell.point == point)
        if records:
            ran.append(Runs(row, point, records, board.metric))
            if score := ran[-1].estimate(split):
                scored.append((score.seeds, sign * score.mean, ran[-1]))
    none = Runs(row, None, (), board.metric)
    chosen = max(scored, key=lambda each: each[:2])[2] if scored else none
    return RowSummary(row, chosen.point, chosen.records, board.metric, tuple(ran))


@dataclass(frozen=True)
class Coverage:
    """How many runs of a figure there are.

    Attributes:
        done: of the recipe's point of the grid.
        planned: of it.
        grid_done: of all points.
        grid_planned: of them.
    """

    done: int
    planned: int
    grid_done: int
    grid_planned: int


@dataclass(frozen=True)
class FigureStanding:
    """How many runs of a figure are done, and the results of each row.

    Attributes:
        figure: of the paper.
        cells: all of it, at full length.
        levels: full length first.
        summaries: of the rows, by level.
    """

    figure: Figure
    cells: Sequence[Cell]
    levels: Sequence[Level]
    summaries: Sequence[Sequence[RowSummary]]

    @property
    def coverage(self) -> Coverage:
        """Of runs at full length."""
        records = self.levels[0].records
        first = [cell for cell in self.cells if cell.point == self.figure.points[0]]
        here, everywhere = (sum(cell.digest in records for cell in each) for each in (first, self.cells))
        return Coverage(here, len(first), everywhere, len(self.cells))

    @property
    def counts(self) -> tuple[str, str, str]:
        """Runs at full length, those of the whole grid, and those of other lengths, in words."""
        found = self.coverage
        lengths = (f"{len(level.records)} of {level.name}" for level in self.levels[1:])
        return (
            f"{found.done:,} of {found.planned:,}",
            f"{found.grid_done:,} of {found.grid_planned:,}",
            "; ".join(lengths),
        )


def standings_of(results: Path, *, figures: Figures = FIGURES) -> list[FigureStanding]:
    """Return how far all figures have come, by the records in a folder of results."""
    records = read_records(results)
    cells = {name: cells_of(figure) for name, figure in figures.items()}
    whole = {cell.digest for each in cells.values() for cell in each}
    loose = {name for name, record in records.items() if as_planned(record.config).digest not in whole}
    standings = []
    for name, figure in figures.items():
        levels = levels_of(figure, cells[name], records, loose)
        summaries = [summarise_rows(figure, cells[name], level) for level in levels]
        standings.append(FigureStanding(figure, cells[name], levels, summaries))
    return standings
