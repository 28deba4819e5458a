"""Time runs at a time, each on its part of the processors, beside a run on all of them as one device or more.

    python tests/speed/jobs.py docs/results/jobs-speed.json 2

For each attention on `sraven-v1`, in turns: milliseconds of a step of a run alone, on one device of all
processors; of one on a mesh of that many devices; and in each of that many processes, as
`sraven reproduce --run --jobs` trains them. And how many times as many steps a second as alone the mesh and
the processes in all do. Each time is the median of ten seconds of steps, and of the rounds.
"""

import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

import jax
import numpy as np
from record import keep, seconds_of

from baselines.recipes import make_config
from baselines.training.compiled import Compiled
from baselines.training.experiment import board_experiment
from baselines.training.sharding import make_mesh
from baselines.training.train import hyper_of
from sraven.board.board import read_board
from sraven.data.engines.jobs import HERE, map_jobs
from sraven.data.engines.processes import take_processors

BOARD, STEPS, SECONDS, ROUNDS = "sraven-v1", 10, 10, 3


def milliseconds(processes, devices, attention, on_progress):
    """Return the time of a step in this process, one of some, on some devices."""
    take_processors(processes)
    config, mesh = make_config(read_board(BOARD), attention), make_mesh(f"data={devices}")
    experiment = board_experiment(config, mesh)
    compiled, hyper = Compiled(experiment, mesh), hyper_of([config])
    states = compiled.stack([compiled.initialise(np.uint32(0))])
    chunk = experiment.place(mesh, experiment.make_chunk(0, STEPS))

    def train():
        nonlocal states
        states, _ = jax.block_until_ready(compiled.train(states, hyper, chunk))

    train()  # compiles
    times, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        times.append(1e3 * seconds_of(train) / STEPS)
    return median(times)


def main(goal, jobs):
    """Measure, and write the result to ``goal``."""
    jax.config.update("jax_num_cpu_devices", jobs)
    found = []
    for attention in ("softmax", "linear", "hyla"):
        times = {(1, 1): [], (1, jobs): [], (jobs, 1): []}
        for _ in range(ROUNDS):
            for (processes, devices), kept in times.items():
                work = partial(milliseconds, processes, devices)
                kept += map_jobs(work, [attention] * processes, engine=HERE, local="processes", folder=Path())
        alone, mesh, each = map(median, times.values())
        found.append(
            {
                "attention": attention,
                "milliseconds": {"alone": round(alone, 1), "mesh": round(mesh, 1), "each": round(each, 1)},
                "times_the_steps": {"mesh": round(alone / mesh, 2), "jobs": round(jobs * alone / each, 2)},
            }
        )
        print(found[-1], flush=True)
    keep(goal, {"jobs": jobs, "runs": found})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
