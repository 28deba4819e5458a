"""Training cells, one after the other or some at a time, for as long as there is time."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from baselines.config import LanguageConfig, RunConfig
from baselines.lm.corpus import Corpus
from baselines.reproduction.adopt import record_of
from baselines.reproduction.cells import Cell, Figures
from baselines.reproduction.plan import operations_of
from baselines.reproduction.records import read_records, write_record
from baselines.reproduction.sets import FIGURES
from baselines.session import DEFAULT_SCORING, ScoringOptions, Text, plan_run, train_plan
from baselines.table_a3 import TABLE_A3
from sraven.core.base.errors import ConfigurationError
from sraven.core.engines.jobs import HERE, map_jobs
from sraven.core.engines.processes import take_processors
from sraven.core.system.lock import Lock

Wrote = Callable[[Cell, Path], None]
"""Is called with a record that was written."""

OnCellSteps = Callable[[Cell | None, int, Mapping[str, float] | None], None]
"""Is called with the cell that is trained, None if several are, how many more steps were done, and a
line of its log."""


class CellProgress(NamedTuple):
    """What a call of `run_cells` has done.

    Attributes:
        records: of the runs that ended, in order.
        stopped: cells that it has begun, and that aren't finished.
        left: how many have no record yet, the stopped ones included.
    """

    records: tuple[Path, ...]
    stopped: tuple[Cell, ...]
    left: int


def training_order(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells in the order in which they are trained, each once.

    The recipe's point of the grid comes first; within a point, one seed of every row before second seeds;
    within a seed, the cheapest first.
    """
    once = {cell.digest: cell for cell in cells}
    starts = [paper.start for paper in TABLE_A3.values()]

    def place(cell: Cell) -> tuple[Any, ...]:
        order = cell.config.seed, operations_of(cell.config).computed
        return cell.point not in starts, tuple(cell.point.values()), *order

    return sorted(once.values(), key=place)


def with_text(cells: Sequence[Cell], text: Text | None) -> list[Cell]:
    """Return cells, with a text in the configurations of those of language modelling.

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
    of_text = {"corpus": corpus.digest, "vocabulary": corpus.tokenizer["pieces"]}
    return [
        replace(cell, config=replace(cell.config, **of_text))
        if isinstance(cell.config, LanguageConfig)
        else cell
        for cell in cells
    ]


def folder_of(runs: Path, config: RunConfig) -> Path:
    """Return the directory that a cell is trained in."""
    return runs / config.board / config.digest[:16]


class _Training(NamedTuple):
    """How cells are trained: the arguments of `run_cells`, but for the cells."""

    runs: Path
    results: Path
    deadline: float
    text: Text | None
    scoring: ScoringOptions
    clock: Callable[[], float]
    figures: Figures

    def is_late(self) -> bool:
        return self.clock() >= self.deadline


class _Result(NamedTuple):
    """The end of a cell: the path of its record, None if time was up before; whether training has begun."""

    cell: Cell
    record: Path | None
    is_under_way: bool = False


def _train_cell(
    training: _Training, cell: Cell, on_progress: Callable[[int, Mapping[str, float] | None], None]
) -> _Result:
    if training.is_late():
        return _Result(cell, None)
    folder = folder_of(training.runs, cell.config)
    words = training.text if isinstance(cell.config, LanguageConfig) else None
    plan = plan_run(cell.config, folder, training.scoring, words)
    (outcome,) = train_plan(plan, progress=on_progress, stop=training.is_late).outcomes
    if outcome.stopped:
        return _Result(cell, None, is_under_way=True)
    record = record_of(folder, documents=words.validation if words else ())
    return _Result(cell, write_record(training.results, record, training.figures))


def _train_apart(training: _Training, jobs: int, cell: Cell, progress: Callable[[int, int], None]) -> _Result:
    """Train a cell in a process that has its part of the processors."""
    take_processors(jobs)
    return _train_cell(training, cell, lambda steps, line: progress(steps, 0))


def run_cells(
    cells: Sequence[Cell],
    runs: Path,
    results: Path,
    *,
    jobs: int = 1,
    deadline: float = float("inf"),
    text: Text | None = None,
    scoring: ScoringOptions = DEFAULT_SCORING,
    on_progress: OnCellSteps = lambda cell, steps, line: None,
    wrote: Wrote = lambda cell, path: None,
    clock: Callable[[], float] = time.monotonic,
    figures: Figures = FIGURES,
) -> CellProgress:
    """Train cells that have no record yet, in order, as `sraven train` does, and write their records.

    Interrupted or out of time, the same call goes on: a run from its last checkpoint.

    Args:
        cells: to train, in the order wanted.
        runs: a folder for run directories, held by one process at a time.
        results: folder of results.
        jobs: cells at a time, at most. With more than one, each has a process and an equal part of the
            processors: two runs on a processor each do more steps in all than one run on both.
        deadline: on the clock; runs that are under way then stop there, with a checkpoint.
        text: that cells of language modelling are trained on, and scored by; None if there are none.
        scoring: of the runs while they train.
        on_progress: is called as training goes.
        wrote: is called with each record.
        clock: seconds.
        figures: all of them: a record lies with the first that has the run.

    Raises:
        ConfigurationError: for a cell of language modelling without text.
        OutputError: if another process trains there.
        OSError: if writing fails, or a process died.
    """
    known = read_records(results)
    todo = [cell for cell in with_text(cells, text) if cell.digest not in known]
    training = _Training(runs.absolute(), results.absolute(), deadline, text, scoring, clock, dict(figures))
    done: list[_Result] = []
    jobs = min(jobs, len(todo))

    def keep(result: _Result) -> None:
        done.append(result)
        if result.record:
            wrote(result.cell, result.record)

    with Lock(runs, stays=True):
        if jobs <= 1:
            for cell in todo:
                keep(_train_cell(training, cell, partial(on_progress, cell)))
        else:
            map_jobs(
                partial(_train_apart, training, jobs),
                todo,
                lambda steps, _: on_progress(None, steps, None),
                engine=HERE,
                local="processes",
                folder=training.runs,
                workers=jobs,
                keep=keep,
            )
    records = tuple(result.record for result in done if result.record)
    under_way = tuple(result.cell for result in done if result.is_under_way)
    return CellProgress(records, under_way, len(todo) - len(records))
