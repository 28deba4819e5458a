"""The log of a run: a line of JSON for every chunk of steps, and TensorBoard events on request."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOG, EVENTS = "log.jsonl", "tensorboard"


class Log:
    """The log in a run directory, from a step on.

    Args:
        folder: the run directory.
        step: where training goes on: what was logged after it is left out, as it will be trained again.
        events: whether to write TensorBoard events as well (needs the extra ``tensorboard``).
    """

    def __init__(self, folder: Path, step: int, *, events: bool) -> None:
        self._path = folder / LOG
        lines = self._path.read_text().splitlines() if self._path.is_file() else []
        kept = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= step]
        self._path.write_text("".join(line + "\n" for line in kept))
        self._events = _open_events(folder / EVENTS, step) if events else None

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Log values that end with a step."""
        with open(self._path, "a") as file:
            file.write(json.dumps({"step": step, **values}) + "\n")
        if self._events is not None:
            for name, value in values.items():
                self._events.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what isn't on disk yet."""
        if self._events is not None:
            self._events.close()


def _open_events(folder: Path, step: int) -> Any:
    from tensorboardX import SummaryWriter

    return SummaryWriter(str(folder), purge_step=step + 1)
