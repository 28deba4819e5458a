"""TensorBoard and Weights & Biases, which get the lines of a log as well, on request."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from socket import gethostname
from typing import Any, NamedTuple, Protocol

from baselines.config import RunConfig
from sraven.core.errors import OutputError
from sraven.core.spec import values_of

EVENTS = "tensorboard"
"""The folder of TensorBoard's events in a run directory."""

PROJECT = "sraven"
"""Of Weights & Biases, unless its environment variable names another."""

_ID_LENGTH = 32


class Sink(Protocol):
    """A place that the numbers of a run are written to, line by line."""

    def add(self, step: int, values: Sequence[tuple[str, float]]) -> None:
        """Write the numbers of a step, each with its name; scores are called ``split/metric``."""

    def close(self) -> None:
        """Close files and connections."""


class TensorBoard:
    """TensorBoard events. They are written in this thread, as a writer's own thread hangs on a full disk.

    Args:
        folder: the run directory.
        config: of the run.
        step: where training goes on.
    """

    def __init__(self, folder: Path, config: RunConfig, step: int) -> None:
        from tensorboardX.proto.event_pb2 import Event, SessionLog
        from tensorboardX.record_writer import RecordWriter

        (folder / EVENTS).mkdir(exist_ok=True)
        self._event: Any = Event
        # With nanoseconds: a run that goes on within the same second would overwrite the first file.
        now = time.time_ns()
        name = f"events.out.tfevents.{now // 10**9}.{gethostname()}.{now}"
        self._writer: Any = RecordWriter(str(folder / EVENTS / name))
        start = SessionLog(status=SessionLog.START)  # hides what earlier files have from there on
        try:
            self._write([{"file_version": "brain.Event:2"}, {"step": step + 1, "session_log": start}])
        except OSError:
            self.close()
            raise

    def add(self, step: int, values: Sequence[tuple[str, float]]) -> None:
        """Write scalars, each with its name."""
        from tensorboardX.summary import scalar

        self._write({"step": step, "summary": scalar(name, value)} for name, value in values)

    def _write(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            self._writer.write(self._event(wall_time=time.time(), **event).SerializeToString())
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases, named by the digest of its configuration: the same run again goes on there.

    It drops steps that it has already, as after an interrupted run: their numbers are the same.

    Args:
        folder: the run directory; its data lie there, also those of ``WANDB_MODE=offline``.
        config: of the run.
        step: where training goes on.

    Raises:
        OutputError: if it can't be begun, as without an account or a network.
    """

    def __init__(self, folder: Path, config: RunConfig, step: int) -> None:
        import wandb

        try:
            self._run: Any = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT),
                id=config.digest[:_ID_LENGTH],
                name=f"{config.board}, {config.architecture}, seed {config.seed}",
                config=values_of(config),
                dir=str(folder.absolute()),
                resume="allow",
                reinit="create_new",  # the runs of a grid are open at the same time
                settings=wandb.Settings(console="off"),  # the progress bar is no log
            )
        except wandb.errors.Error as error:
            reason = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise OutputError(
                f"Weights & Biases: {reason.rstrip('.')}; `wandb login` once, or WANDB_MODE=offline to send "
                "it later"
            ) from None

    def add(self, step: int, values: Sequence[tuple[str, float]]) -> None:
        """Log numbers at a step."""
        self._run.log(dict(values), step=step, commit=True)

    def close(self) -> None:
        """Finish the run, until it goes on."""
        self._run.finish()


class SinkEntry(NamedTuple):
    """A place that numbers can go to.

    Attributes:
        open: opens it for a run, given its directory, its configuration and the step that it goes on from.
        needs: the package that it needs, to be imported.
    """

    open: Callable[[Path, RunConfig, int], Sink]
    needs: str


SINKS: Mapping[str, SinkEntry] = {
    "tensorboard": SinkEntry(TensorBoard, "tensorboardX"),
    "wandb": SinkEntry(WeightsAndBiases, "wandb"),
}
"""By the name of the option of `sraven train`, which is that of the extra that installs what it needs."""
