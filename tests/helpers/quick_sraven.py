"""`sraven`, but compiling in a fraction of the time; a script for `test_processes`.

Arguments: a directory for compiled programs; ``float32``, or ``float64`` to train in that; ``go``, or
``stall`` to stand still after the first checkpoint, for somebody to kill it; and the command line.
"""

import signal
import sys
from contextlib import ExitStack
from unittest.mock import patch

from baselines import processes
from baselines.checkpoint import Checkpoints
from cli.main import main
from helpers.tiny_runs import in_float64, quickly


def _run(cache, dtype, what, *arguments):
    with ExitStack() as stack:

        def join(*values, join=processes.join):
            join(*values)
            stack.enter_context(quickly(cache))  # uses JAX, which nothing may before joining
            if dtype == "float64":
                stack.enter_context(in_float64())

        def save(self, step, state, save=Checkpoints.save):
            save(self, step, state)
            if what == "stall":
                signal.pause()

        stack.enter_context(patch.object(processes, "join", join))
        stack.enter_context(patch.object(Checkpoints, "save", save))
        main(list(arguments))


if __name__ == "__main__":
    _run(*sys.argv[1:])
