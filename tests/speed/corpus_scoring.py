"""Time and memory of scoring the largest submission that is accepted: c4-v1, 20 seeds, full training logs.

    python tests/speed/corpus_scoring.py docs/results/corpus-scoring.json

The bounds are 60 seconds and 2.5 GB; memory is that of the command and of its decoder, added up.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from record import keep

from sraven import write_submission
from sraven.board.board import read_board
from sraven.leaderboard.submissions.training_log import MOST_BYTES, MOST_LINES

BOARD, SEEDS = "c4-v1", 20

MEASURED = """
import resource, sys, time
from sraven.leaderboard.submissions.submission import score_submission
start = time.perf_counter()
score_submission(sys.argv[1])
peak = [resource.getrusage(who).ru_maxrss << 10 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(time.perf_counter() - start, *peak)
"""


def write_largest(folder: Path) -> Path:
    """Write a submission that is as large as one may be."""
    board, random = read_board(BOARD), np.random.default_rng(1)
    [(split, size)] = board.splits.items()
    targets = random.integers(1, 2000, size)
    text_bytes = targets * 4 + random.integers(0, 9, size)
    line = '{{"step": 1{:06}, "loss": 1.25, "n": 1}}'
    lines = [line.format(number + 1) for number in range(min(MOST_LINES, MOST_BYTES // 42))]
    log = folder / "log.jsonl"
    log.write_text("\n".join(lines))
    write_submission(
        folder / "entry",
        BOARD,
        {
            split: [
                np.stack([random.uniform(2, 4, size) * targets, targets, text_bytes], axis=1)
                for _ in range(SEEDS)
            ]
        },
        method={"name": "The largest", "description": "As much as is allowed.", "authors": ["Nobody"]},
        model={"parameters": 1},
        training={"instances": 1, "selection_split": None},
        logs=dict.fromkeys(range(SEEDS), log),
    )
    return folder / "entry"


def main(goal: str) -> None:
    """Score it three times and write the best of seconds and the most of bytes to ``goal``."""
    with TemporaryDirectory() as name:
        entry = write_largest(Path(name))
        command, runs = [sys.executable, "-c", MEASURED, str(entry)], []
        for _ in range(3):
            start = time.perf_counter()
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs.append([time.perf_counter() - start, *map(float, done.stdout.split())])
    result = {
        "seeds": SEEDS,
        "processors": os.cpu_count(),
        "seconds": sorted(round(run[0], 2) for run in runs),
        "bytes": {"command": max(int(run[2]) for run in runs), "decoder": max(int(run[3]) for run in runs)},
    }
    keep(goal, result)


if __name__ == "__main__":
    main(*sys.argv[1:])
