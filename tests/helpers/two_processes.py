"""Two processes that train one run, each with one device."""

import os
import signal
import socket
import time
from contextlib import ExitStack
from unittest.mock import patch

from baselines.train import processes
from baselines.train.checkpoint import Checkpoints
from baselines.train.directory import CHECKPOINTS
from cli.main import main as sraven
from helpers.python import start
from helpers.tiny_runs import in_float64, quickly

CODE = "import sys; from helpers.two_processes import main; main(*sys.argv[1:])"


def start_two(cache, *line, out=None):
    """Start both processes of a run, in float64.

    Args:
        cache: a directory for compiled programs.
        *line: ``go`` or ``stall`` and a command line, as `main` takes them.
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


def main(cache, what, *line):
    """Run `sraven` in float64, but compiling in a fraction of the time; for a process of its own.

    Args:
        cache: a directory for compiled programs.
        what: ``go``, or ``stall`` to stand still after the first checkpoint, for somebody to kill it.
        *line: the command line.
    """
    with ExitStack() as stack:

        def join(join=processes.join, **values):
            join(**values)
            stack.enter_context(quickly(cache))  # uses JAX, which nothing may before joining
            stack.enter_context(in_float64())

        stack.enter_context(patch.object(processes, "join", join))
        stack.enter_context(patch.object(Checkpoints, "save", _save_and(what)))
        sraven(line)


def _save_and(what, save=Checkpoints.save):
    def save_and(self, step, state):
        save(self, step, state)
        if what == "stall":
            signal.pause()

    return save_and
