"""The training loop: chunks of steps, checkpoints, a log; an interrupted run goes on where it was.

Runs of one shape train in one program, on the same batches: seeds, and the points of a grid.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import sync_global_devices
from jax.sharding import Mesh

from baselines.checkpoint import Checkpoints
from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.experiment import Experiment, board_experiment, board_of, program_of
from baselines.feed import Chunk
from baselines.log import LOG, Log, Scores
from baselines.optim import Hyper
from baselines.processes import note
from baselines.run_directory import check_folder, claim, open_checkpoints, read_run
from baselines.sharding import make_mesh, state_shardings, whole
from baselines.step import Program, Report, State, train_chunk
from sraven.core.ground.errors import ConfigurationError, OutputError

MakeExperiment = Callable[[RunConfig, Mesh], Experiment]

Progress = Callable[[int, Mapping[str, float] | None], None]
"""Is told how many steps were done, over all runs, and what a log says of them, as means over the runs; of
steps that were done before, nothing."""


class DivergenceError(RuntimeError):
    """A loss is no longer a number; the last checkpoint is from before."""


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        state: the last one, or that of the last checkpoint if the run diverged.
        report: what the log says of its last steps; None if all had been done before.
        diverged: the last step whose loss was a number, or None if all are.
    """

    state: State
    report: Mapping[str, float] | None
    diverged: int | None


@dataclass
class _Run:
    """A run in training."""

    config: RunConfig
    folder: Path
    checkpoints: Checkpoints
    log: Log | None = None
    outcome: Outcome | None = None


def hyper_of(configs: Sequence[RunConfig]) -> Hyper:
    """Return what differs between runs in one program, as arrays."""
    return Hyper(*(np.array([getattr(each, name) for each in configs], np.float32) for name in Hyper._fields))


class _Training:
    """What runs of one shape have in common: a program on a mesh, and its compiled forms."""

    def __init__(self, experiment: Experiment, mesh: Mesh) -> None:
        self.experiment, self.mesh = experiment, mesh
        program = experiment.program
        one = jax.eval_shape(program.initialise, jax.ShapeDtypeStruct((), jnp.uint32))
        shardings = state_shardings(mesh, one)
        stacked = jax.eval_shape(lambda state: _stack([state]), one)
        stacked_shardings = state_shardings(mesh, stacked)
        self.target = jax.tree.map(_abstract, one, shardings)
        self.initialise = jax.jit(program.initialise, out_shardings=shardings)
        self.stack = jax.jit(_stack, out_shardings=stacked_shardings)
        self.unstack = jax.jit(
            lambda states, place: jax.tree.map(lambda leaf: leaf[place], states), out_shardings=shardings
        )
        self.run_chunk = jax.jit(
            lambda states, hypers, chunk: train_chunk(
                program, states, hypers, chunk, side_by_side=experiment.side_by_side
            ),
            out_shardings=(stacked_shardings, whole(mesh)),
            donate_argnums=0,
        )


def _stack(states: Sequence[State]) -> State:
    stacked: State = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    return stacked


def _abstract(leaf: Any, sharding: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)


def train_runs(
    configs: Sequence[RunConfig],
    folders: Sequence[Path],
    *,
    mesh: Mesh | None = None,
    make_experiment: MakeExperiment = board_experiment,
    save_every: int = 1000,
    events: bool = False,
    progress: Progress = lambda steps, report: None,
) -> list[Outcome]:
    """Train runs together, or go on with them, to their last step.

    Batches depend on the step alone, and dropout on seed and step: a run that was interrupted ends
    in the same parameters, bit for bit on the same devices, as one that wasn't. Runs that have come
    equally far go on together.

    Args:
        configs: of the runs; they differ in seed, learning rate, weight decay and warm-up alone.
        folders: a directory for each: configuration, log and checkpoints.
        mesh: devices to train on; None for one. With several processes, all call this alike, and share
            the file system.
        make_experiment: returns what is trained, given a configuration and the mesh.
        save_every: steps between checkpoints.
        events: whether to write TensorBoard events besides the log.
        progress: is told how training goes.

    Returns:
        how each run ended. One that diverges ends there; the others go on.

    Raises:
        ConfigurationError: if the runs differ in more, or fit neither board nor mesh.
        OutputError: if a directory holds something else, is being trained in by another process, or has
            checkpoints of which none is whole.
        OSError: if writing fails, as on a full disk; the same call again goes on from the last checkpoint.
    """
    for config in configs[1:]:
        same = replace(
            config, seed=configs[0].seed, **{name: getattr(configs[0], name) for name in Hyper._fields}
        )
        if same != configs[0]:
            raise ConfigurationError(f"runs in one program differ in seed, {', '.join(Hyper._fields)} alone")
    # Whatever can be refused is, before anything is written.
    mesh = mesh or make_mesh()
    training = _Training(make_experiment(configs[0], mesh), mesh)
    for config, folder in zip(configs, folders, strict=True):
        check_folder(folder, config)
    sync_global_devices("run directories are checked")  # none is half made when another process looks
    with claim(folders, configs, training.experiment.files):
        sync_global_devices("run directories are there")
        runs = [
            _Run(config, folder, open_checkpoints(folder))
            for config, folder in zip(configs, folders, strict=True)
        ]
        equally_far: dict[int, list[tuple[_Run, State]]] = defaultdict(list)
        for run in runs:
            restored = run.checkpoints.restore(training.target)
            if restored and restored.damaged:
                note(f"{restored.damaged}; going on from step {restored.step:,}")
            step, state = restored[:2] if restored else (0, training.initialise(np.uint32(run.config.seed)))
            equally_far[step].append((run, state))
        for step, members in sorted(equally_far.items()):
            _Group(training, step, members, events).train(configs[0].steps, save_every, progress)
    return [run.outcome for run in runs if run.outcome is not None]


