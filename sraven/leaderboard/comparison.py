"""Entries compared on the same instances: differences, with intervals over combinations and seeds.

Each draw has other combinations, the same for both entries, and other seeds: to the difference on these
combinations it adds the standard error over seeds times Student's t, its degrees of freedom by Welch, rounded
down. For a few seeds say little of their own spread. The spread of a single seed is taken to be that of the
other entry's. The interval of a difference holds the middle of what comes out, and p is twice the share of
draws on the rarer side of 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape
from sraven.core.means import standard_error
from sraven.core.rng import derive_key, fill_draws
from sraven.leaderboard.standing import REFERENCE, Combinations, Entry
from sraven.leaderboard.submissions.submission import SUBMISSIONS, Submission, read_submission
from sraven.scoring.bootstrap import LEVEL, resample_combinations
from sraven.scoring.scores import DIGITS, middle, score_samples

Draws = NDArray[np.float64]

DRAWS = 20_000
"""Draws of a comparison: so many that p can stay small when it is corrected for a whole board."""

_SIGMAS = NormalDist().inv_cdf((1 + LEVEL) / 2)  # from the middle of an interval to its end


@lru_cache(maxsize=8)
def _normals(count: int, stream: str) -> Draws:
    """Return normal deviates ``[count, DRAWS]`` that belong to a name, by Box and Muller."""
    draws = np.zeros((2 * count, DRAWS), np.uint64)
    fill_draws(draws, derive_key(stream=stream), np.arange(DRAWS, dtype=np.uint64), np.uint64(0))
    radii, angles = np.split(((draws >> np.uint64(11)) + 0.5) * 2.0**-53, 2)
    return np.asarray(np.sqrt(-2 * np.log(radii)) * np.cos(2 * np.pi * angles))


@lru_cache(maxsize=128)
def _resampled(combinations: Combinations) -> Draws:
    """Return the mean over an entry's combinations in each draw; one of many pairs asks for it many times."""
    return resample_combinations(combinations.mean, combinations.instances, samples=DRAWS)


def _over_seeds(seeds: Sequence[int], errors: Sequence[float | None]) -> Draws:
    """Return what other seeds add to a difference in each draw, given the standard errors over some each.

    None is of a single seed, which is taken to come from as wide a distribution as the other entry's seeds.
    """
    known = [(count, error**2) for count, error in zip(seeds, errors, strict=True) if error is not None]
    variance = sum(each for _, each in known)
    freedom = variance**2 / (sum(each**2 / (count - 1) for count, each in known if each) or np.inf)
    if len(known) == 1:
        variance *= 1 + known[0][0]
    first, *others = _normals(max(1, int(freedom)) + 1, stream="difference")
    return np.asarray(np.sqrt(variance / np.square(others).mean(axis=0)) * first)


def _error(found: float | None, family: str | None) -> float | None:
    """Return an entry's error over seeds: 0 of a reference, whose one seed says all."""
    return 0.0 if found is None and family == REFERENCE else found


def _difference_draws(first: Entry, second: Entry) -> Draws:
    """Return what one entry scores more than another in each draw, ``[DRAWS]``; neither value is None."""
    if (first.digest or "") > (second.digest or ""):  # the other way round is the same with the other sign
        return -_difference_draws(second, first)
    errors = [_error(each.standard_error, each.family) for each in (first, second)]
    draws = _over_seeds((first.seeds, second.seeds), errors)
    for number, (entry, sign) in enumerate(((first, 1), (second, -1))):
        if entry.combinations:
            found = _resampled(entry.combinations)
        else:
            low, high = entry.interval or (0.0, 0.0)
            deviates = _normals(2, stream="instances")[number]
            found = (entry.value or 0.0) + deviates * (high - low) / (2 * _SIGMAS)
        draws = draws + sign * found
    return draws


