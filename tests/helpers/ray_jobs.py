"""Work for a cluster: functions that its workers import."""

import os
import signal
import sys
import time

from sraven.core import digests
from sraven.data import write

WRITE = write._write_shard


def in_small_shards(*arguments):
    """Write a shard where a block has few instances, as in the process that lists the shards."""
    digests.MOST_INSTANCES = 256
    return WRITE(*arguments)


def is_first(mark):
    """Tell whether nobody has made a mark before, and make it."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def killed_once(mark, work, job, on_progress):
    """Do a job; the first worker that is at it kills itself with the first block in a file."""

    def deadly(items, size):
        on_progress(items, size)
        if is_first(mark):
            os.kill(os.getpid(), signal.SIGKILL)

    return work(job, deadly)


def wait_for(condition):
    """Wait until something is so, for a while."""
    until = time.monotonic() + 90
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)


def node():
    """Return the id of the node that this runs on."""
    import ray

    return ray.get_runtime_context().get_node_id()


def stuck_on(doomed, mark, work, job, on_progress):
    """Do a job; one on a doomed node stays at its first block, and says so. Others wait for that."""

    def slow(items, size):
        on_progress(items, size)
        if node() == doomed:
            is_first(mark)
            time.sleep(600)

    if node() != doomed:
        wait_for(mark.exists)
    return work(job, slow)


def meet(folder, nodes, job, on_progress):
    """Wait until as many nodes have come; return the id of this one, and from where it imports."""
    (folder / node()).touch()
    wait_for(lambda: len(list(folder.iterdir())) >= nodes)
    on_progress(1, job)
    return node(), sys.path


def fail(job, on_progress):
    """Raise what is asked for."""
    raise job
