"""Checkpoints of runs that train together: their schedule, and a thread that writes them.

All runs of a program are saved together: a copy of their states is made on the device between two chunks, and
a thread writes the checkpoint of each run from it. One file for nine of them would take an eighth of the
time, which is 0.1 to 0.2 s of a processor for each, every few minutes; but no run's directory would be whole.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from jax.experimental.multihost_utils import broadcast_one_to_all

from baselines.train.checkpoint import Checkpoints
from baselines.train.step import State

MOST_SECONDS, LEAST_SECONDS, SHARE = 300.0, 30.0, 0.1
"""What a killed run loses at most, by default: that share of the time that it has trained, but half a minute
or five."""


class Schedule:
    """When checkpoints are due: after so many steps or minutes, whichever comes first, and at the end.

    The end is the last step, or any at which ``stop`` ends training.

    Args:
        step: the step that training begins at.
        last: the last step.
        steps: between checkpoints; None for any number.
        minutes: between checkpoints; None for a tenth of the time since training began, from half a minute
            to five.
        stop: returns whether training ends here, called at every step that could be saved; None for never.
        clock: returns seconds, from any start.

    Attributes:
        is_over: whether training ends at the last step that was checked.
    """

    def __init__(
        self,
        step: int,
        last: int,
        steps: int | None,
        minutes: float | None,
        stop: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._last, self._steps, self._minutes = last, steps, minutes
        self._stop, self._clock = stop, clock
        self._began = self._at = clock()
        self._saved = step
        self.is_over = False

    def is_due(self, step: int) -> bool:
        """Return whether a checkpoint of a step is due, and count it as saved; the same in all processes."""
        self.is_over = step == self._last or (self._stop is not None and _of_first(self._stop))
        due = self.is_over or (self._steps is not None and step - self._saved >= self._steps)
        due = due or _of_first(self._is_time)
        if due:
            self._saved, self._at = step, self._clock()
        return due

    def _is_time(self) -> bool:
        now = self._clock()
        if self._minutes is not None:
            return now - self._at >= 60 * self._minutes
        return now - self._at >= min(MOST_SECONDS, max(LEAST_SECONDS, SHARE * (now - self._began)))


def _of_first(ask: Callable[[], bool]) -> bool:
    """Return the answer of process 0, in all processes."""
    return bool(broadcast_one_to_all(np.int32(ask())))


class Saver:
    """Writes checkpoints of runs in a thread, one set after the other.

    Several processes write a checkpoint together, from their main threads.

    Args:
        unstack: returns the state of one run, given stacked ones and its place.
    """

    def __init__(self, unstack: Callable[[State, int], State]) -> None:
        self._unstack = unstack
        self._pool = ThreadPoolExecutor(1, "checkpoints")
        self._pending: Future[None] | None = None

    def __enter__(self) -> "Saver":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Wait for what is being written, also when training was interrupted."""
        self._pool.shutdown()
        if kind is None:
            self.check()

    def save(self, step: int, states: State, runs: Mapping[int, Checkpoints]) -> None:
        """Write checkpoints, after the earlier ones.

        Args:
            step: their step.
            states: stacked; nobody else may change them.
            runs: checkpoints of the runs to save, by their place in the stack.

        Raises:
            OSError: if the earlier ones couldn't be written.
        """
        self.check(wait=True)
        if jax.process_count() > 1:
            self._write(step, states, runs)
        else:
            self._pending = self._pool.submit(self._write, step, states, runs)

    def _write(self, step: int, states: State, runs: Mapping[int, Checkpoints]) -> None:
        for place, checkpoints in runs.items():
            checkpoints.save(step, self._unstack(states, place))

    def check(self, *, wait: bool = False) -> None:
        """Raise the error of the last save, if it has failed.

        Args:
            wait: whether to wait until it has ended.

        Raises:
            OSError: if it couldn't be written.
        """
        if self._pending is not None and (wait or self._pending.done()):
            pending, self._pending = self._pending, None
            try:
                pending.result()
            finally:
                del pending  # it refers to the error, which refers to this frame: files would stay open
