"""Measures of how much the points of a sequence leave open."""

from dataclasses import dataclass

import numpy as np

from fuzzylogic.metrics import overall
from fuzzylogic.task import FuzzyLogic
from sraven.core.arguments import check_integer
from sraven.core.family import Measured
from sraven.core.means import Mean, mean

_PART = 1 << 14


@dataclass(frozen=True)
class Ambiguity:
    """What is measured on the sequences of one split, for an observer with one prior.

    Attributes:
        split: the split.
        prior: the combinations that the observer assumes: ``all``, or those of a split.
        n: number of sequences.
        several_agree: share with more than one agreeing combination.
        ambiguous: share where they disagree on the query.
        agreeing: how many agree.
        mse: mean squared error of the ideal observer.
        r2: its R², pooled.
        r2_per_sequence: its R², the mean over sequences: the ceiling of what a model can score.
    """

    split: str
    prior: str
    n: int
    several_agree: Mean
    ambiguous: Mean
    agreeing: Mean
    mse: float
    r2: float
    r2_per_sequence: float


def estimate_ambiguity(
    task: FuzzyLogic, split: str, prior: str, n: int, *, threads: int | None = None
) -> Ambiguity:
    """Measure identifiability on the first ``n`` sequences of a split.

    Args:
        task: the task.
        split: ``train``, ``test``, ``ood``, ``ood_terms`` or ``all``.
        prior: ``all``, or the split whose combinations the observer assumes.
        n: number of sequences, from 2.
        threads: threads to use; None for all available ones.
    """
    n = check_integer("n", n, 2, 1 << 40)
    parts = []
    for start in range(0, n, _PART):
        batch = task.sample(split, start, min(_PART, n - start), threads=threads)
        found = task.identify(batch, prior, threads=threads)
        parts.append((*found, batch.targets))
    agreeing, ambiguous, predictions, targets = map(np.concatenate, zip(*parts, strict=True))
    means = mean(agreeing > 1), mean(ambiguous), mean(agreeing)
    scores = overall(predictions, targets.astype(np.float64))
    return Ambiguity(split, prior, n, *means, *(scores[name] for name in ("mse", "r2", "r2_per_sequence")))


def measure(task: FuzzyLogic, n: int, threads: int | None = None) -> Measured:
    """Measure identifiability on the first ``n`` sequences of all splits but train, with either prior."""
    pairs = [("all", "all")] + [(split, prior) for split in task.splits[1:] for prior in ("all", split)]
    found = [estimate_ambiguity(task, split, prior, n, threads=threads) for split, prior in pairs]
    headings = "functions possible", "several agree", "ambiguous query", "observer R²"
    rows = []
    for each in found:
        possible = "all" if each.prior == "all" else "those of the split"
        agree, ambiguous = str(each.several_agree), str(each.ambiguous)
        rows.append((each.split, possible, agree, ambiguous, f"{each.r2:.5f}", f"{each.r2_per_sequence:.5f}"))
    title = f"L={task.L}, K={task.K}, N={task.N}, {n:,} sequences each (± standard error)"
    return Measured(found, title, ("sequences of", *headings, "observer R² per sequence"), rows)
