"""The metrics of twins: by sets, each of which counts as a whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.means import Mean, share
from sraven.core.roles import Arrays, Labels, Metric, ratio
from sraven.metrics import SRAVENScoring
from sraven.scoring.agreement import compare_answers
from sraven.task import Batch
from sraven.twins.variants import FIRST

if TYPE_CHECKING:
    from sraven.twins.task import Twins

Sums = NDArray[np.float64]


def _solved_share(solved: Sums, variants: Sums, sets: Sums) -> Sums:
    """Return the share of variants that are solved."""
    return ratio(solved, variants)


def _all_by_chance(solved: Sums, variants: Sums, sets: Sums) -> Sums:
    """Return p to the number of variants of a set, where p is the share of variants that are solved."""
    return np.asarray(ratio(solved, variants) ** ratio(variants, sets))


def _over_levels(of_level: Callable[[Sums, Sums, Sums], Sums], *sums: Sums) -> Sums:
    """Return the mean over sets of what is one number for a level, given three sums of each level."""
    levels = list(zip(sums[0::3], sums[1::3], sums[2::3], strict=True))
    if len(levels) == 1:
        return of_level(*levels[0])
    total = sum(np.where(level[2] > 0, of_level(*level), 0) * level[2] for level in levels)
    return ratio(np.asarray(total), np.sum(sums[2::3], axis=0))


_mean, _independent = partial(_over_levels, _solved_share), partial(_over_levels, _all_by_chance)


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


def _systematicity(whole: Sums, *sums: Sums) -> Sums:
    """Return where between the two lines a score is; 1 if all is solved, NaN if nothing is."""
    share, independent, sets = _mean(*sums), _independent(*sums), np.sum(sums[2::3], axis=0)
    found = ratio(ratio(whole, sets) - independent, share - independent)
    return np.where(share == 1, 1.0, found)


@cache
def make_metrics(levels: tuple[tuple[str, tuple[str, ...]], ...]) -> Mapping[str, Metric]:
    """Return the metrics of sets by name.

    Args:
        levels: suffixes of names, each with those of the levels of which its sets are.
    """
    found: dict[str, Metric] = {}
    for suffix, parts in levels:
        whole, some = f"all{suffix}", f"any{suffix}"
        own = f"solved{suffix}", f"variants{suffix}", f"sets{suffix}"
        sums = tuple(f"{name}{part}" for part in parts for name in ("solved", "variants", "sets"))
        found |= {
            f"pass_all{suffix}": Metric((whole, own[2]), ratio),
            f"pass_mean{suffix}": Metric(sums, _mean),
            f"pass_any{suffix}": Metric((some, own[2]), ratio),
            f"independent{suffix}": Metric(sums, _independent),
            f"independent_by_combination{suffix}": Metric(
                (*own, "combination"), _by_combination, of_instances=True
            ),
            f"systematicity{suffix}": Metric((whole, *sums), _systematicity),
        }
    return found


def rows_of_sets(sets: NDArray[np.int64], variants: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the rows of each set that is there as a whole, ``[sets, size]``, given those of all variants."""
    numbers, place = np.unique(sets, return_inverse=True)
    rows = np.full((len(numbers), size), -1, np.int64)
    rows[place, variants] = np.arange(len(place))
    return rows[(rows >= 0).all(axis=1)]


def _at_first(n: int, rows: NDArray[np.int64], of_sets: NDArray[Any]) -> NDArray[np.int64]:
    column = np.zeros(n, np.int64)
    column[rows[:, 0]] = of_sets
    return column


def count_sets(n: int, rows: NDArray[np.int64], parts: Mapping[str, NDArray[np.bool_]]) -> Arrays:
    """Return how many sets and variants the metrics are about, as columns ``[n]``.

    Args:
        n: number of instances.
        rows: of `rows_of_sets`.
        parts: by suffix, which variants the metrics are about: bool ``[sets, size]``, or ``[size]`` if it is
            the same of all sets.
    """
    found: dict[str, NDArray[np.int64]] = {}
    for suffix, part in parts.items():
        found[f"sets{suffix}"] = _at_first(n, rows, part.sum(axis=-1) > 0)
        found[f"variants{suffix}"] = _at_first(n, rows, part.sum(axis=-1))
    return found


def count_solved(
    right: NDArray[np.bool_], rows: NDArray[np.int64], parts: Mapping[str, NDArray[np.bool_]]
) -> Arrays:
    """Return which sets are solved, and how far, as columns ``[n]``, given which instances are."""
    found: dict[str, NDArray[np.int64]] = {}
    for suffix, part in parts.items():
        solved = (right[rows] & part).sum(axis=1)
        whole = (solved > 0) & (solved == part.sum(axis=-1))
        for name, of_sets in (("solved", solved), ("any", solved > 0), ("all", whole)):
            found[f"{name}{suffix}"] = _at_first(len(right), rows, of_sets)
    return found


@dataclass(frozen=True)
class SetScore:
    """Scores of sets by `make_metrics`, without a bootstrap: standard errors are over sets.

    Attributes:
        level: name of the level, or ``total``.
        n: number of sets.
        pass_all: share that is solved in every variant.
        pass_any: share that is solved in one or more.
        pass_mean: mean share of the variants that are solved.
        independent: ``pass_all`` to expect if each variant were solved by itself; None without a set.
        systematicity: where ``pass_all`` is between that and ``pass_mean``; None if nothing is solved.
    """

    level: str
    n: int
    pass_all: Mean
    pass_any: Mean
    pass_mean: Mean
    independent: float | None
    systematicity: float | None


def score_sets(level: str, right: Sequence[NDArray[np.float64]]) -> SetScore:
    """Return the scores of sets, given what is right of each level.

    Args:
        level: what they are called.
        right: of each level float64 ``[variants, sets]``: 1 where an answer is right; of several replies,
            the share that is. The scores are then the means over all ways to take one reply of each variant.
    """
    parts = tuple(f".{number}" for number in range(len(right)))
    columns = {
        "pass_all": [each.prod(axis=0) for each in right],
        "pass_any": [1 - (1 - each).prod(axis=0) for each in right],
        "pass_mean": [each.mean(axis=0) for each in right],
    }
    shares = {name: np.concatenate(found) for name, found in columns.items()}
    n = len(shares["pass_all"])
    sums = {"all": shares["pass_all"].sum(), "sets": n}
    for part, each in zip(parts, right, strict=True):
        sums |= {f"solved{part}": each.sum(), f"variants{part}": each.size, f"sets{part}": each.shape[1]}

    def score(name: str) -> float | None:
        metric = make_metrics((("", parts),))[name]
        value = float(metric.function(*(np.array([sums[each]], np.float64) for each in metric.summands))[0])
        return None if np.isnan(value) else value

    means = {name: share(values) for name, values in shares.items()}
    return SetScore(level, n, **means, independent=score("independent"), systematicity=score("systematicity"))


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

    task: "Twins"

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
        return make_metrics(tuple((suffix, (suffix,)) for suffix in self._parts))

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
        rows = rows_of_sets(found.arrays["set"], found.arrays["variant"], self.task.size)
        combination = found.arrays["combination"]
        return Labels(
            {**found.arrays, "rows_of_sets": rows},
            {"combination": combination, **count_sets(len(combination), rows, self._parts)},
        )

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return what predictions (uint8 ``[n, M]``) solve, as columns ``[n]`` to be summed."""
        right = (predictions == labels.arrays["target"]).all(axis=1) & answered
        return count_solved(right, labels.arrays["rows_of_sets"], self._parts)
