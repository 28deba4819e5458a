"""The training loop: chunks of steps, checkpoints, a log; an interrupted run goes on where it was.

Runs of one shape train in one program, on the same batches: seeds, and the points of a grid.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental.multihost_utils import sync_global_devices
from jax.sharding import Mesh

from baselines.config import RunConfig
from baselines.train.ahead import take_steps
from baselines.train.checkpoint import Checkpoints, open_checkpoints
from baselines.train.code import code_digest, code_files
from baselines.train.compilation_cache import keep_programs
from baselines.train.directory import check_run_folder, claim
from baselines.train.experiment import Experiment, MakeExperiment, board_experiment
from baselines.train.log import Log
from baselines.train.optim import VARIED, Hyperparams, shape_of
from baselines.train.processes import note, within_memory
from baselines.train.provenance import leave_record
from baselines.train.result import write_result
from baselines.train.saving import Saver, Schedule
from baselines.train.sharding import make_mesh
from baselines.train.step import Program, State, StepReport
from sraven.core.errors import ConfigurationError

OnSteps = Callable[[int, Mapping[str, float] | None], None]
"""Is called with how many more steps were done, over all runs, and their line of the log, of means over the
runs; None for steps that were done before."""


class DivergenceError(RuntimeError):
    """A loss is NaN or infinite; the last checkpoint is from before that."""


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        state: the last one, or that of the last checkpoint if the run diverged.
        report: the last line of its log, without scores; None if all steps had been done before.
        diverged: the last step whose loss was a number, or None if all are.
        stopped: whether ``stop`` ended it before its last step; there is a checkpoint to go on from.
    """

    state: State
    report: Mapping[str, float] | None
    diverged: int | None
    stopped: bool = False


@dataclass
class _Run:
    """A run in training."""

    config: RunConfig
    folder: Path
    checkpoints: Checkpoints
    log: Log | None = None
    report: Mapping[str, float] | None = None
    outcome: Outcome | None = None


def hyper_of(configs: Sequence[RunConfig]) -> Hyperparams:
    """Return what differs between runs in one program, as arrays."""
    return Hyperparams(
        *(np.array([getattr(each, name) for each in configs], np.float32) for name in Hyperparams._fields)
    )


def train_runs(
    configs: Sequence[RunConfig],
    folders: Sequence[Path],
    *,
    mesh: Mesh | None = None,
    make_experiment: MakeExperiment = board_experiment,
    save_every: int | None = None,
    save_minutes: float | None = None,
    progress: OnSteps = lambda steps, report: None,
    stop: Callable[[], bool] | None = None,
) -> list[Outcome]:
    """Train runs together, or go on with them, to their last step.

    Batches depend on the step alone, and dropout on seed and step: a run that was interrupted ends
    in the same parameters, bit for bit on the same devices, as one that wasn't. Runs at the same step
    go on together.

    Args:
        configs: of the runs; they differ in seed, learning rate, weight decay and warm-up alone.
        folders: a directory for each: configuration, log, checkpoints, and in the end the result.
        mesh: devices to train each run on; None for one, or all of several processes, which call this alike
            and share the file system.
        make_experiment: returns what is trained, given a configuration and the mesh.
        save_every: steps between checkpoints, a multiple of the steps of a chunk; None for any number.
        save_minutes: minutes between checkpoints, if those steps take longer; None for what fits, see
            `baselines.train.saving.Schedule`.
        progress: is called as training goes.
        stop: called after every chunk of steps: whether to stop there, with a checkpoint; None for never.

    Returns:
        how each run ended. One that diverges ends there; the others go on.

    Raises:
        ConfigurationError: if the runs differ in more, or fit neither board nor mesh.
        OutputError: if a directory holds something else, is being trained in by another process, or has
            checkpoints of which none is whole.
        CapacityError: (a ConfigurationError) if the device has too little memory.
        OSError: if writing fails, as on a full disk; the same call again goes on from the last checkpoint.
    """
    if len(set(map(shape_of, configs))) > 1:
        raise ConfigurationError(f"runs in one program differ in {', '.join(VARIED)} alone")
    # All checks come before anything is written.
    mesh = mesh or make_mesh()
    keep_programs(mesh)
    experiment = make_experiment(configs[0], mesh)
    if save_every is not None and save_every % experiment.steps_at_once:
        raise ConfigurationError(
            f"save_every={save_every:,}: expected a multiple of {experiment.steps_at_once}, the steps that "
            "are taken at once"
        )
    program = experiment.program
    target = program.target  # traced here: what a network refuses is refused before anything is written
    for config, folder in zip(configs, folders, strict=True):
        check_run_folder(folder, config)
    sync_global_devices("run directories are checked")  # none is half made when another process looks
    if configs[0].code != code_digest():
        raise ConfigurationError(f"code={configs[0].code!r}: what was imported has {code_digest()!r}")
    with claim(folders, configs, {**experiment.files, **code_files()}):
        sync_global_devices("run directories are there")
        runs = [
            _Run(config, folder, open_checkpoints(folder, config))
            for config, folder in zip(configs, folders, strict=True)
        ]
        by_step: dict[int, list[tuple[_Run, State]]] = defaultdict(list)
        for run in runs:
            step, state = _start(run, program, target)
            by_step[step].append((run, state))
        for step in sorted(by_step):
            together, states = zip(*by_step.pop(step), strict=True)
            schedule = Schedule(step, configs[0].steps, save_every, save_minutes, stop)
            with within_memory(configs[0], len(together)), _open_logs(together, step, mesh):
                _train(experiment, together, step, program.stack(states), schedule, progress)
        if jax.process_index() == 0:
            for run in runs:
                if run.outcome is not None and not run.outcome.stopped:
                    write_result(run.folder, run.config, run.outcome.diverged)
    return [run.outcome for run in runs if run.outcome is not None]


