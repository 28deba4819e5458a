"""Standing of the figures: runs that have records, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baselines.reproduction.cells import Cell, Figures, as_planned, cells_of
from baselines.reproduction.records import paths_of, read_records
from baselines.reproduction.sets import FIGURES, Figure
from baselines.reproduction.summaries import Level, RowSummary, levels_of, summarise_rows


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
        links: to the records, by digest.
    """

    figure: Figure
    cells: Sequence[Cell]
    levels: Sequence[Level]
    summaries: Sequence[Sequence[RowSummary]]
    links: Mapping[str, str]

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
    links = {digest: path.relative_to(results).as_posix() for digest, path in paths_of(results).items()}
    cells = {name: cells_of(figure) for name, figure in figures.items()}
    whole = {cell.digest for each in cells.values() for cell in each}
    loose = {name for name, record in records.items() if as_planned(record.config).digest not in whole}
    standings = []
    for name, figure in figures.items():
        levels = levels_of(figure, cells[name], records, loose)
        summaries = [summarise_rows(figure, cells[name], level) for level in levels]
        standings.append(FigureStanding(figure, cells[name], levels, summaries, links))
    return standings
