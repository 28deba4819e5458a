"""Time runs at a time, each on its part of the processors, beside a run on all of them.

    python tests/speed/jobs.py docs/results/jobs-speed.json 2

For each attention on `sraven-v1`: milliseconds of a step in each of that many processes, as
`sraven reproduce --run --jobs` trains them, and of a run alone, in turns; and how many times as many steps a
second the processes do in all. Each time is the median of ten seconds of steps, and of the rounds.
"""

import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

import jax
from record import keep, seconds_of
from training import STEPS, works

from sraven.core.engines.jobs import HERE, map_jobs
from sraven.core.engines.processes import take_processors

SECONDS, ROUNDS = 10, 3


def milliseconds(processes, attention, on_progress):
    """Return the time of a step in this process, one of some."""
    take_processors(processes)
    step, times = works("sraven-v1", attention)[0]["step"], []
    jax.block_until_ready(step())
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        times.append(1e3 * seconds_of(lambda: jax.block_until_ready(step())) / STEPS)
    return median(times)


def main(goal, jobs):
    """Measure, and write the result to ``goal``."""
    found = []
    for attention in ("softmax", "linear", "hyla"):
        times = {1: [], jobs: []}
        for _ in range(ROUNDS):
            for processes, kept in times.items():
                work = partial(milliseconds, processes)
                kept += map_jobs(work, [attention] * processes, engine=HERE, local="processes", folder=Path())
        alone, beside = median(times[1]), median(times[jobs])
        found.append(
            {
                "attention": attention,
                "milliseconds": {"alone": round(alone, 1), "each": round(beside, 1)},
                "times_the_steps": round(jobs * alone / beside, 2),
            }
        )
        print(found[-1], flush=True)
    keep(goal, {"jobs": jobs, "runs": found})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
