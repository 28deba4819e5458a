"""Training cells, one after the other or some at a time, for as long as there is time.

On processors a run is a job; on GPUs a job is a program, of all runs that can share one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from baselines.config import LanguageConfig, RunConfig, check_warmup
from baselines.lm.corpus import Corpus
from baselines.lm.train import Text
from baselines.paper.adopt import record_of
from baselines.paper.cells import Cell, Figures
from baselines.paper.devices import RUNS_IN_A_PROGRAM, Gpu, shared, take_gpu
from baselines.paper.figures import FIGURES
from baselines.paper.plan import operations_of
from baselines.paper.records import read_records, write_record
from baselines.session import DEFAULT_SCORING, OnBoard, ScoringOptions
from baselines.table_a3 import TABLE_A3
from baselines.train.experiment import board_of
from baselines.train.optim import shape_of
from baselines.train.sharding import make_mesh
from baselines.train.train import OnSteps, train_runs
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.data.engines.jobs import HERE, map_jobs
from sraven.data.engines.processes import asked_to_end, leave_signals_to_parent, take_processors
from sraven.files.lock import Lock

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
        order = cell.config.seed, operations_of(cell.config)
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


def programs_of(cells: Iterable[Cell], devices: int = 1, most: int = RUNS_IN_A_PROGRAM) -> list[list[Cell]]:
    """Return cells by the program that trains them, in the order of the first of each.

    Cells that differ in their seed and in what a grid varies alone share one, but for text, whose memory that
    would take. If there are fewer programs than devices, the largest are halved.

    Args:
        cells: in the order wanted.
        devices: that programs are trained on.
        most: runs in a program.
    """
    alike: dict[RunConfig, list[list[Cell]]] = {}
    programs: list[list[Cell]] = []
    for cell in cells:
        found = alike.setdefault(shape_of(cell.config), [])
        if not found or len(found[-1]) == (1 if isinstance(cell.config, LanguageConfig) else most):
            found.append([])
            programs.append(found[-1])
        found[-1].append(cell)
    while len(programs) < devices and (largest := max(programs, key=len, default=[]))[1:]:
        place, half = programs.index(largest), -(-len(largest) // 2)
        programs[place : place + 1] = [largest[:half], largest[half:]]
    return programs


class Training(NamedTuple):
    """How cells are trained.

    Attributes:
        runs: a folder for run directories, held by one process at a time.
        results: folder of results.
        text: that cells of language modelling are trained on, and scored by; None if there are none.
        scoring: of the runs while they train.
        save_minutes: between checkpoints; None for what fits.
        mesh: of devices, for each run, such as ``data=8``; None for one device.
        stop: whether to end early: runs that are under way then do, with a checkpoint.
        figures: all of them: a record lies with the first that has the run.
    """

    runs: Path
    results: Path
    text: Text | None = None
    scoring: ScoringOptions = DEFAULT_SCORING
    save_minutes: float | None = None
    mesh: str | None = None
    stop: Callable[[], bool] = lambda: False
    figures: Figures = FIGURES


class _Result(NamedTuple):
    """The end of a cell: the path of its record, None if time was up before; whether training has begun."""

    cell: Cell
    record: Path | None
    is_under_way: bool = False


def _train_cells(training: Training, cells: Sequence[Cell], on_progress: OnSteps) -> list[_Result]:
    """Train cells in one program, or in two of half the size if the device has no memory for it."""
    if training.stop():
        return [_Result(cell, None) for cell in cells]
    configs = [check_warmup(cell.config) for cell in cells]
    folders = [folder_of(training.runs, config) for config in configs]
    text = training.text if isinstance(configs[0], LanguageConfig) else None
    make_experiment = (text or OnBoard(board_of(configs[0]))).experiment(training.scoring)
    options: dict[str, Any] = {"stop": training.stop, "save_minutes": training.save_minutes}
    if training.mesh:
        options["mesh"] = make_mesh(training.mesh)
    try:
        outcomes = train_runs(
            configs, folders, make_experiment=make_experiment, progress=on_progress, **options
        )
    except CapacityError:
        if len(cells) == 1:
            raise
        half = len(cells) // 2
        return [
            result
            for part in (cells[:half], cells[half:])
            for result in _train_cells(training, part, on_progress)
        ]
    results = []
    for cell, folder, outcome in zip(cells, folders, outcomes, strict=True):
        # To score a run takes a minute, which there isn't when time is up.
        if outcome.stopped or training.stop():
            results.append(_Result(cell, None, is_under_way=True))
            continue
        record = record_of(folder, documents=text.validation if text else ())
        results.append(_Result(cell, write_record(training.results, record, training.figures)))
    return results


def _train_apart(
    training: Training,
    gpus: tuple[Gpu, ...],
    workers: int,
    cells: Sequence[Cell],
    progress: Callable[[int, int], None],
) -> list[_Result]:
    """Train cells in a process that has its part of the processors, and a part of a GPU if there are GPUs."""
    leave_signals_to_parent()
    take_processors(workers)
    if gpus:
        take_gpu(gpus, workers)
    return _train_cells(training, cells, lambda steps, line: progress(steps, 0))


def run_cells(
    cells: Sequence[Cell],
    runs: Path,
    results: Path,
    *,
    jobs: int = 1,
    gpus: tuple[Gpu, ...] = (),
    on_progress: OnCellSteps = lambda cell, steps, line: None,
    wrote: Wrote = lambda cell, path: None,
    **how: Any,
) -> CellProgress:
    """Train cells that have no record yet, in order, as `sraven train` does, and write their records.

    Interrupted or out of time, the same call goes on: a run from its last checkpoint.

    Args:
        cells: to train, in the order wanted.
        runs: a folder for run directories.
        results: folder of results.
        jobs: cells at a time, at most. With more than one, each has a process and an equal part of the
            processors: two runs on a processor each do more steps in all than one run on both.
        gpus: to train on, in their place: several runs in a program, several programs on each.
        on_progress: is called as training goes.
        wrote: is called with each record.
        how: other fields of `Training`.

    Raises:
        ConfigurationError: for a cell of language modelling without text.
        OutputError: if another process trains there.
        CapacityError: if a device has no memory for a single run.
        OSError: if writing fails, or a process died.
    """
    known = read_records(results)
    training = Training(runs.absolute(), results.absolute(), **how)
    todo = [cell for cell in with_text(cells, training.text) if cell.digest not in known]
    done: list[_Result] = []
    programs = programs_of(todo, len(gpus)) if gpus else [[cell] for cell in todo]

    def keep(ended: Sequence[_Result]) -> None:
        for result in ended:
            done.append(result)
            if result.record:
                wrote(result.cell, result.record)

    with Lock(runs, stays=True), shared(gpus, len(programs)) as programs_on_a_gpu:
        workers = len(gpus) * programs_on_a_gpu or min(jobs, len(programs))
        if gpus or workers > 1:
            map_jobs(
                partial(_train_apart, training._replace(stop=asked_to_end), gpus, workers),
                programs,
                lambda steps, _: on_progress(None, steps, None),
                engine=HERE,
                local="apart",
                folder=training.runs,
                workers=workers,
                keep=keep,
                is_ending=training.stop,
            )
        else:
            for program in programs:
                keep(_train_cells(training, program, partial(on_progress, program[0])))
    records = tuple(result.record for result in done if result.record)
    under_way = tuple(result.cell for result in done if result.is_under_way)
    return CellProgress(records, under_way, len(todo) - len(records))
