"""The interface of engines: jobs to do, and reports of progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OnProgress = Callable[[int, int], None]
"""Is called with how many more items are done, such as instances or documents, and bytes of text."""

Work = Callable[[Any, OnProgress], Any]
"""Does a job, reports progress piece by piece, and returns its result. It may be done twice, even at a time,
as a machine that seems to be lost may go on. The callback may raise `InterruptedError`: then it ends."""


@dataclass(frozen=True)
class Call:
    """Jobs to do.

    Attributes:
        work: what does one; a function of a module, or a `functools.partial` of one, for other processes.
        jobs: what it is called with.
        workers: how many jobs at a time; None for as many as there is room for.
        on_progress: is called with progress.
        done: takes the number of a job and its result, one at a time, in the order in which they end.
        folder: a directory that the work writes to, whose files every worker has to see.
        address: of a cluster; None for one of this machine.
        is_ending: whether the jobs under way are to end early, and no others to do anything: processes see it
            by `sraven.data.engines.processes.asked_to_end`.
    """

    work: Work
    jobs: Sequence[Any]
    workers: int | None
    on_progress: OnProgress
    done: Callable[[int, Any], None]
    folder: Path
    address: str | None = None
    is_ending: Callable[[], bool] = lambda: False
