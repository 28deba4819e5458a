"""The measurements of `sraven bench` on fuzzy logic."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from fuzzylogic.identifiability import identify
from fuzzylogic.task import FuzzyLogic
from sraven.core.bench import Case
from sraven.data.write import write_dataset

_MANY, _SOME = 1 << 17, 1 << 15

REFERENCE = "NumPy drawing the same number of float32 inputs, on one thread"


def cases(threads: int, folder: Path) -> Iterator[Case]:
    """Yield the work to measure; what it writes goes to ``folder``."""
    task = FuzzyLogic()
    batch = task.sample("train", 0, _MANY)
    numbers = np.empty(_MANY * task.N * task.L, np.float32)
    draw = partial(np.random.Generator(np.random.PCG64(0)).random, dtype=np.float32, out=numbers)
    case = partial(Case, reference=draw, reference_count=_MANY)
    for used, target in ((1, ""), (threads, "ratio 0.5 on 2 threads")):
        work: Callable[[], object] = partial(task.sample, "train", 0, _MANY, threads=used, out=batch)
        yield case("fuzzy logic: generate, L=4, K=2, N=32", used, _MANY, work, target=target)
    work = partial(identify, batch.inputs[:_SOME], batch.targets[:_SOME], task.K, threads=threads)
    yield case("fuzzy logic: identify, L=4, K=2, N=32", threads, _SOME, work, target="200,000/s")
    work = partial(write_dataset, task, {"train": _MANY}, folder / "fuzzylogic", threads=threads, force=True)
    yield case("fuzzy logic: write a Parquet dataset, L=4, K=2, N=32", threads, _MANY, work)
