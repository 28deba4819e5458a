"""Two processes that train one run, each with one device."""

import os
import signal
import socket
import time

from baselines.train.directory import CHECKPOINTS
from helpers.python import start
from helpers.quick_sraven import CODE


def start_two(cache, *line, out=None):
    """Start both processes of a run, in float64.

    Args:
        cache: a directory for compiled programs.
        *line: ``go`` or ``stall`` and a command line, as `helpers.quick_sraven` takes it.
        out: what the names of the files begin with that their output goes into; None for nowhere.
    """
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    both = []
    for place in range(2):
        options = [f"--coordinator=localhost:{port}", "--processes=2", f"--process-id={place}"]
        options.append("--save-minutes=600")  # a slow machine saves after no other steps
        stdout = os.devnull if out is None else f"{out}-{place}.txt"
        both.append(start(CODE, cache, *line, *options, stdout=stdout))
    return both


def kill_at_first_checkpoint(both, run, step):
    """Kill processes that stall once they have a checkpoint; return how they ended, and which there are."""
    while all(one.poll() is None for one in both) and not (run / CHECKPOINTS / str(step)).exists():
        time.sleep(0.05)
    for one in both:
        one.send_signal(signal.SIGKILL)
    codes = [one.wait(timeout=60) for one in both]
    return codes, [path.name for path in (run / CHECKPOINTS).iterdir() if path.name.isdigit()]