@dataclass(frozen=True)
class Difference:
    """What one entry scores more than another by a metric.

    Attributes:
        first: score of the first; None where it isn't defined, as is all the rest then.
        second: score of the second.
        difference: the first less the second.
        interval: 95 % of the draws of the difference lie within.
        p: twice the share of draws on the rarer side of 0, at least 2 of `DRAWS` + 1.
        corrected: p by Holm, for all differences that are made together.
        is_better: whether the first has the better score.
        better: on how many instances the first is better and on how many the second is, means over pairs of
            seeds: McNemar's counts where instances are right or wrong. None without predictions, and where an
            instance by itself has no value.
    """

    first: float | None
    second: float | None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    corrected: float | None = None
    is_better: bool | None = None
    better: tuple[float, float] | None = None

    @property
    def is_clear(self) -> bool:
        """Whether p, corrected, leaves no more than 1 of 20 to chance."""
        return self.corrected is not None and self.corrected <= 1 - LEVEL


def _differ(first: float | None, second: float | None, draws: Draws, *, higher_is_better: bool) -> Difference:
    """Return a difference without correction, given the draws of it; NaN draws are left out."""
    if first is None or second is None or np.isnan(first + second):
        return Difference(None, None)
    low, high = (round(float(end[0]), DIGITS) for end in middle(draws[:, None]))
    known = draws[np.isfinite(draws)]
    rarer = min((known <= 0).sum(), (known >= 0).sum())
    p = min(1.0, 2 * (int(rarer) + 1) / (len(known) + 1))
    return Difference(
        first=round(first, DIGITS),
        second=round(second, DIGITS),
        difference=round(first - second, DIGITS),
        interval=(low, high),
        p=round(p, 6),
        is_better=(first > second) == higher_is_better and first != second,
    )


def correct(found: Sequence[Difference]) -> list[Difference]:
    """Return differences with their p corrected for all of them (Holm 1979)."""
    order = sorted((n for n, each in enumerate(found) if each.p is not None), key=lambda n: found[n].p or 0.0)
    corrected, most = list(found), 0.0
    for place, n in enumerate(order):
        most = max(most, min(1.0, (len(order) - place) * (found[n].p or 0.0)))
        corrected[n] = replace(found[n], corrected=round(most, 6))
    return corrected


def compare_entries(entry: Entry, others: Sequence[Entry], *, higher_is_better: bool) -> list[Difference]:
    """Return what an entry scores more than each of others of its board, by what ranks, corrected for all."""

    def differ(other: Entry) -> Difference:
        draws = _difference_draws(entry, other)
        return _differ(entry.value, other.value, draws, higher_is_better=higher_is_better)

    return correct(list(map(differ, others)))


def rank_ranges(entries: Sequence[Entry], *, higher_is_better: bool) -> list[tuple[int, int]]:
    """Return between which ranks each of some entries may be, its own included.

    It comes behind those, and before those, from which the 95 % interval of its difference is away from 0.

    Args:
        entries: those that are ranked among each other, with their ranks.
        higher_is_better: whether more of their score is better.
    """
    ranges = []
    for entry in entries:
        others = [other for other in entries if other is not entry]
        found = compare_entries(entry, others, higher_is_better=higher_is_better)
        intervals = [each.interval for each in found if each.interval]
        apart = [(low > 0) == higher_is_better for low, high in intervals if not low <= 0 <= high]
        rank = entry.rank or 1
        ranges.append((min(1 + apart.count(False), rank), max(len(entries) - apart.count(True), rank)))
    return ranges


@dataclass(frozen=True)
class Compared:
    """Two entries on the same instances.

    Attributes:
        board: id of their board.
        methods: their names.
        seeds: how many each has, at least, on a split.
        train_instances: what each was trained on.
        splits: by split and metric, what the first scores more than the second. By what ranks, p stands as it
            is: that comparison is planned. p of all others is corrected for all others.
    """

    board: str
    methods: tuple[str, str]
    seeds: tuple[int, int]
    train_instances: tuple[int, int]
    splits: Mapping[str, Mapping[str, Difference]]


def _wins(one: NDArray[np.float64], other: NDArray[np.float64], sign: int) -> tuple[float, float] | None:
    """Return on how many instances one is better and the other is, given values ``[n, runs]`` of each.

    None where an instance by itself has no value, as with a pooled R².
    """
    if np.isnan(one).all():
        return None
    differences = sign * (one[:, :, None] - other[:, None, :])
    first, second = ((each > 0).sum(axis=0).mean() for each in (differences, -differences))
    return round(float(first), 2), round(float(second), 2)


