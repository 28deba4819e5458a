"""Measure batches of 128 instances a second through PyTorch's `DataLoader`, in this process alone.

    python tests/speed/torch_loader.py docs/results/torch-loader.json

Each loader is read for two seconds, five times, in turn, so that a slow spell of the machine hits all.
"""

import sys
import time
from functools import partial
from itertools import cycle
from statistics import median

import torch
from record import in_turns, keep
from torch.utils.data import DataLoader, default_collate

import fuzzylogic.torch
from fuzzylogic import FuzzyLogic
from sraven import SRAVEN
from sraven.torch import BatchStream, SplitDataset, sequences

BATCH, INSTANCES, ROUNDS, SECONDS = 128, 1_000_000, 5, 2.0


def loaders():
    """Return what is measured, by name."""
    task, fuzzy = SRAVEN(), FuzzyLogic()
    train, stream = task.split("train", INSTANCES), partial(DataLoader, batch_size=None)
    fuzzy_stream = partial(BatchStream, fuzzy, "train", BATCH)
    batches = partial(DataLoader, batch_size=BATCH)
    return {
        "SRAVEN, stream": stream(BatchStream(task, "train", BATCH)),
        "SRAVEN, stream of sequences": stream(BatchStream(task, "train", BATCH, view=sequences(task))),
        "SRAVEN, split in order": batches(SplitDataset(train)),
        "SRAVEN, split shuffled": batches(SplitDataset(train), shuffle=True),
        "SRAVEN, split as it is": batches(train),
        "SRAVEN, split collated one by one": batches(train, collate_fn=collate),
        "fuzzy logic, stream": stream(fuzzy_stream()),
        "fuzzy logic, stream of sequences": stream(fuzzy_stream(view=fuzzylogic.torch.sequences)),
    }


def collate(instances):
    """Stack instances, of which each is a dictionary."""
    return default_collate([*map(dict, instances)])


def forever(loader):
    """Yield a loader's batches, again and again."""
    for again in cycle([loader]):
        yield from again


def rate_of(work):
    """Return how often some work can be done a second."""
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        work()
        done += 1
    return done / (time.perf_counter() - start)


def main(goal):
    """Write batches a second of each loader to ``goal``."""
    works = {name: partial(next, forever(loader)) for name, loader in loaders().items()}
    medians = {name: round(median(rates)) for name, rates in in_turns(works, ROUNDS, rate_of).items()}
    keep(goal, {"batches_of_128_a_second": medians}, torch=torch.__version__)
    for name, rate in medians.items():
        print(f"{name:45} {rate:8,}")


if __name__ == "__main__":
    main(*sys.argv[1:])
