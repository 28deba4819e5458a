"""Steps that devices take a turn ahead: while some are logged, scored and saved, they compute the next."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain, pairwise
from typing import Any, NamedTuple

from baselines.train.experiment import Chunk, Experiment
from baselines.train.optim import Hyperparams
from baselines.train.saving import Schedule
from baselines.train.step import State, StepReport


class Taken(NamedTuple):
    """Steps that the devices have taken.

    Attributes:
        first: the step before them.
        step: the last of them.
        reports: of each run and step, ``[R, S]``.
        states: after them, a copy; None unless they are to be saved or scored.
        is_saved: whether a checkpoint is due.
        is_scored: whether scores are.
    """

    first: int
    step: int
    reports: StepReport
    states: Any
    is_saved: bool
    is_scored: bool


def take_steps(
    experiment: Experiment, states: State, hypers: Hyperparams, steps: range, schedule: Schedule
) -> Generator[Taken, None, None]:
    """Yield chunks of steps until the last one, or until the schedule is over.

    Args:
        experiment: what is trained.
        states: of the runs, stacked; they are used up.
        hypers: float32 ``[R]`` each.
        steps: the first of each chunk.
        schedule: of checkpoints.
    """
    program = experiment.program
    bounds = [(start, min(steps.step, steps.stop - start)) for start in steps]
    before: tuple[int, StepReport] | None = None
    with closing(prefetch(experiment.make_chunk, bounds)) as batches:
        for step, count in (*bounds, (steps.stop, 0)):
            done, before = before, None
            is_saved = done is not None and schedule.is_due(step)
            is_scored = done is not None and experiment.scores_are_due(done[0], step, steps.stop)
            # The next steps take the memory of the states.
            copy = program.copy(states) if is_saved or is_scored else None
            if count and not schedule.is_over:  # else they could take longer than there is time
                states, reports = program.train(states, hypers, experiment.place(next(batches)))
                before = step, reports
            if done is not None:
                yield Taken(done[0], step, done[1], copy, is_saved, is_scored)
            if before is None:
                return


def prefetch(
    make: Callable[[int, int], Chunk], bounds: Sequence[tuple[int, int]]
) -> Generator[Chunk, None, None]:
    """Yield the chunks of consecutive ranges of steps; a thread makes the next while one is trained on.

    Args:
        make: returns a chunk, given its first step and how many they are.
        bounds: of each chunk.
    """
    with ThreadPoolExecutor(1) as pool:
        for chunk, _ in pairwise(chain((pool.submit(make, *each) for each in bounds), [None])):
            assert chunk is not None, "None comes last"
            yield chunk.result()
