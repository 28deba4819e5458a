"""Measure batches of 128 instances a second through PyTorch's `DataLoader`, in this process alone.

    python tests/speed/torch_loader.py docs/results/torch-loader.json

Each loader is read for two seconds, five times, in turn, so that a slow spell of the machine hits all.
"""

import sys
import time
from collections.abc import Iterator
from itertools import cycle
from statistics import median
from typing import Any

import torch
from record import keep
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


def main(goal: str) -> None:
    """Write batches a second of each loader to ``goal``."""
    streams = {name: forever(loader) for name, loader in loaders().items()}
    rates: dict[str, list[float]] = {name: [] for name in streams}
    for name in [*streams] * (ROUNDS + 1):  # the first round compiles and fills caches
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            next(streams[name])
            done += 1
        rates[name].append(done / (time.perf_counter() - start))
    medians = {name: round(median(each[1:])) for name, each in rates.items()}
    keep(goal, {"batches_of_128_a_second": medians}, torch=torch.__version__)
    for name, rate in medians.items():
        print(f"{name:45} {rate:8,}")


if __name__ == "__main__":
    main(*sys.argv[1:])
