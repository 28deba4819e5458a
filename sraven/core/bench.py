"""Speeds as ratios in one run: each is measured right after a reference of known meaning."""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

from sraven.core.parallel import available_threads

_ROUNDS = 7


@dataclass(frozen=True)
class Case:
    """Some work to measure.

    Attributes:
        what: the work, in words.
        threads: how many threads do it.
        count: instances that one call makes.
        work: the call.
        reference: NumPy's work that it is compared with.
        reference_count: instances that one call of that makes.
        target: what the speed has to reach, in words.
    """

    what: str
    threads: int
    count: int
    work: Callable[[], object]
    reference: Callable[[], object]
    reference_count: int
    target: str = ""


@dataclass(frozen=True)
class Speed:
    """A measured speed.

    Attributes:
        what: the work, in words.
        threads: how many threads did it.
        per_second: instances a second, median over rounds.
        ratio: speed over that of the reference measured right before, median over rounds.
        target: what the speed has to reach, in words.
    """

    what: str
    threads: int
    per_second: float
    ratio: float
    target: str


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(case: Case) -> Speed:
    """Measure one case in seven rounds, after one that compiles and fills the caches."""
    case.work()
    speeds, ratios = [], []
    for _ in range(_ROUNDS):
        reference_speed = case.reference_count / _seconds(case.reference)
        speeds.append(case.count / _seconds(case.work))
        ratios.append(speeds[-1] / reference_speed)
    return Speed(case.what, case.threads, median(speeds), median(ratios), case.target)


def machine() -> dict[str, object]:
    """Return what a reader needs to know of the machine and the software."""
    return {
        "processors": os.cpu_count(),
        "threads_available": available_threads(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
