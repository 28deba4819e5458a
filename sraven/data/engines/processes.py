"""Jobs in processes of their own: progress comes back, and none outlives its parent."""

import os
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import connection, get_context, parent_process
from typing import Any

from sraven.core.parallel import check_threads
from sraven.data.engines.call import Call
from sraven.files.environment import variables

_INTERVAL = 0.2
_shared: Any = None
"""In a worker: items and bytes done by all of them, whether to stop, how many workers have started, and
whether they are asked to end."""
_number = 0
"""In a worker: which it is, from 0."""


def _exit_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _start_worker(shared: Any) -> None:
    global _shared, _number
    _shared = shared
    with shared.get_lock():
        _number = shared[3]
        shared[3] += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and says when to stop
    # A parent that is killed closes no queue: its workers would write on, beside the run that resumes.
    threading.Thread(target=_exit_with_parent, daemon=True).start()


@cache
def take_processors(workers: int) -> None:
    """In a worker: use an equal part of this machine's processors, where the system can restrict processes.

    Libraries start as many threads as they may use processors: call it before they do.
    """
    if hasattr(os, "sched_setaffinity"):
        free = sorted(os.sched_getaffinity(0))
        start, end = (len(free) * number // workers for number in (_number, _number + 1))
        os.sched_setaffinity(0, free[start : max(end, start + 1)])


def worker_number() -> int:
    """In a worker: return which it is, from 0, in the order in which they start."""
    return _number


def asked_to_end() -> bool:
    """In a worker: return whether its job is to end early, as its caller said by ``is_ending``."""
    return bool(_shared is not None and _shared[4])


def leave_signals_to_parent() -> None:
    """In a worker: end by SIGTERM and SIGUSR1 unless the parent has heard it too, and asks for an end itself.

    Job systems send a signal to all processes at once.
    """
    for each in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(each, _wait_for_parent)


def _wait_for_parent(*signal_and_frame: Any) -> None:
    for _ in range(20):
        if asked_to_end():
            return
        time.sleep(_INTERVAL)
    os._exit(1)


def _report_to_parent(items: int, size: int) -> None:
    with _shared.get_lock():
        _shared[0] += items
        _shared[1] += size
        if _shared[2]:
            raise InterruptedError


def _collect(call: Call, futures: Sequence[Future[Any]], shared: Any) -> None:
    """Wait for all; of several errors, the first job's is raised."""
    reported = (0, 0)

    def pass_on() -> None:
        nonlocal reported
        items, size = shared[0], shared[1]
        call.on_progress(items - reported[0], size - reported[1])
        reported = items, size

    left, failed = dict(enumerate(futures)), set()
    while left:
        running = [future for number, future in left.items() if number not in failed]
        if running:
            wait(running, _INTERVAL, FIRST_COMPLETED)
        pass_on()
        shared[4] = call.is_ending()
        for number in [number for number, future in left.items() if future.done()]:
            if left[number].exception() is None:
                call.done(number, left.pop(number).result())
            elif number == min(left):
                left[number].result()
            else:
                failed.add(number)


def map_in_processes(call: Call) -> None:
    """Do jobs in processes; in this one, if one is enough.

    Raises:
        OSError: if a process died.
    """
    if min(check_threads(call.workers), len(call.jobs)) > 1:
        map_apart(call)
        return
    for number, job in enumerate(call.jobs):
        call.done(number, call.work(job, call.on_progress))


def map_apart(call: Call) -> None:
    """Do jobs in processes, even a single one.

    Raises:
        OSError: if a process died.
    """
    processes = min(check_threads(call.workers), len(call.jobs))
    # Those that `multiprocessing` spawns would look in the working directory even for its own modules.
    with variables(PYTHONSAFEPATH="1"):
        context = get_context("spawn")  # fork and JAX's threads don't go together
        shared: Any = context.Array("q", 5)
        with ProcessPoolExecutor(processes, context, _start_worker, (shared,)) as pool:
            try:
                _collect(call, [pool.submit(call.work, job, _report_to_parent) for job in call.jobs], shared)
            except BrokenProcessPool:
                raise OSError("a process died, perhaps for want of memory; use fewer --processes") from None
            except BaseException:  # an interrupt too: the workers end after the batch at hand
                shared[2] = 1
                pool.shutdown(cancel_futures=True)
                raise
