"""`sraven`, but compiling in a fraction of the time; for processes of `helpers.forks`.

Arguments: a directory for compiled programs; and one or more command lines, with `THEN` between them, which
one process runs one after the other. Before each stand ``float32``, or ``float64`` to train in that; and
``go``, or ``stall`` to stand still after the first checkpoint, for somebody to kill it.
"""

import signal
from contextlib import ExitStack
from unittest.mock import patch

from baselines.runs.checkpoint import Checkpoints
from baselines.training import processes
from cli.main import main as sraven
from helpers.tiny_runs import in_float64, quickly

THEN = "--then"

CODE = "import sys; from helpers.quick_sraven import main; main(*sys.argv[1:])"
"""What runs `main` with the arguments of a process."""


def main(cache, *arguments):
    """Run command lines; end as the first one that fails, or the last."""
    with ExitStack() as both:
        joined = False

        def join(*values, join=processes.join):
            nonlocal joined
            if not joined:
                join(*values)
                both.enter_context(quickly(cache))  # uses JAX, which nothing may before joining
            joined = True
            if is_exact:
                own.enter_context(in_float64())

        both.enter_context(patch.object(processes, "join", join))
        for dtype, what, *line in _lines(arguments):
            is_exact = dtype == "float64"
            with ExitStack() as own, patch.object(Checkpoints, "save", _save_and(what)):
                try:
                    sraven(line)
                except SystemExit as end:
                    if end.code:
                        raise


def _lines(arguments):
    """Return what stands between `THEN`."""
    lines = [[]]
    for each in arguments:
        if each == THEN:
            lines.append([])
        else:
            lines[-1].append(each)
    return lines


def _save_and(what, save=Checkpoints.save):
    def save_and(self, step, state):
        save(self, step, state)
        if what == "stall":
            signal.pause()

    return save_and
