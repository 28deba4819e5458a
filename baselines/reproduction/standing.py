"""How far each figure has come, by the records in a folder of results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baselines.reproduction.cells import Cell, Figures, ReadBoard, as_planned, cells_of, read_board_once
from baselines.reproduction.records import paths_of, read_records
from baselines.reproduction.sets import FIGURES, Figure
from baselines.reproduction.summaries import Coverage, Level, RowSummary, coverage_of, levels_of, summarise


@dataclass(frozen=True)
class FigureStanding:
    """How far a figure has come, and what came of each row.

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
        return coverage_of(self.figure, self.cells, self.levels[0])


def standings_of(
    results: Path, *, figures: Figures = FIGURES, read: ReadBoard = read_board_once
) -> list[FigureStanding]:
    """Return how far all figures have come, by the records in a folder of results."""
    records = read_records(results)
    links = {digest: path.relative_to(results).as_posix() for digest, path in paths_of(results).items()}
    cells = {name: cells_of(figure, read=read) for name, figure in figures.items()}
    whole = {cell.digest for each in cells.values() for cell in each}
    loose = {name for name, record in records.items() if as_planned(record.config, read).digest not in whole}
    standings = []
    for name, figure in figures.items():
        levels = levels_of(figure, cells[name], records, loose, read)
        summaries = [summarise(figure, cells[name], level, read) for level in levels]
        standings.append(FigureStanding(figure, cells[name], levels, summaries, links))
    return standings
