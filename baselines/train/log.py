"""The log of a run: a line of JSON for every chunk of steps."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from sraven.core.errors import OutputError
from sraven.core.jsonable import as_json
from sraven.core.system.files import write_bytes

LOG = "log.jsonl"

SCORES = "scores"
"""Name of the scores in a line; see `baselines.train.experiment.Experiment.evaluate`."""

INSTANCES = "instances"
"""Name of the number of instances that were scored, beside the metrics of a split."""

Scores = Mapping[str, Mapping[str, float]]
"""By split, then by metric."""

_MOST_BYTES, _LONGEST = 1 << 30, 1 << 16
"""Most bytes of a log, and of a line."""

_LAST_STEP = 1 << 53
_LARGEST = 1e300


class _Line(NamedTuple):
    """A line of a log.

    Attributes:
        data: its bytes with the newline; only the beginning of a line that is too long.
        step: the last step that it covers; None if it isn't a line of a log.
        is_ended: whether the file has its newline: the last line may still be being written.
    """

    data: bytes
    step: int | None
    is_ended: bool


def _read_lines(file: IO[bytes]) -> Iterator[_Line]:
    """Yield the lines of a log, in order; a line that repeats an earlier step doesn't count as one."""
    latest = 0
    for data in iter(lambda: file.readline(_LONGEST), b""):
        found = _step_of(data)
        step = found if found is not None and found > latest else None
        latest = latest if step is None else step
        yield _Line(data if data.endswith(b"\n") else data + b"\n", step, data.endswith(b"\n"))


def _step_of(data: bytes) -> int | None:
    """Return the last step that a line covers; None if it isn't a line of a log: numbers, scores by split."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or type(found.get("step")) is not int or found["step"] > _LAST_STEP:
        return None
    step, scores = found.pop("step"), found.pop(SCORES, {})
    named = scores.values() if isinstance(scores, dict) and all(map(str.isprintable, scores)) else [None]
    fine = all(isinstance(each, dict) and all(map(_is_number, each.values())) for each in named)
    return int(step) if fine and all(map(_is_number, found.values())) else None


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that fits a float, or null where it is undefined."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= _LARGEST
    return value is None or isinstance(value, float)


def _open(path: Path, flags: int) -> IO[bytes]:
    """Open a log, and nothing else in its place.

    Raises:
        OutputError: if something else is there.
        OSError: if it can't be opened.
    """
    wrong = OutputError(f"{path} is no log (a link, a directory, or too large); move it away")
    if path.is_symlink() or path.is_dir():
        raise wrong
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        os.close(descriptor)
        raise wrong
    return os.fdopen(descriptor, "r+b" if flags & os.O_RDWR else "rb")


def read_log(folder: Path) -> list[str]:
    """Return the lines of a run's log, or of a file of such lines, except a last one that isn't complete yet.

    Raises:
        OutputError: if it is missing or damaged.
    """
    path = folder if folder.is_file() else folder / LOG
    try:
        with _open(path, os.O_RDONLY) as file:
            lines = list(_read_lines(file))
    except OSError as error:
        raise OutputError(f"{path} can't be read: {error.strerror}") from None
    if lines and not lines[-1].is_ended:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if line.step is None:
            raise OutputError(f"{path} is damaged in line {number}; the same `sraven train` again mends it")
    return [line.data.decode() for line in lines]


def _cut(path: Path, step: int) -> int:
    """Cut a log after a step, and drop damaged lines before it; return how many were dropped."""
    with _open(path, os.O_RDWR | os.O_CREAT) as file:
        kept, damaged, loose = list[bytes](), 0, 0
        for line in _read_lines(file):
            if line.step is None:
                loose += 1
            elif line.step <= step:
                kept.append(line.data)
                damaged, loose = damaged + loose, 0
        content = b"".join(kept)
        file.seek(0)
        same = file.read(len(content)) == content
        if same:  # nothing is written, so that a full disk is no matter
            file.truncate(len(content))
    if not same:
        write_bytes(path, content)
    return damaged


class Log:
    """The log in a run directory, from a step on.

    Args:
        folder: the run directory.
        step: where training goes on. What was logged after it is dropped, as those steps are trained again.

    Attributes:
        damaged: how many damaged lines between others were dropped.

    Raises:
        OutputError: if something else is in its place.
    """

    def __init__(self, folder: Path, step: int) -> None:
        path = folder / LOG
        self.damaged = _cut(path, step)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)

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
