"""`sraven` in float64, but compiling in a fraction of the time; for processes of their own.

Arguments: a directory for compiled programs; ``go``, or ``stall`` to stand still after the first checkpoint,
for somebody to kill it; and a command line.
"""

import signal
from contextlib import ExitStack
from unittest.mock import patch

from baselines.train import processes
from baselines.train.checkpoint import Checkpoints
from cli.main import main as sraven
from helpers.tiny_runs import in_float64, quickly

CODE = "import sys; from helpers.quick_sraven import main; main(*sys.argv[1:])"
"""What runs `main` with the arguments of a process."""


def main(cache, what, *line):
    """Run a command line; end as it does."""
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
