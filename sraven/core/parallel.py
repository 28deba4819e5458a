"""Run a kernel over slices of a range, in plain threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sraven.core.arguments import check_integer

Progress = Callable[[int], None]
"""Is called with how many more instances are done, from any thread."""

LEAST, MOST = 8192, 32768
"""Instances that a thread takes at a time, by default."""


def available_threads() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system has affinities
        return os.cpu_count() or 1


def check_threads(threads: int | None, name: str = "threads") -> int:
    """Return how many threads to use; None stands for all available ones."""
    return available_threads() if threads is None else check_integer(name, threads, 1, 4096)


def for_each_chunk(
    work: Callable[[slice], None], count: int, threads: int | None, least: int = LEAST
) -> None:
    """Call ``work`` on consecutive slices that cover ``range(count)``.

    Args:
        work: reads and writes only its own slice, so that the result can't depend on the order.
        count: number of instances.
        threads: how many to use; None for all available ones.
        least: instances that are worth a call of their own.
    """
    threads = check_threads(threads)
    # Several slices a thread even out what they cost.
    size = MOST if threads == 1 else max(least, min(MOST, -(-count // (4 * threads))))
    slices = [slice(begin, min(begin + size, count)) for begin in range(0, count, size)]
    threads = min(threads, len(slices))
    if threads <= 1:
        for part in slices:
            work(part)
        return
    # A pool a call: it costs 0.1 ms, and none is left to break in a forked data-loader worker.
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, slices))  # raises what one of them has raised
