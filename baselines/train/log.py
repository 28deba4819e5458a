"""The log of a run: a line of JSON for every chunk of steps."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sraven.core.errors import OutputError
from sraven.files.files import read_bounded
from sraven.files.jsonable import as_json

LOG = "log.jsonl"

SCORES = "scores"
"""Name of the scores in a line; see `baselines.train.experiment.Experiment.evaluate`."""

INSTANCES = "instances"
"""Name of the number of instances that were scored, beside the metrics of a split."""

Scores = Mapping[str, Mapping[str, float]]
"""By split, then by metric."""

_MOST_BYTES = 1 << 30
"""Most bytes of a log."""

_LAST_STEP = 1 << 53
_LARGEST = 1e300


def _step_of(line: bytes) -> int | None:
    """Return the last step that a line covers; None if it isn't a line of a log: numbers, scores by split."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or type(found.get("step")) is not int:
        return None
    step, scores = found.pop("step"), found.pop(SCORES, {})
    named = scores.values() if isinstance(scores, dict) and all(map(str.isprintable, scores)) else [None]
    fine = all(isinstance(each, dict) and all(map(_is_number, each.values())) for each in named)
    return int(step) if fine and step <= _LAST_STEP and all(map(_is_number, found.values())) else None


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that fits a float, or null where it is undefined."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= _LARGEST
    return value is None or isinstance(value, float)


def _read_steps(path: Path) -> dict[int, bytes]:
    """Return the lines of a log by step, in order, except a last one that isn't complete yet.

    Raises:
        OutputError: if it can't be read, or is damaged.
    """
    try:
        *lines, _ = read_bounded(path, _MOST_BYTES, follow_links=False).split(b"\n")
    except OSError as error:
        raise OutputError(f"{path} can't be read: {error.strerror}") from None
    found: dict[int, bytes] = {}
    for number, line in enumerate(lines, 1):
        step = _step_of(line)
        if step is None or step <= next(reversed(found), 0):
            raise OutputError(f"{path} is damaged in line {number}; remove the line")
        found[step] = line + b"\n"
    return found


def read_log(folder: Path) -> list[str]:
    """Return the lines of a run's log, or of a file of such lines, except a last one that isn't complete yet.

    Raises:
        OutputError: if it is missing or damaged.
    """
    lines = _read_steps(folder if folder.is_file() else folder / LOG)
    return [line.decode() for line in lines.values()]


class Log:
    """The log in a run directory, from a step on.

    Args:
        folder: the run directory.
        step: where training goes on. What was logged after it is dropped, as those steps are trained again.

    Raises:
        OutputError: if it is damaged, or something else is in its place.
    """

    def __init__(self, folder: Path, step: int) -> None:
        path = folder / LOG
        if os.path.lexists(path):
            lines = _read_steps(path)
            kept = b"".join(line for at, line in lines.items() if at <= step)
            if path.stat().st_size != len(kept):
                os.truncate(path, len(kept))
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)

    def add(self, step: int, values: Mapping[str, float], scores: Scores | None = None) -> None:
        """Write a line.

        Args:
            step: the last step that it covers.
            values: by name.
            scores: by split and metric, if there are any; NaN and infinities become null.
        """
        nested = {} if scores is None else {SCORES: as_json(scores)}
        line = (json.dumps({"step": step, **values, **nested}) + "\n").encode()
        while line:  # a disk that is nearly full writes only a part
            line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
