"""Time to score 100 submissions of three seeds to sraven-v1 at once: the first, and each after it.

    python tests/speed/scoring.py docs/results/scoring.json

The submissions are of four kinds: random guesses, the last panel with some noise, nearly right, and nearly
the ideal observer's. Bound: well under a minute for those after the first, on two cores. Processor time is
that of the command with the processes that decode.
"""

import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from record import keep, sraven

from sraven import load_board, write_submission

BOARD, COUNT, SEEDS = "sraven-v1", 100, 3


def spoil(panels, share, random, K):
    """Return panels of which a share is random."""
    guesses = random.integers(0, K, panels.shape)
    return np.where(random.random((len(panels), 1)) < share, guesses, panels)


def make_kinds(board):
    """Return what makes predictions of each kind."""
    K = board.task.K
    batches = {split: board.sample(split, 0, size) for split, size in board.splits.items()}
    ideal = {split: board.task.ideal_observer(batch)[0] for split, batch in batches.items()}
    return {
        "random": lambda split, random: spoil(batches[split].target, 1, random, K),
        "copying": lambda split, random: spoil(batches[split].context[:, -1], 0.05, random, K),
        "nearly right": lambda split, random: spoil(batches[split].target, 0.2, random, K),
        "ideal": lambda split, random: spoil(ideal[split], 0.01, random, K),
    }


def write_all(folder):
    """Write the submissions; return their folders."""
    board = load_board(BOARD)
    kinds, folders = make_kinds(board), []
    for number in range(COUNT):
        name = list(kinds)[number % len(kinds)]
        folders.append(folder / f"{number:03}-{name.replace(' ', '-')}")
        predictions = {
            split: [kinds[name](split, np.random.default_rng([number, seed])) for seed in range(SEEDS)]
            for split in board.splits
        }
        write_submission(
            folders[-1],
            BOARD,
            predictions,
            method={"name": folders[-1].name, "description": f"It is {name}.", "authors": ["Nobody"]},
            model={"parameters": 1},
            training={"instances": 1, "selection_split": None},
        )
    return folders


def measure(folders):
    """Return the seconds and processor seconds of the command, and what it prints."""
    before, start = os.times(), time.perf_counter()
    printed = sraven("score", *folders, "--json")
    seconds, after = time.perf_counter() - start, os.times()
    used = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    return seconds, used, json.loads(printed)


def main(goal):
    """Measure and write to ``goal``."""
    with TemporaryDirectory() as scratch:
        folders = write_all(Path(scratch))
        measure(folders[:2])  # compiles, if that is to be done
        first, first_used, _ = measure(folders[:1] * 2)  # two: a row each, as for all
        everything, used, found = measure(folders)
        size = sum(path.stat().st_size for path in Path(scratch).rglob("*") if path.is_file())
    assert len(found) == COUNT and not any("refused" in each for each in found)
    rest, rest_used = everything - first, used - first_used
    result = {
        "board": BOARD,
        "submissions": COUNT,
        "seeds": SEEDS,
        "seconds": {"two": round(first, 2), "all": round(everything, 2), "rest": round(rest, 2)},
        "core_seconds": {"two": round(first_used, 2), "all": round(used, 2)},
        "core_seconds_each": round(rest_used / (COUNT - 2), 3),
        "bytes_each": size // COUNT,
    }
    keep(goal, result)
    print(result["seconds"], result["core_seconds"], result["core_seconds_each"])


if __name__ == "__main__":
    main(*sys.argv[1:])