def compare_submissions(
    first: str | Path,
    second: str | Path,
    *,
    leaderboard: str | Path = "docs/leaderboard",
    threads: int | None = None,
) -> Compared:
    """Compare two submissions to one board, by split and by each of its metrics.

    Args:
        first: a directory, or the name of a filed entry, such as ``sraven-v1/20261121-ideal-observer``, the
            board of which may be left out where one entry alone is called so.
        second: the other one.
        leaderboard: the folder in which names are looked up.
        threads: threads to use; None for all available ones.

    Raises:
        ConfigurationError: if there is no such entry, or they are for different boards.
        SubmissionError: if one is refused.
    """
    folders = [find_entry(each, Path(leaderboard)) for each in (first, second)]
    find_board = cache(read_board)  # so that labels are made once
    one, other = (read_submission(folder, find_board) for folder in folders)
    board = one.board
    if board.id != other.board.id:
        raise ConfigurationError(
            f"{escape(str(first))} is for {board.id} and {escape(str(second))} for {other.board.id}; "
            "compare entries of one board"
        )
    found = {
        (split, metric): each
        for split in board.splits
        if split in one.runs and split in other.runs
        for metric, each in _compare_split(one, other, split, threads).items()
    }
    planned = [place for place in found if place == (board.primary_split, board.metric)]
    for places in (planned, [place for place in found if place not in planned]):
        found.update(zip(places, correct([found[place] for place in places]), strict=True))
    splits: dict[str, dict[str, Difference]] = {}
    for (split, metric), each in found.items():
        splits.setdefault(split, {})[metric] = each
    return Compared(
        board.id,
        (one.content["method"]["name"], other.content["method"]["name"]),
        (min(map(len, one.runs.values())), min(map(len, other.runs.values()))),
        (one.content["training"]["instances"], other.content["training"]["instances"]),
        splits,
    )


def _compare_split(
    one: Submission, other: Submission, split: str, threads: int | None
) -> dict[str, Difference]:
    """Return by metric what one scores more than the other on a split, without correction."""
    board, found = one.board, {}
    scoring, labels = board.task.scoring, board.labels(split, threads=threads)
    names = (*board.metrics, *board.metrics_beside)
    metrics = [name for name in names if not scoring.metrics[name].of_instances]
    families = [each.content["method"].get("family") for each in (one, other)]
    sign = 1 if one.digest <= other.digest else -1
    sampled = partial(score_samples, scoring, labels, metrics=metrics, samples=DRAWS, threads=threads)
    by_combination = board.metric in scoring.by_combination
    samples = [sampled(each.runs[split], by_combination=by_combination) for each in (one, other)]
    for name in metrics:
        both = [of_metrics[name] for of_metrics in samples]
        if not all(np.isfinite(each.by_run).all() for each in both):
            found[name] = Difference(None, None)  # as of ambiguous instances where there are none
            continue
        over_seeds = _over_seeds(
            [len(each.by_run) for each in both],
            list(map(_error, (standard_error(each.by_run) for each in both), families)),
        )
        draws = both[0].samples.mean(axis=1) - both[1].samples.mean(axis=1) + sign * over_seeds
        higher = scoring.metrics[name].higher_is_better
        better = _wins(both[0].by_instance, both[1].by_instance, 1 if higher else -1)
        values = [float(each.by_run.mean()) for each in both]
        found[name] = replace(_differ(values[0], values[1], draws, higher_is_better=higher), better=better)
    return found


def find_entry(name: str | Path, leaderboard: Path) -> Path:
    """Return the folder of a submission: a directory, or a filed entry by its name.

    Raises:
        ConfigurationError: if there is none, or several are called so.
    """
    if Path(name).is_dir():
        return Path(name)
    filed = sorted(path for path in (leaderboard / SUBMISSIONS).glob("*/*") if path.is_dir())
    found = [path for path in filed if str(name) in (path.name, f"{path.parent.name}/{path.name}")]
    if len(found) == 1:
        return found[0]
    if found:
        boards = ", ".join(path.parent.name for path in found)
        raise ConfigurationError(
            f"{escape(str(name))} is filed for {boards}; write BOARD/{escape(str(name))}"
        )
    raise ConfigurationError(
        f"{escape(str(name))} is neither a directory nor a filed entry below {leaderboard / SUBMISSIONS}"
    )
