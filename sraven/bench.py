"""The measurements of `sraven bench` on SRAVEN."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from sraven.certificates.ambiguity import count_answers
from sraven.certificates.observer import ideal_observer
from sraven.certificates.posterior import rule_posterior, symbol_marginals
from sraven.core.bench import Case
from sraven.data.write import write_dataset
from sraven.task import SRAVEN

_SYMBOLS = 36
_MANY, _SOME = 1 << 19, 1 << 16

REFERENCE = "NumPy drawing 36 uint8 symbols an instance, on one thread"


def _copy(count: int, M: int) -> Callable[[], object]:
    source, goal = SRAVEN(M=M).empty_batch(count), SRAVEN(M=M).empty_batch(count)
    pairs = list(zip(goal, source, strict=True))
    for _, array in pairs:
        array.fill(1)

    def copy() -> None:
        for there, here in pairs:
            np.copyto(there, here)

    return copy


def cases(threads: int, folder: Path) -> Iterator[Case]:
    """Yield the work to measure; what it writes goes to ``folder``."""
    draw = partial(np.random.Generator(np.random.PCG64(0)).integers, 0, 8, _MANY * _SYMBOLS, np.uint8)
    case = partial(Case, reference=draw, reference_count=_MANY)
    task, unique = SRAVEN(), SRAVEN(answers="unique")
    batch = task.sample("all", 0, _MANY)
    yield case("NumPy: draw 36 symbols an instance", 1, _MANY, draw)
    yield case("memory: copy the arrays of an instance, M=4", 1, _MANY, _copy(_MANY, 4))
    for used, target in ((1, ""), (threads, "ratio 1.5 on 2 threads")):
        work: Callable[[], object] = partial(task.sample, "all", 0, _MANY, threads=used, out=batch)
        yield case("generate, M=4, K=8", used, _MANY, work, target=target)
    work = partial(unique.sample, "all", 0, _SOME, threads=threads)
    yield case("generate with one answer, M=4, K=8", threads, _SOME, work)
    yield case("certify, M=4, K=8", 1, _SOME, partial(count_answers, batch.context[:_SOME], 8, threads=1))
    targets = {4: "1,000,000/s on 2 cores", 6: "100,000/s", 8: "50,000/s", 10: "", 12: ""}
    for M, target in targets.items():
        count = _SOME >> (M - 4)
        context = SRAVEN(M=M).sample("all", 0, count).context
        work = partial(count_answers, context, 8, threads=threads)
        yield case(f"certify, M={M}, K=8", threads, count, work, target=target)
    every = task.combinations("all")
    work = partial(ideal_observer, batch.context[:_SOME], 8, every, threads=threads)
    yield case("ideal observer, M=4, K=8", threads, _SOME, work, target="200,000/s")
    for name, posterior in (("rules", rule_posterior), ("symbols", symbol_marginals)):
        work = partial(posterior, batch.context[:_SOME], 8, every, threads=threads)
        yield case(f"posterior of {name}, M=4, K=8", threads, _SOME, work)
    work = partial(write_dataset, task, {"train": _MANY}, folder / "sraven", threads=threads, force=True)
    yield case("write a certified Parquet dataset, M=4, K=8", threads, _MANY, work)
