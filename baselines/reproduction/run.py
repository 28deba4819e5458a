"""Training cells, one after the other, for as long as there is time."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from baselines.config import LanguageConfig, RunConfig
from baselines.lm.corpus import Corpus
from baselines.reproduction.adopt import record_of
from baselines.reproduction.cells import Cell, Figures, ReadBoard, on_corpus, read_board_once
from baselines.reproduction.plan import operations_of
from baselines.reproduction.records import read_records, write_record
from baselines.reproduction.sets import FIGURES
from baselines.session import DEFAULT_SCORING, Scoring, Text, plan_run, train_plan
from baselines.table_a3 import TABLE_A3
from sraven.core.ground.errors import ConfigurationError
from sraven.core.system.lock import Lock

Wrote = Callable[[Cell, Path], None]
"""Is told of a record that was written."""

Tell = Callable[[Cell, int, Mapping[str, float] | None], None]
"""Is told which cell is trained, how many steps more were done, and what its log says of them."""


class Progress(NamedTuple):
    """What came of the time.

    Attributes:
        records: of the runs that ended, in order.
        stopped: the cell that is under way, if time was spent in one.
        left: cells that have no record yet, that one included.
    """

    records: tuple[Path, ...]
    stopped: Cell | None
    left: int


def in_order(cells: Iterable[Cell], read: ReadBoard = read_board_once) -> list[Cell]:
    """Return cells in the order in which they are trained, each once.

    The recipe's point of the grid comes first; within a point, one seed of every row before second seeds;
    within a seed, the cheapest first.
    """
    once = {cell.digest: cell for cell in cells}
    return sorted(
        once.values(),
        key=lambda cell: (
            not _is_recipe(cell),
            tuple(cell.point.values()),
            cell.config.seed,
            operations_of(cell.config, read).computed,
        ),
    )


def _is_recipe(cell: Cell) -> bool:
    return any(cell.point == paper.start for paper in TABLE_A3.values())


def on_text(cells: Sequence[Cell], text: Text | None) -> list[Cell]:
    """Return cells with the text that those of language modelling are trained on.

    Raises:
        ConfigurationError: if there are such, and no text, or none to score them by.
        OutputError: if it can't be read.
    """
    if not any(isinstance(cell.config, LanguageConfig) for cell in cells):
        return list(cells)
    if text is None or not text.data or not text.validation:
        raise ConfigurationError(
            "figure-6 is trained on text: name its tokens by --tokens DIR, and documents to score it by with "
            "--validation DIR; `sraven c4 prepare` makes both"
        )
    corpus = Corpus(*text.data)
    return [on_corpus(cell, corpus) for cell in cells]


def folder_of(runs: Path, config: RunConfig) -> Path:
    """Return the directory that a cell is trained in."""
    return runs / config.board / config.digest[:16]


def run_cells(
    cells: Sequence[Cell],
    runs: Path,
    results: Path,
    *,
    deadline: float = float("inf"),
    text: Text | None = None,
    scoring: Scoring = DEFAULT_SCORING,
    tell: Tell = lambda cell, steps, line: None,
    wrote: Wrote = lambda cell, path: None,
    clock: Callable[[], float] = time.monotonic,
    figures: Figures = FIGURES,
) -> Progress:
    """Train cells that have no record yet, in order, as `sraven train` does, and write their records.

    Interrupted or out of time, the same call goes on: a run from its last checkpoint.

    Args:
        cells: to train, in the order wanted.
        runs: a folder for run directories, held by one process at a time.
        results: folder of results.
        deadline: on the clock; a run that is under way then stops there, with a checkpoint.
        text: that cells of language modelling are trained on, and scored by; None if there are none.
        scoring: of the runs while they train.
        tell: is told how training goes.
        wrote: is told of each record.
        clock: seconds.
        figures: all of them: a record lies with the first that has the run.

    Raises:
        ConfigurationError: for a cell of language modelling without text.
        OutputError: if another process trains there.
        OSError: if writing fails.
    """
    known = read_records(results)
    todo = [cell for cell in on_text(cells, text) if cell.digest not in known]
    written: list[Path] = []

    def is_late() -> bool:
        return clock() >= deadline

    with Lock(runs, stays=True):
        for place, cell in enumerate(todo):
            if is_late():
                return Progress(tuple(written), None, len(todo) - place)
            folder = folder_of(runs, cell.config)
            words = text if isinstance(cell.config, LanguageConfig) else None
            plan = plan_run(cell.config, folder, scoring, words)
            (outcome,) = train_plan(plan, progress=partial(tell, cell), stop=is_late).outcomes
            if outcome.stopped:
                return Progress(tuple(written), cell, len(todo) - place)
            record = record_of(folder, documents=words.validation if words else ())
            written.append(write_record(results, record, figures))
            wrote(cell, written[-1])
    return Progress(tuple(written), None, 0)
