"""The training loop: chunks of steps, checkpoints, a log; an interrupted run goes on where it was.

Runs of one shape train in one program, on the same batches: seeds, and the points of a grid.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental.multihost_utils import sync_global_devices
from jax.sharding import Mesh
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.runs.checkpoint import Checkpoints
from baselines.runs.code import code_digest, code_files
from baselines.runs.directory import check_run_folder, claim, open_checkpoints, restore_run
from baselines.runs.log import LOG, Log, Scores
from baselines.runs.provenance import leave_record
from baselines.runs.result import write_result
from baselines.runs.sinks import SINKS
from baselines.training.compilation_cache import keep_programs
from baselines.training.compiled import Compiled
from baselines.training.experiment import Experiment, MakeExperiment, board_experiment
from baselines.training.feed import prefetch
from baselines.training.memory import within_memory
from baselines.training.optim import Hyperparams
from baselines.training.processes import note
from baselines.training.saving import Saver, Schedule
from baselines.training.sharding import make_mesh
from baselines.training.step import State, StepReport
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
    sinks: Sequence[str] = (),
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
        mesh: devices to train each run on; None for one, and then as many as divide the runs take a part of
            them each. With several processes, all call this alike, and share the file system.
        make_experiment: returns what is trained, given a configuration and the mesh.
        save_every: steps between checkpoints, a multiple of the steps of a chunk; None for any number.
        save_minutes: minutes between checkpoints, if those steps take longer; None for what fits, see
            `baselines.training.saving.Schedule`.
        sinks: names of `baselines.runs.sinks.SINKS`, where lines of the log go as well.
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
    alike = {name: getattr(configs[0], name) for name in ("seed", *Hyperparams._fields)}
    if any(replace(config, **alike) != configs[0] for config in configs):
        raise ConfigurationError(f"runs in one program differ in {', '.join(alike)} alone")
    # All checks come before anything is written.
    devices = jax.devices() if mesh is None and jax.process_count() == 1 else []
    mesh = mesh or make_mesh()
    keep_programs(mesh)
    experiment = make_experiment(configs[0], mesh)
    if save_every is not None and save_every % experiment.steps_at_once:
        raise ConfigurationError(
            f"save_every={save_every:,}: expected a multiple of {experiment.steps_at_once}, the steps that "
            "are taken at once"
        )
    compiled = Compiled(experiment, mesh)
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
            step, state = _start(run, compiled)
            by_step[step].append((run, state))
        last = configs[0].steps
        for step in sorted(by_step):
            schedule = Schedule(step, last, save_every, save_minutes, stop)
            members = by_step.pop(step)
            apart = devices[: most_that_divide(len(members), len(devices))]
            spread = Compiled(experiment, mesh, apart) if len(apart) > 1 else compiled
            with within_memory(configs[0], len(members)):
                _Group(experiment, spread, mesh, step, members).train(last, schedule, sinks, progress)
        if jax.process_index() == 0:
            for run in runs:
                if run.outcome is not None and not run.outcome.stopped:
                    write_result(run.folder, run.config, run.outcome.diverged)
    return [run.outcome for run in runs if run.outcome is not None]


def most_that_divide(runs: int, devices: int) -> int:
    """Return how many devices take as many runs each."""
    return max((some for some in range(1, devices + 1) if runs % some == 0), default=0)


def _start(run: _Run, compiled: Compiled) -> tuple[int, State]:
    """Return the step and the state that a run goes on from."""
    restored = restore_run(run.checkpoints, run.config, lambda: compiled.target)
    if restored is None:
        return 0, compiled.initialise(np.uint32(run.config.seed))
    if restored.remarks:
        note(f"{restored.remarks}; going on from step {restored.step:,}")
    return restored.step, restored.state


class _Chunk(NamedTuple):
    """Steps that were dispatched to the device.

    Attributes:
        before: steps done before them.
        step: steps done after them.
        reports: ``[R, S]``, once the device has computed them.
        states: after them, to be saved or scored; None if they are neither.
        is_saved: whether the states are to be saved.
        is_scored: whether the states are to be scored.
    """

    before: int
    step: int
    reports: StepReport
    states: State | None = None
    is_saved: bool = False
    is_scored: bool = False


class _Group:
    """Runs at the same step, in one program."""

    def __init__(
        self,
        experiment: Experiment,
        compiled: Compiled,
        mesh: Mesh,
        step: int,
        members: Sequence[tuple[_Run, State]],
    ) -> None:
        self._experiment, self._compiled, self._mesh = experiment, compiled, mesh
        self._step = step
        self._runs = [run for run, _ in members]
        self._alive = dict(enumerate(self._runs))  # by place; those that diverged are out
        self._hypers = hyper_of([run.config for run in self._runs])
        self._kept = compiled.stack([state for _, state in members])  # as in the last checkpoints
        self._read_at = 0.0

    def train(self, last: int, schedule: Schedule, sinks: Sequence[str], progress: OnSteps) -> None:
        """Train to the last step, or until all runs have diverged; set their outcomes."""
        progress(self._step * len(self._runs), None)
        with ExitStack() as logs, Saver(self._compiled.unstack) as saver:
            self._open_logs(logs, sinks)
            self._read_at = time.perf_counter()
            for chunk in self._dispatched(last, schedule):
                self._finish(chunk, saver, progress)
                if not self._alive:
                    break
        for place, run in self._alive.items():
            state = self._compiled.unstack(self._kept, place)
            run.outcome = Outcome(state, run.report, None, stopped=int(state.step) < last)

    def _open_logs(self, stack: ExitStack, sinks: Sequence[str]) -> None:
        for run in self._runs if jax.process_index() == 0 else ():
            run.log = stack.enter_context(closing(Log(run.folder, self._step)))
            if run.log.damaged:
                note(f"{run.folder / LOG}: left out {run.log.damaged:,} damaged lines")
            if self._step < run.config.steps:
                leave_record(run.folder, self._mesh)
                for name in sinks:
                    run.log.sinks.append(SINKS[name].open(run.folder, run.config, self._step))

    def _dispatched(self, last: int, schedule: Schedule) -> Iterator[_Chunk]:
        """Yield each chunk when the next one is dispatched: the device always has one to go on with."""
        experiment, states = self._experiment, self._compiled.copy(self._kept)
        starts = range(self._step, last, experiment.steps_at_once)
        bounds = [(start, min(experiment.steps_at_once, last - start)) for start in starts]
        ahead: _Chunk | None = None
        for (before, steps), batches in zip(bounds, prefetch(experiment.make_chunk, bounds), strict=True):
            done = ahead and self._scheduled(ahead, states, last, schedule)
            if schedule.is_over:  # the next chunk isn't begun: it may take longer than there is time
                ahead = None
            else:
                placed = experiment.place(self._mesh, batches)
                states, reports = self._compiled.train(states, self._hypers, placed)
                ahead = _Chunk(before, before + steps, reports)
            if done is not None:
                yield done
            if ahead is None:
                return
        if ahead is not None:
            yield self._scheduled(ahead, states, last, schedule)

    def _scheduled(self, chunk: _Chunk, states: State, last: int, schedule: Schedule) -> _Chunk:
        """Return a chunk with a copy of the states after it, if needed: the next chunk takes their memory."""
        is_saved = schedule.is_due(chunk.step)
        is_scored = self._experiment.scores_are_due(chunk.before, chunk.step, last)
        copy = self._compiled.copy(states) if is_saved or is_scored else None
        return chunk._replace(states=copy, is_saved=is_saved, is_scored=is_scored)

    def _finish(self, chunk: _Chunk, saver: Saver, progress: OnSteps) -> None:
        """Log, score and save a chunk, once the device has done it."""
        means = jax.tree.map(lambda values: np.asarray(values).mean(axis=1), chunk.reports)
        steps, now = len(self._runs) * (chunk.step - chunk.before), time.perf_counter()
        speed, self._read_at = steps / (now - self._read_at), now
        self._drop_diverged(chunk, np.asarray(chunk.reports.loss))
        if not self._alive:
            return
        for place, run in self._alive.items():
            report = StepReport(*(float(values[place]) for values in means))
            run.report, scores = self._experiment.describe(report, speed), self._score(chunk, place)
            if run.log is not None:
                run.log.add(chunk.step, run.report, scores)
        if chunk.is_saved and chunk.states is not None:
            runs = {place: run.checkpoints for place, run in self._alive.items()}
            saver.save(chunk.step, chunk.states, runs)
            self._kept = chunk.states
        saver.check()
        together = StepReport(*(float(values[list(self._alive)].mean()) for values in means))
        progress(steps, self._experiment.describe(together, speed))

    def _drop_diverged(self, chunk: _Chunk, losses_RS: NDArray[np.floating]) -> None:
        """Drop the runs of which a loss is NaN or infinite; their outcome says after which step."""
        finite_RS = np.isfinite(losses_RS)
        for place in [place for place in self._alive if not finite_RS[place].all()]:
            run = self._alive.pop(place)
            last = chunk.before + int(np.argmin(finite_RS[place]))
            run.outcome = Outcome(self._compiled.unstack(self._kept, place), run.report, last)

    def _score(self, chunk: _Chunk, place: int) -> Scores | None:
        if not chunk.is_scored or self._experiment.evaluate is None:
            return None
        return self._experiment.evaluate(self._compiled.unstack(chunk.states, place).params, chunk.step)


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
        DivergenceError: if a loss is no longer a number.
    """
    (outcome,) = train_runs([config], [folder], **options)
    if outcome.diverged is not None:
        raise DivergenceError(describe_divergence(outcome))
    return outcome.state


def describe_divergence(outcome: Outcome) -> str:
    """Say what happened to a run that diverged."""
    return (
        f"the loss is no number after step {outcome.diverged}; the last checkpoint is of "
        f"{int(outcome.state.step)}"
    )
