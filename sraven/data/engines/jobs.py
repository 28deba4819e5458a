"""The seam between work that is cut into jobs and what the jobs run on."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from sraven.core.arguments import check_choice
from sraven.core.errors import ConfigurationError
from sraven.core.parallel import check_threads
from sraven.data.engines.call import Call, OnProgress
from sraven.data.engines.on_ray import map_on_ray
from sraven.data.engines.processes import map_apart, map_in_processes
from sraven.data.engines.threads import map_in_threads

Job = TypeVar("Job")
Result = TypeVar("Result")

ENGINES: dict[str, Callable[[Call], None]] = {
    "threads": map_in_threads,
    "processes": map_in_processes,
    "apart": map_apart,
    "ray": map_on_ray,
}
"""Functions that do the jobs of a call, by name of the engine."""

LOCAL = "local"
"""Stands for threads or processes of this machine: each kind of work knows which suits it."""


@dataclass(frozen=True)
class Engine:
    """What jobs run on.

    Attributes:
        name: ``local``, or ``ray`` for a Ray cluster.
        address: of a cluster that runs: ``auto``, or ``HOST:PORT``; None for one of this machine, made for
            the work and ended with it.

    Raises:
        ConfigurationError: for another name or address, or if the engine isn't installed.
    """

    name: str = LOCAL
    address: str | None = None

    def __post_init__(self) -> None:
        check_choice("engine", self.name, (LOCAL, "ray"))
        if self.name == LOCAL:
            if self.address is not None:
                raise ConfigurationError(f"address={self.address!r}: is for engine='ray', which has nodes")
            return
        if self.address not in (None, "auto") and not re.fullmatch(r"[\w.-]+:\d{1,5}", str(self.address)):
            raise ConfigurationError(f"address={self.address!r}: expected auto, or HOST:PORT")
        if find_spec("ray") is None:
            raise ConfigurationError("engine='ray' needs ray: pip install '.[cluster]' in a checkout")

    @property
    def is_local(self) -> bool:
        """Whether jobs are threads or processes of this machine."""
        return self.name == LOCAL

    def check_workers(self, name: str, workers: int | None) -> None:
        """Refuse a number of workers that can't be.

        Args:
            name: what the caller calls it.
            workers: jobs at a time, or None.

        Raises:
            ConfigurationError: if it is out of range, or a cluster that runs has a number of its own.
        """
        check_threads(workers, name)
        if workers is not None and self.address is not None:
            raise ConfigurationError(
                f"{name}={workers}: the cluster at an address has processors of its own; leave it out"
            )


HERE = Engine()
"""This machine."""


def map_jobs(
    work: Callable[[Job, OnProgress], Result],
    jobs: Sequence[Job],
    on_progress: OnProgress = lambda items, size: None,
    *,
    engine: Engine,
    local: str,
    folder: Path,
    workers: int | None = None,
    keep: Callable[[Result], None] = lambda result: None,
    is_ending: Callable[[], bool] = lambda: False,
) -> list[Result]:
    """Return what ``work`` returns of each job, in order.

    Args:
        work: does a job; see `sraven.data.engines.call.Work`. For other processes, and for a cluster, it is a
            function of a module, or a `functools.partial` of one.
        jobs: what it is called with.
        on_progress: is called with progress in this process, from any thread.
        engine: what the jobs run on.
        local: the engine that stands for ``local``: ``threads``, ``processes``, or ``apart`` for processes
            even if there is a single job.
        folder: a directory that the work writes to, which every worker has to see.
        workers: jobs at a time; None for one per available processor, or as many as a cluster has.
        keep: takes each result as soon as it is there, one at a time.
        is_ending: is asked now and then whether jobs are to end early; of processes alone.

    Raises:
        OutputError: if a worker of a cluster can't see the directory, or has other versions installed.
        ConfigurationError: if there is no cluster at the address.
        OSError: if a worker died, again and again.
    """
    results: dict[int, Any] = {}

    def done(number: int, result: Any) -> None:
        keep(result)
        results[number] = result

    if jobs:
        name = local if engine.is_local else engine.name
        ENGINES[name](
            Call(work, jobs, workers, on_progress, done, folder.absolute(), engine.address, is_ending)
        )
    return [results[number] for number in range(len(jobs))]
