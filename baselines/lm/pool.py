"""Work on sources in processes of their own: progress comes back, and none outlives its parent."""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from typing import Any, TypeVar

from sraven.core.system.isolation import safe_children

Job = TypeVar("Job")
Result = TypeVar("Result")

Tell = Callable[[int, int], None]
"""Is told of more documents and bytes of text."""

_INTERVAL = 0.2
_shared: Any = None
"""In a worker: documents and bytes done by all of them, and whether to stop."""


def _exit_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _start_worker(shared: Any) -> None:
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and says when to stop
    # A parent that is killed closes no queue: its workers would write on, beside the run that resumes.
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _tell_parent(documents: int, size: int) -> None:
    with _shared.get_lock():
        _shared[0] += documents
        _shared[1] += size
        if _shared[2]:
            raise InterruptedError


def _call(work: Callable[[Job, Tell], Result], job: Job) -> Result:
    return work(job, _tell_parent)


def _results(futures: Sequence[Future[Result]], shared: Any, tell: Tell) -> list[Result]:
    """Wait for all, in order, so that of several errors the first source's is raised."""
    told = (0, 0)

    def pass_on() -> None:
        nonlocal told
        documents, size = shared[0], shared[1]
        tell(documents - told[0], size - told[1])
        told = documents, size

    results = []
    for future in futures:
        while not wait([future], _INTERVAL).done:
            pass_on()
        results.append(future.result())
    pass_on()
    return results


def map_jobs(
    work: Callable[[Job, Tell], Result], jobs: Sequence[Job], processes: int, tell: Tell
) -> list[Result]:
    """Return what ``work`` returns of each job, in order.

    Args:
        work: a function of a module, for it is called in other processes if there are several.
        jobs: what to call it with, besides a function that it tells of progress.
        processes: how many.
        tell: is told of progress, in this process.

    Raises:
        OSError: if a process died.
    """
    if min(processes, len(jobs)) <= 1:
        return [work(job, tell) for job in jobs]
    with safe_children():
        return _map_apart(work, jobs, min(processes, len(jobs)), tell)


def _map_apart(
    work: Callable[[Job, Tell], Result], jobs: Sequence[Job], processes: int, tell: Tell
) -> list[Result]:
    context = get_context("spawn")  # fork and JAX's threads don't go together
    shared: Any = context.Array("q", 3)
    with ProcessPoolExecutor(processes, context, _start_worker, (shared,)) as pool:
        try:
            return _results([pool.submit(_call, work, job) for job in jobs], shared, tell)
        except BrokenProcessPool:
            raise OSError("a process died, perhaps for want of memory; use fewer --processes") from None
        except BaseException:  # an interrupt too: the workers end after the batch at hand
            shared[2] = 1
            pool.shutdown(cancel_futures=True)
            raise
