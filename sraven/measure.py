"""Measures of how ambiguous a task's instances are (paper, appendix B.2 and Table A2)."""

from dataclasses import dataclass

import numpy as np

from sraven.certificates.ambiguity import differs_everywhere
from sraven.core.arguments import check_integer
from sraven.core.family import Measured
from sraven.core.means import Mean, mean
from sraven.task import SRAVEN

_PART = 1 << 16

_POPULATIONS = {"all": "all combinations", "test": "known (test)", "ood": "held out (ood)"}


@dataclass(frozen=True)
class Ambiguity:
    """What is measured on the instances of one split.

    Attributes:
        split: ``all``, ``test`` or ``ood``.
        n: number of instances.
        several_answers: share with another valid answer, the paper's words.
        differs_everywhere: share with a valid answer that differs from the target in every
            feature, what the paper's published code counts.
        observer: accuracy expected of an ideal observer that assumes all combinations.
        observer_knowing_split: of one that knows the split's combinations.
    """

    split: str
    n: int
    several_answers: Mean
    differs_everywhere: Mean
    observer: Mean
    observer_knowing_split: Mean


def estimate_ambiguity(task: SRAVEN, split: str, n: int, *, threads: int | None = None) -> Ambiguity:
    """Measure ambiguity on the first ``n`` instances of a split.

    The observer's accuracy is the mean of its exact posterior probabilities, so it has no noise
    but that of the sample of instances.

    Args:
        task: the task.
        split: ``train``, ``test``, ``ood``, or ``all`` for all combinations.
        n: number of instances, from 2.
        threads: threads to use; None for all available ones.
    """
    n = check_integer("n", n, 2, 1 << 40)
    has_all = len(task.combinations(split)) == len(task.combinations("all"))
    parts = []
    for start in range(0, n, _PART):
        batch = task.sample(split, start, min(_PART, n - start), threads=threads)
        several = task.count_answers(batch, threads=threads) > 1
        everywhere = differs_everywhere(
            batch.context, batch.target, task.K, threads=threads, **task.context_options
        )
        observed = task.ideal_observer(batch, threads=threads)[1]
        prior = observed if has_all else task.ideal_observer(batch, split, threads=threads)[1]
        parts.append((several, everywhere, observed, prior))
    return Ambiguity(split, n, *(mean(np.concatenate(column)) for column in zip(*parts, strict=True)))


def measure(task: SRAVEN, n: int, threads: int | None = None) -> Measured:
    """Measure ambiguity on the first ``n`` instances of all, known and held-out combinations."""
    found = [estimate_ambiguity(task, split, n, threads=threads) for split in ("all", *task.splits[1:])]
    headings = "several answers", "differs everywhere", "observer", "observer, knowing the split"
    return Measured(
        found,
        f"M={task.M}, K={task.K}, {n:,} instances each (± standard error)",
        ("instances of", *headings),
        [(_POPULATIONS[each.split], *map(str, [*vars(each).values()][2:])) for each in found],
    )
