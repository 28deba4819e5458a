"""Measure batches of 128 instances a second through PyTorch's `DataLoader`, in this process alone.

    python tests/speed/torch_loader.py docs/results/torch-loader.json

Each loader is read for two seconds, five times, in turn, so that a slow spell of the machine hits all.
"""

import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from statistics import median
from typing import Any

import torch
from record import Work, in_turns, keep
from torch.utils.data import DataLoader, default_collate

import fuzzylogic.torch
from fuzzylogic import FuzzyLogic
from sraven import SRAVEN
from sraven.torch import BatchStream, SplitDataset, sequences

BATCH, INSTANCES, ROUNDS, SECONDS = 128, 1_000_000, 5, 2.0


def loaders() -> dict[str, DataLoader[Any]]:
    """Return what is measured, by name."""
    task, fuzzy = SRAVEN(), FuzzyLogic()
    train = task.split("train", INSTANCES)
    see = sequences(task)
    return {
        "SRAVEN, stream": DataLoader(BatchStream(task, "train", BATCH), batch_size=None),
        "SRAVEN, stream of sequences": DataLoader(
            BatchStream(task, "train", BATCH, view=see), batch_size=None
        ),
        "SRAVEN, split in order": DataLoader(SplitDataset(train), batch_size=BATCH),
        "SRAVEN, split shuffled": DataLoader(SplitDataset(train), batch_size=BATCH, shuffle=True),
        "SRAVEN, split as it is": DataLoader(train, batch_size=BATCH),
        "SRAVEN, split collated one by one": DataLoader(
            train, batch_size=BATCH, collate_fn=lambda instances: default_collate([*map(dict, instances)])
        ),
        "fuzzy logic, stream": DataLoader(BatchStream(fuzzy, "train", BATCH), batch_size=None),
        "fuzzy logic, stream of sequences": DataLoader(
            BatchStream(fuzzy, "train", BATCH, view=fuzzylogic.torch.sequences), batch_size=None
        ),
    }


def forever(loader: DataLoader[Any]) -> Iterator[Any]:
    """Yield a loader's batches, again and again."""
    for again in cycle([loader]):
        yield from again


def rate_of(work: Work) -> float:
    """Return how often some work can be done a second."""
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        work()
        done += 1
    return done / (time.perf_counter() - start)


def main(goal: str) -> None:
    """Write batches a second of each loader to ``goal``."""
    works = {name: partial(next, forever(loader)) for name, loader in loaders().items()}
    medians = {name: round(median(rates)) for name, rates in in_turns(works, ROUNDS, rate_of).items()}
    keep(goal, {"batches_of_128_a_second": medians}, torch=torch.__version__)
    for name, rate in medians.items():
        print(f"{name:45} {rate:8,}")


if __name__ == "__main__":
    main(*sys.argv[1:])
