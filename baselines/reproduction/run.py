"""Training cells, one after the other, for as long as there is time; and adopting runs trained before."""

import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from baselines.config import LanguageConfig, RunConfig
from baselines.reproduction.cells import Cell, Figures, ReadBoard, homes_of, read_board_once
from baselines.reproduction.plan import operations_of
from baselines.reproduction.records import path_of, read_records, record_of, write_record
from baselines.reproduction.sets import FIGURES
from baselines.run_directory import read_run
from sraven.core.compute.bench import machine
from sraven.core.ground.errors import ConfigurationError, OutputError
from sraven.core.system.lock import Lock

SAVE_EVERY = 1000
"""Steps between checkpoints, and between looks at the clock."""

Wrote = Callable[[Cell, Path], None]
"""Is told of a record that was written."""

Tell = Callable[[Cell, int, Mapping[str, float] | None], None]
"""Is told which cell is trained, how many steps more were done, and what its log says of them."""


class Provenance(NamedTuple):
    """Where runs come from, as far as it is known.

    Attributes:
        commit: of the code.
        machine: that they were trained on.
    """

    commit: str | None = None
    machine: Mapping[str, Any] | None = None


UNKNOWN = Provenance()
"""Of runs of which nobody wrote it down."""


def provenance_here() -> Provenance:
    """Return what is known of runs that are trained here and now: the checkout's commit, and the machine."""
    import jax

    root = Path(__file__).parents[2]
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    packages = ("baselines", "sraven", "fuzzylogic", "cli")
    if commit and _git(root, "status", "--porcelain", "--untracked-files=no", "--", *packages):
        commit += " with changes"
    return Provenance(commit, {**machine(), "device": jax.devices()[0].device_kind})


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says of the checkout that this code is in; None if it says nothing."""
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        found = subprocess.run(  # noqa: S603  # words of ours, no shell
            command, capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


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


class _TimeIsUpError(Exception):
    """The budget is spent, and a checkpoint has just been written."""


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
    from baselines.recipes import TABLE_A3

    return any(cell.point == paper.start for paper in TABLE_A3.values())


def folder_of(runs: Path, config: RunConfig) -> Path:
    """Return the directory that a cell is trained in."""
    return runs / config.board / config.digest[:16]


def run_cells(
    cells: Sequence[Cell],
    runs: Path,
    results: Path,
    *,
    deadline: float = float("inf"),
    provenance: Provenance = UNKNOWN,
    tell: Tell = lambda cell, steps, line: None,
    wrote: Wrote = lambda cell, path: None,
    clock: Callable[[], float] = time.monotonic,
    save_every: int = SAVE_EVERY,
    figures: Figures = FIGURES,
    read: ReadBoard = read_board_once,
) -> Progress:
    """Train cells that have no record yet, in order, and write their records.

    Interrupted or out of time, the same call goes on: a run from its last checkpoint.

    Args:
        cells: to train, in the order wanted.
        runs: a folder for run directories, held by one process at a time.
        results: folder of results.
        deadline: on the clock; a run stops at the first checkpoint after it.
        provenance: of what is trained.
        tell: is told how training goes.
        wrote: is told of each record.
        clock: seconds.
        save_every: steps between checkpoints.
        figures: all of them: a record lies with the first that has the run.
        read: returns a board, given its id.

    Raises:
        ConfigurationError: for a cell of language modelling.
        OutputError: if another process trains there.
        OSError: if writing fails.
    """
    for cell in cells:
        if isinstance(cell.config, LanguageConfig):
            raise ConfigurationError(
                "figure-6 is trained on text, which has to be prepared: `sraven c4 prepare`, then "
                f"`sraven train c4-v1 --attention {cell.config.attention} --data TOKENS --out RUN`"
            )
    known = read_records(results)
    todo = [cell for cell in cells if cell.digest not in known]
    written: list[Path] = []
    with Lock(runs, stays=True):
        for place, cell in enumerate(todo):
            if clock() >= deadline:
                return Progress(tuple(written), None, len(todo) - place)
            folder = folder_of(runs, cell.config)
            diverged = False
            try:
                diverged = _train(cell, folder, save_every, lambda: clock() >= deadline, tell)
            except _TimeIsUpError:
                return Progress(tuple(written), cell, len(todo) - place)
            record = record_of(folder, diverged=diverged, read=read, **provenance._asdict())
            written.append(write_record(results, record, figures))
            wrote(cell, written[-1])
    return Progress(tuple(written), None, 0)


def _train(cell: Cell, folder: Path, save_every: int, is_late: Callable[[], bool], tell: Tell) -> bool:
    """Train a run to its end, or to the first checkpoint when it is late; tell whether it diverged."""
    from baselines.train import DivergenceError, train

    done = 0

    def look_at_the_clock(steps: int, line: Mapping[str, float] | None) -> None:
        nonlocal done
        before, done = done, done + steps
        tell(cell, steps, line)
        saved = line is not None and done // save_every > before // save_every
        if saved and done < cell.config.steps and is_late():
            raise _TimeIsUpError

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        train(cell.config, folder, save_every=save_every, progress=look_at_the_clock)
    except DivergenceError:
        return True
    return False


def adopt(
    folder: Path,
    results: Path,
    *,
    provenance: Provenance = UNKNOWN,
    again: bool = False,
    figures: Figures = FIGURES,
    read: ReadBoard = read_board_once,
) -> tuple[Path, bool]:
    """Make a record of a finished run whose configuration is a cell's, or a shorter one's.

    Args:
        folder: the run's directory.
        results: folder of results.
        provenance: of the run.
        again: whether a record that is there is made anew.
        figures: all of them.
        read: returns a board, given its id.

    Returns:
        where the record is, and whether it is new.

    Raises:
        ConfigurationError: if it is no cell.
        OutputError: if it isn't finished.
    """
    config = read_run(folder)
    homes = homes_of(config, figures, read)
    if not homes and not isinstance(config, LanguageConfig):
        raise OutputError(f"{folder} is no cell of the paper's figures: {_why_not(config, figures, read)}")
    path = path_of(results, homes[0], config) if homes else results
    if homes and path.is_file() and not again:
        return path, False
    record = record_of(folder, read=read, **provenance._asdict())
    return write_record(results, record, figures), True


def _why_not(config: RunConfig, figures: Figures, read: ReadBoard) -> str:
    """Say in which fields a configuration differs from the cell that is nearest to it."""
    from baselines.reproduction.cells import cells_of

    nearest: list[str] | None = None
    for figure in figures.values():
        if config.board not in {row.board for row in figure.rows}:
            continue
        for cell in cells_of(figure, read=read):
            differing = [
                f"{name}={getattr(config, name)!r}, not {value!r}"
                for name, value in vars(cell.config).items()
                if getattr(config, name) != value
            ]
            if nearest is None or len(differing) < len(nearest):
                nearest = differing
    return (
        f"none is on {config.board}" if nearest is None else f"the nearest has another {'; '.join(nearest)}"
    )