class _Group:
    """Runs that have come equally far, in one program."""

    def __init__(
        self, training: _Training, step: int, members: list[tuple[_Run, State]], events: bool
    ) -> None:
        self._training = training
        self._step = self._saved = step
        self._runs = [run for run, _ in members]
        self._alive = list(range(len(members)))
        self._hypers = hyper_of([run.config for run in self._runs])
        self._states = training.stack([state for _, state in members])
        for run, state in members:
            run.outcome = Outcome(state, None, None)
            if jax.process_index() == 0:
                run.log = Log(run.folder, step, events=events)
                if run.log.damaged:
                    note(f"{run.folder / LOG}: left out {run.log.damaged:,} damaged lines")

    def train(self, last: int, save_every: int, progress: Progress) -> None:
        """Train to the last step, or until all runs have diverged; set their outcomes."""
        experiment = self._training.experiment
        progress(self._step * len(self._runs), None)
        starts = range(self._step, last, experiment.steps_at_once)
        bounds = [(start, min(experiment.steps_at_once, last - start)) for start in starts]
        try:
            for chunk in experiment.chunks(bounds):
                steps = len(next(iter(chunk.values())))
                line = self._train_chunk(chunk, steps, last)
                if line is None:
                    return
                if self._step - self._saved >= save_every or self._step == last:
                    self._save()
                progress(steps * len(self._runs), line)
        finally:
            for run in self._runs:
                if run.log is not None:
                    run.log.close()

    def _train_chunk(self, chunk: Chunk, steps: int, last: int) -> Mapping[str, float] | None:
        """Take some steps; return what a log says of the mean of the runs that go on, if any does."""
        experiment, began = self._training.experiment, time.perf_counter()
        placed = experiment.place(self._training.mesh, chunk)
        self._states, reports = self._training.run_chunk(self._states, self._hypers, placed)
        means = jax.tree.map(lambda values: np.asarray(values).mean(axis=1), reports)
        speed = len(self._runs) * steps / (time.perf_counter() - began)
        for place in list(self._alive):
            run, report = self._runs[place], Report(*(float(values[place]) for values in means))
            assert run.outcome is not None
            if not np.isfinite(report.loss):
                run.outcome = run.outcome._replace(diverged=self._step)
                self._alive.remove(place)
                continue
            line = experiment.describe(report, speed)
            run.outcome = run.outcome._replace(report=line)
            scores = self._evaluate(place, steps, last)
            if run.log is not None:
                run.log.add(self._step + steps, line, scores)
        self._step += steps
        if not self._alive:
            return None
        return experiment.describe(Report(*(float(values[self._alive].mean()) for values in means)), speed)

    def _evaluate(self, place: int, steps: int, last: int) -> Scores | None:
        """Return the scores of a run after some steps more, if it is time for them."""
        experiment, step = self._training.experiment, self._step + steps
        if experiment.evaluate is None or not experiment.scores_are_due(self._step, step, last):
            return None
        return experiment.evaluate(self._training.unstack(self._states, place).params, step)

    def _save(self) -> None:
        for place in self._alive:
            run, state = self._runs[place], self._training.unstack(self._states, place)
            assert run.outcome is not None
            run.checkpoints.save(self._step, state)
            run.outcome = run.outcome._replace(state=state)
        self._saved = self._step


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


def restore_params(folder: Path, program: Program, steps: int) -> Any:
    """Return the parameters of a finished run, on one device.

    Args:
        folder: the run's directory.
        program: of the run.
        steps: how many it has when it is finished.

    Raises:
        OutputError: if it isn't finished, or its last checkpoint is damaged.
    """
    one = jax.eval_shape(program.initialise, jax.ShapeDtypeStruct((), jnp.uint32))
    target = jax.tree.map(_abstract, one, state_shardings(make_mesh(), one))
    restored = open_checkpoints(folder).restore(target)
    done = restored.step if restored else 0
    if restored is None or done < steps:
        damaged = f" ({restored.damaged})" if restored and restored.damaged else ""
        raise OutputError(f"{folder} has {done:,} of {steps:,} steps{damaged}; train it to the end first")
    return restored.state.params


def load_run(folder: Path) -> tuple[RunConfig, Any]:
    """Return the configuration and the parameters of a finished run on a board that makes its instances.

    Raises:
        OutputError: if there is none, or it isn't finished.
    """
    config = read_run(folder)
    program = program_of(config, encoding_of(board_of(config).task))
    return config, restore_params(folder, program, config.steps)