def _start(run: _Run, program: Program, target: State) -> tuple[int, State]:
    """Return the step and the state that a run goes on from."""
    restored = run.checkpoints.restore(lambda: target)
    if restored is None:
        return 0, program.begin(np.uint32(run.config.seed))
    if restored.remarks:
        note(f"{restored.remarks}; going on from step {restored.step:,}")
    return restored.step, restored.state


@contextmanager
def _open_logs(runs: Sequence[_Run], step: int, mesh: Mesh) -> Iterator[None]:
    """Let process 0 open the log of each run from a step on, and write down who trains it."""
    with ExitStack() as stack:
        for run in runs if jax.process_index() == 0 else ():
            run.log = stack.enter_context(closing(Log(run.folder, step)))
            if step < run.config.steps:
                leave_record(run.folder, mesh)
        yield


def _train(
    experiment: Experiment,
    runs: Sequence[_Run],
    step: int,
    kept: State,
    schedule: Schedule,
    progress: OnSteps,
) -> None:
    """Train runs in one program, to their last step or until all have diverged; set their outcomes.

    Args:
        experiment: what they train.
        runs: all at the same step.
        step: where they are.
        kept: their states there, stacked: those of the last checkpoints.
        schedule: of checkpoints.
        progress: is called as training goes.
    """
    program, alive = experiment.program, dict(enumerate(runs))
    hypers = hyper_of([run.config for run in runs])
    steps, read_at = range(step, runs[0].config.steps, experiment.steps_at_once), time.perf_counter()
    taken = take_steps(experiment, program.copy(kept), hypers, steps, schedule)
    progress(step * len(runs), None)
    with Saver(program.unstack) as saver, closing(taken):
        for each in taken:
            means = jax.tree.map(lambda values: np.asarray(values).mean(axis=1), each.reports)
            count, now = len(runs) * (each.step - each.first), time.perf_counter()
            speed, read_at = count / (now - read_at), now
            for place, after in _diverged(each.reports, each.first):
                if run := alive.pop(place, None):
                    run.outcome = Outcome(program.unstack(kept, place), run.report, after)
            if not alive:
                break
            for place, run in alive.items():
                run.report = experiment.describe(_mean(means, [place]), speed)
                scores = None
                if each.is_scored and experiment.evaluate is not None:
                    scores = experiment.evaluate(program.unstack(each.states, place).params)
                if run.log is not None:
                    run.log.add(each.step, run.report, scores)
            if each.is_saved:
                saver.save(each.step, each.states, {place: run.checkpoints for place, run in alive.items()})
                kept = each.states
            saver.check()
            progress(count, experiment.describe(_mean(means, list(alive)), speed))
            del each  # its states, before the next are copied
    for place, run in alive.items():
        state = program.unstack(kept, place)
        run.outcome = Outcome(state, run.report, None, stopped=int(state.step) < steps.stop)


def _diverged(reports: StepReport, first: int) -> Iterator[tuple[int, int]]:
    """Yield the places of runs with a loss or gradient that isn't finite, and how many steps came before."""
    finite_RS = np.isfinite(np.asarray(reports.loss)) & np.isfinite(np.asarray(reports.gradient_norm))
    for place in np.flatnonzero(~finite_RS.all(axis=1)):
        yield int(place), first + int(np.argmin(finite_RS[place]))


def _mean(means: StepReport, places: list[int]) -> StepReport:
    """Return the mean over some runs of what each reports."""
    return StepReport(*(float(values[places].mean()) for values in means))


def train(config: RunConfig, folder: Path, **options: Any) -> State:
    """Train one run, or go on with it, to its last step.

    Args:
        config: of the run.
        folder: its directory.
        options: as of `train_runs`.

    Returns:
        the last state.

    Raises:
        OutputError: if the directory holds something else.
        DivergenceError: if a loss or gradient is no longer a number.
    """
    (outcome,) = train_runs([config], [folder], **options)
    if outcome.diverged is not None:
        raise DivergenceError(describe_divergence(outcome))
    return outcome.state


def describe_divergence(outcome: Outcome) -> str:
    """Say what happened to a run that diverged."""
    return (
        f"loss or gradient is no number after step {outcome.diverged}; the last checkpoint is of "
        f"{int(outcome.state.step)}"
    )
