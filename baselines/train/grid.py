"""Grids of hyperparameters: their points, and the choice of one by its in-distribution score."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.config import RunConfig, check_warmup
from baselines.train.optim import Hyperparams
from baselines.train.predict import predict
from baselines.train.train import Outcome
from sraven.board.board import Board
from sraven.core.arguments import check_choice
from sraven.core.errors import ConfigurationError
from sraven.core.means import standard_error
from sraven.files.files import write_json

SELECTION_SPLIT = "test"
"""In-distribution; nothing is ever chosen by ``ood``."""

SELECTION_SPLITS = (SELECTION_SPLIT, "validation")
"""Splits that a point may be chosen by; the second is that of text."""

SUMMARY = "grid.json"

Grid = Mapping[str, tuple[float, ...]]
"""Values by the name of a field of `baselines.train.optim.Hyperparams`."""


def read_grid(texts: Iterable[str]) -> Grid:
    """Return the grid that texts such as ``learning_rate=3e-4,1e-3`` describe.

    Raises:
        ConfigurationError: for another form, or a name that a grid can't vary.
    """
    grid: dict[str, tuple[float, ...]] = {}
    for text in texts:
        name, _, values = text.partition("=")
        if name not in Hyperparams._fields:
            raise ConfigurationError(
                f"grid {text!r}: expected one of {', '.join(Hyperparams._fields)} and values"
            )
        if name in grid:
            raise ConfigurationError(f"grid {text!r}: {name} is there twice; separate its values by commas")
        try:
            grid[name] = tuple(_number(value) for value in values.split(","))
        except ValueError:
            raise ConfigurationError(
                f"grid {text!r}: expected numbers with commas between, such as {name}=0.1,0.3"
            ) from None
        if len(set(grid[name])) < len(grid[name]):
            raise ConfigurationError(f"grid {text!r}: a value is there twice")
    return {name: grid[name] for name in Hyperparams._fields if name in grid}


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _short(value: float) -> str:
    """Return the shortest text of a number that no other number has."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


@dataclass(frozen=True)
class GridPoint:
    """A point of a grid: runs that differ in their seed alone.

    Attributes:
        values: of what the grid varies, by name.
        configs: of its runs, by seed.
        folders: of its runs.
    """

    values: Mapping[str, float]
    configs: tuple[RunConfig, ...]
    folders: tuple[Path, ...]


def points_of(config: RunConfig, grid: Grid, seeds: Sequence[int], out: Path) -> list[GridPoint]:
    """Return the points of a grid.

    Args:
        config: what all runs share.
        grid: may be empty, which makes one point.
        seeds: of the runs of every point.
        out: directory of a single run; several are in its folders ``seed-0``, ``seed-1`` …, which with a
            grid are in folders such as ``learning_rate=0.001``.

    Raises:
        ConfigurationError: for a value out of range, a warm-up that never ends, or a seed that is there
            twice.
    """
    if len(set(seeds)) < len(seeds):
        raise ConfigurationError(f"seeds {', '.join(map(str, seeds))}: one is there twice")
    points = []
    for chosen in product(*grid.values()):
        values: dict[str, Any] = dict(zip(grid, chosen, strict=True))
        here = out / ",".join(f"{name}={_short(value)}" for name, value in values.items()) if grid else out
        several = bool(grid) or len(seeds) > 1
        configs = tuple(check_warmup(replace(config, seed=seed, **values)) for seed in seeds)
        folders = tuple(here / f"seed-{seed}" if several else here for seed in seeds)
        points.append(GridPoint(values, configs, folders))
    return points


class Judge(NamedTuple):
    """How the runs of a grid are scored, in distribution.

    Attributes:
        metric: name of the score.
        split: that it is computed on.
        higher_is_better: whether more is better.
        score: returns a run's score, given its configuration and parameters; None if it has none.
    """

    metric: str
    split: str
    higher_is_better: bool
    score: Callable[[RunConfig, Any], float | None]


def board_judge(board: Board) -> Judge:
    """Return the judge that scores runs by their predictions on a board's split ``test``."""

    def score(config: RunConfig, params: Any) -> float | None:
        predictions = predict(config, params, SELECTION_SPLIT, board.splits[SELECTION_SPLIT])
        if not np.isfinite(predictions).all():
            return None  # the last update diverged, and no loss was computed after it
        return board.score(SELECTION_SPLIT, predictions).metrics[board.metric].mean

    return Judge(board.metric, SELECTION_SPLIT, board.higher_is_better, score)


def select(
    points: Sequence[GridPoint], outcomes: Sequence[Outcome], out: Path, judge: Judge
) -> dict[str, Any]:
    """Score the points in distribution, choose the best, and write ``grid.json``.

    A point of which a run diverged isn't chosen.

    Args:
        points: of the grid.
        outcomes: of their runs, in the same order.
        out: directory of the grid.
        judge: scores the runs.

    Returns:
        the content of the file: ``board``, ``metric``, ``split``, ``points`` (``values``, ``folder``,
        ``seeds``, ``scores``, ``mean``, ``standard_error``, ``diverged``), and ``selected``, the index of
        the best point, or None.

    Raises:
        ConfigurationError: if the judge has another split than those of `SELECTION_SPLITS`.
    """
    first, varied = points[0].configs[0], (*points[0].values, "seed")
    check_choice("the split that chooses", judge.split, SELECTION_SPLITS)

    def score(config: RunConfig, outcome: Outcome) -> float | None:
        return judge.score(config, outcome.state.params) if outcome.diverged is None else None

    left = iter(outcomes)
    found = [_summarise(point, [score(each, next(left)) for each in point.configs], out) for point in points]
    means = [point["mean"] for point in found]
    complete = [place for place, mean in enumerate(means) if mean is not None]
    best = max if judge.higher_is_better else min
    summary = {
        "board": first.board,
        "metric": judge.metric,
        "split": judge.split,
        "shared": {name: value for name, value in asdict(first).items() if name not in varied},
        "points": found,
        "selected": best(complete, key=lambda place: means[place]) if complete else None,
    }
    write_json(out / SUMMARY, summary)
    return summary


def _summarise(point: GridPoint, scores: Sequence[float | None], out: Path) -> dict[str, Any]:
    known = [score for score in scores if score is not None]
    whole = len(known) == len(scores)
    return {
        "values": dict(point.values),
        "folder": str(point.folders[0].parent.relative_to(out)),
        "seeds": [config.seed for config in point.configs],
        "scores": list(scores),
        "mean": float(np.mean(known)) if whole else None,
        "standard_error": standard_error(known) if whole else None,
        "diverged": [
            config.seed for config, score in zip(point.configs, scores, strict=True) if score is None
        ],
    }
