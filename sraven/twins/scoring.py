"""How predictions of twins are scored: by sets, of which each counts as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.tasks.comparison import compare_answers
from sraven.core.tasks.task import Arrays, Labels, Metric, ratio
from sraven.scoring import SRAVENScoring
from sraven.task import Batch
from sraven.twins.task import Twins
from sraven.twins.variants import FIRST

Sums = NDArray[np.float64]


def _independent(solved: Sums, variants: Sums, sets: Sums) -> Sums:
    """Return p to the number of variants of a set, where p is the share of variants that are solved."""
    return np.asarray(ratio(solved, variants) ** ratio(variants, sets))


def _by_combination(solved: Sums, variants: Sums, sets: Sums, combination: Sums) -> Sums:
    """Return the mean over sets of p to the number of variants, where p is that of one's combination."""
    leads = sets[:, 0] > 0
    if not leads.any():
        return np.full(solved.shape[1], np.nan)
    solved, variants = solved[leads], variants[leads]
    numbers, place = np.unique(combination[leads, 0], return_inverse=True)
    share = np.zeros((len(numbers), solved.shape[1]))
    np.add.at(share, place, solved)
    share /= np.bincount(place, variants[:, 0])[:, None]
    return np.asarray((share[place] ** variants).mean(axis=0))


def _systematicity(whole: Sums, solved: Sums, variants: Sums, sets: Sums) -> Sums:
    """Return where between the two lines a score is; 1 if all is solved, NaN if nothing is."""
    share, independent = ratio(solved, variants), _independent(solved, variants, sets)
    found = ratio(ratio(whole, sets) - independent, share - independent)
    return np.where(share == 1, 1.0, found)


@cache
def _make_metrics(suffixes: tuple[str, ...]) -> Mapping[str, Metric]:
    found: dict[str, Metric] = {}
    for suffix in suffixes:
        whole, some, solved, variants = (f"{name}{suffix}" for name in ("all", "any", "solved", "variants"))
        found |= {
            f"pass_all{suffix}": Metric((whole, "sets"), ratio),
            f"pass_mean{suffix}": Metric((solved, variants), ratio),
            f"pass_any{suffix}": Metric((some, "sets"), ratio),
            f"independent{suffix}": Metric((solved, variants, "sets"), _independent),
            f"independent_by_combination{suffix}": Metric(
                (solved, variants, "sets", "combination"), _by_combination, of_instances=True
            ),
            f"systematicity{suffix}": Metric((whole, solved, variants, "sets"), _systematicity),
        }
    return found


@dataclass(frozen=True)
class TwinsScoring(SRAVENScoring):
    """Scores predictions of sets of twins.

    ==============================  ===============================================================
    metric                          meaning
    ==============================  ===============================================================
    ``pass_all``                    share of sets that are solved in every variant
    ``pass_mean``                   mean share of the variants of a set that are solved
    ``pass_any``                    share of sets of which at least one variant is solved
    ``independent``                 ``pass_all`` to expect if each variant were solved by itself,
                                    with the probability p that is ``pass_mean``: the mean over
                                    sets of the product of p over their variants. All sets have V
                                    variants, so it is p to the power V
    ``independent_by_combination``  the same, but for the p of each set: the mean share over the sets
                                    whose first puzzle is of the same combination
    ``systematicity``               where ``pass_all`` is between ``independent`` (0) and
                                    ``pass_mean`` (1), which it is if solving is all or nothing;
                                    1 if all is solved
    ``<name>.<kind>``               each of them with the twins of one kind alone: sets are the first
                                    puzzle and its twins of that kind
    ==============================  ===============================================================

    What there is of a set is summed at its first instance, so a bootstrap sample draws sets as a whole. A
    set that isn't there as a whole, as when predictions end within it, doesn't count.

    Attributes:
        task: the task.
    """

    task: Twins

    comparison: ClassVar = compare_answers("pass_mean")

    @property
    def _parts(self) -> dict[str, NDArray[np.bool_]]:
        """Which variants the metrics of each suffix are about: bool ``[size]``."""
        kinds = np.array(self.task.kinds)
        twins = {f".{kind}": np.isin(kinds, (FIRST, kind)) for kind in dict.fromkeys(self.task.kinds[1:])}
        return {"": np.ones(len(kinds), np.bool_), **twins}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name."""
        return _make_metrics(tuple(self._parts))

    @property
    def by_combination(self) -> tuple[str, ...]:
        """Nothing: a set may have two combinations."""
        return ()

    @property
    def chance(self) -> dict[str, float]:
        """What guessing all features of each panel scores."""
        hit, size = float(self.task.K) ** -self.task.M, self.task.size
        return {"pass_all": hit**size, "pass_mean": hit, "pass_any": 1 - (1 - hit) ** size}

    def labels(self, batch: Batch, threads: int | None) -> Labels:
        """Return the truth about the instances of a batch, and which of them is the first of a whole set."""
        found = super().labels(batch, threads)
        sets, place = np.unique(found.arrays["set"], return_inverse=True)
        rows = np.full((len(sets), self.task.size), -1, np.int64)
        rows[place, found.arrays["variant"]] = np.arange(len(place))
        rows = rows[(rows >= 0).all(axis=1)]
        leads = np.zeros(len(place), np.int64)
        leads[rows[:, 0]] = 1
        summands = {f"variants{suffix}": leads * part.sum() for suffix, part in self._parts.items()}
        return Labels(
            {**found.arrays, "rows_of_sets": rows},
            {"sets": leads, "combination": found.arrays["combination"], **summands},
        )

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return what predictions (uint8 ``[n, M]``) solve, as columns ``[n]`` to be summed."""
        rows = labels.arrays["rows_of_sets"]
        right = (predictions == labels.arrays["target"]).all(axis=1) & answered
        found: dict[str, NDArray[np.int64]] = {}
        for suffix, part in self._parts.items():
            solved = right[rows[:, part]].sum(axis=1)
            for name, of_set in (("solved", solved), ("any", solved > 0), ("all", solved == part.sum())):
                column = np.zeros(len(right), np.int64)
                column[rows[:, 0]] = of_set
                found[f"{name}{suffix}"] = column
        return found
