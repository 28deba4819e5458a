"""Measure how many instances a second are certified, and observed, by M and K.

    python tests/speed/certificates.py docs/results/certificates.json

The table of docs/sraven.md has the result; a test holds it against the file. What an instance costs depends
on it, so a rate is one over many, where one doesn't take a tenth of a second: the best of three rounds, on
all threads.
"""

import sys

from record import keep, least_seconds

from sraven.core.parallel import available_threads
from sraven.task import SRAVEN

COUNTS = {
    (4, 8): 65_536,
    (6, 8): 32_768,
    (8, 16): 16_384,
    (8, 8): 16_384,
    (8, 4): 4_096,
    (10, 16): 16_384,
    (10, 8): 8_192,
    (10, 4): 64,
    (12, 16): 8_192,
    (12, 8): 4_096,
}
"""Instances by M and K."""

WITHOUT_OBSERVER = (10, 4)
"""The observer would take minutes."""

ROUNDS = 3


def per_second(work, count):
    """Return the best rate, after a call that compiles."""
    return round(count / least_seconds({"": work}, ROUNDS)[""], 1)


def measure(M, K, count):
    """Return the rates of a size."""
    task = SRAVEN(M=M, K=K)
    batch = task.sample("all", 0, count)
    rates = {"certify": per_second(lambda: task.count_answers(batch), count), "observe": None}
    if (M, K) != WITHOUT_OBSERVER:
        rates["observe"] = per_second(lambda: task.ideal_observer(batch), count)
    return rates


def main(goal):
    """Measure and write command, commit, machine and rates to ``goal``."""
    rates = [{"M": M, "K": K, **measure(M, K, count)} for (M, K), count in COUNTS.items()]
    keep(goal, {"instances_per_second": rates}, threads=available_threads())


if __name__ == "__main__":
    main(*sys.argv[1:])
