"""Learning curves of runs, read from their logs: seeds of one configuration as a mean with its error.

A log of other code is a file of JSON lines with a ``step``, and ``loss`` or ``scores`` by split and metric.

Nothing here draws: `baselines.plots.curve_plots` does.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.config import LanguageConfig, RunConfig, TextRecipe, find_board
from baselines.train.directory import CONFIG, read_run
from baselines.train.log import LOG, SCORES, read_log
from sraven.board.board import Board
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import one_line, quoted
from sraven.scoring.composing import KNOWN

LOSS, IN_TRAINING = "loss", "training"
"""Quantities of every line of a log; all others are splits, whose scores are there now and then."""

_DEPTH = 2
"""Levels of directories below one that is named, in which its runs are looked for: a point, a seed."""

Values = NDArray[np.float64]


class Curve(NamedTuple):
    """A quantity over steps; arrays ``[n]``.

    Attributes:
        steps: int64, ascending: those that all seeds have.
        mean: float64, over seeds.
        error: float64, standard error over seeds; NaN for a single one.
        by_seed: float64 of each seed.
    """

    steps: NDArray[np.int64]
    mean: Values
    error: Values
    by_seed: Mapping[int, Values]


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed alone.

    Attributes:
        name: what tells their configuration from those of the other groups.
        config: of the first; None for a log of other code.
        folders: of the runs, by seed; or the log.
        curves: by quantity: `LOSS`, `IN_TRAINING` and the splits that were scored.
        end: the step that all of them have come to.
    """

    name: str
    config: RunConfig | None
    folders: Mapping[int, Path]
    curves: Mapping[str, Curve]
    end: int

    @property
    def title(self) -> str:
        """Its name, and how many seeds it has."""
        name = one_line(self.name)
        if self.config is None:
            return name
        return f"{name}, {len(self.folders)} seed{'s' * (len(self.folders) > 1)}"


class Bounds(NamedTuple):
    """Reference levels of a quantity; None where nobody knows.

    Attributes:
        ceiling: what the ideal observer scores that knows the split.
        chance: what guessing scores.
        lower: scores of baselines that lack what the board is about, by name, see `Board.reference_levels`;
            of held-out splits alone, as on others it is the ceiling.
    """

    ceiling: float | None
    chance: float | None
    lower: Mapping[str, float]

    @property
    def named(self) -> dict[str, float]:
        """All that somebody knows, by name, from the ceiling down."""
        known = {"ceiling": self.ceiling, **self.lower, "chance": self.chance}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Curves:
    """All that is to be drawn.

    Attributes:
        board: what the runs are trained on; None if nobody says.
        groups: in the order in which their first runs were named.
        metric: of the scores; with a dot at its end, each group is of one metric whose name begins so.
    """

    board: Board | TextRecipe | None
    groups: tuple[Group, ...]
    metric: str

    @property
    def heading(self) -> str:
        """What all of it is called."""
        return self.board.id if self.board else "logs"

    @property
    def quantities(self) -> tuple[str, ...]:
        """What any group has a curve of, losses first; scores in training only where there are no others."""
        found = list(dict.fromkeys(name for group in self.groups for name in group.curves))
        scored = [name for name in found if name not in (LOSS, IN_TRAINING)]
        return tuple(name for name in found if name != IN_TRAINING or not scored)

    @property
    def compared(self) -> tuple[str, str] | None:
        """The known and the held-out split, drawn against each other; None where not both are scored."""
        if self.board is None or self.metric != self.board.metric:
            return None
        both = KNOWN, self.board.primary_split
        scored = any(set(both) <= group.curves.keys() for group in self.groups)
        return both if scored and both[1] in self.board.held_out else None

    @property
    def chance(self) -> float | None:
        """What guessing scores; of text, the loss of equally likely pieces, None for several vocabularies."""
        configs = (group.config for group in self.groups)
        pieces = {config.vocabulary for config in configs if isinstance(config, LanguageConfig)}
        if not pieces:
            return self.board.chance if self.board else None
        return log(pieces.pop()) if len(pieces) == 1 else None

    def bounds(self, quantity: str) -> Bounds:
        """Return the ceiling and the chance of a quantity."""
        board = self.board
        if board is None or self.metric != board.metric or (quantity == LOSS and self.metric != LOSS):
            return Bounds(None, None, {})
        # Training draws from the combinations that `test` draws from.
        split = "test" if quantity == IN_TRAINING else quantity
        ceiling = board.ceiling(split, board.metric) if split in board.splits else None
        lines = board.reference_levels(split) if split in board.held_out else ()
        lower = {line.title: line.value for line in lines if line.is_baseline}
        return Bounds(ceiling.value if ceiling else None, self.chance, lower)

    def title(self, quantity: str) -> str:
        """Return what a picture of a quantity is called."""
        metric = self.board.metric if self.board else "score"
        names = {LOSS: "loss in training", IN_TRAINING: f"{metric} in training"}
        unranked = "" if self.board is None or quantity in self.board.splits else " (unranked)"
        metric = f"by {self.metric[:-1]}" if self.metric.endswith(".") else self.metric
        return names.get(quantity, one_line(f"{metric} on {quantity}{unranked}"))

    @property
    def notes(self) -> tuple[str, ...]:
        """How far groups have come that aren't finished, by all of their seeds."""
        return tuple(
            f"{group.name}: {group.end:,} of {group.config.steps:,} steps"
            for group in self.groups
            if group.config and group.end < group.config.steps and group.curves
        )


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Return run directories: those named, or in their place those below, as of seeds and of grids.

    Raises:
        OutputError: if there is none in one of them.
    """
    found = list[Path]()
    for folder in folders:
        patterns = ["*/" * depth + CONFIG for depth in range(_DEPTH + 1)]
        runs = next((paths for each in patterns if (paths := sorted(folder.glob(each)))), [])
        if not runs:
            raise OutputError(f"{folder} holds no run; `sraven train` makes one")
        found += [path.parent for path in runs]
    return list(dict.fromkeys(found))


def read_curves(places: Sequence[Path], metric: str | None = None, board_id: str | None = None) -> Curves:
    """Return the curves of runs, grouped by their configurations, and of logs of other code, one by one.

    Args:
        places: folders of runs, directories of such, or files of JSON lines.
        metric: of the scores; None for the board's. One that ends in a dot, such as ``rule.``, stands for all
            whose names begin so, each a curve of its own; the loss is then left out.
        board_id: of the board that logs are of; None for that of the runs, or none.

    Raises:
        OutputError: if there is no run, or a log can't be read.
        ConfigurationError: if the runs are on several boards, a run is there twice, or no score has the
            metric.
    """
    members: dict[RunConfig, dict[int, Path]] = {}
    files = [place for place in places if place.is_file()]
    for folder in find_runs([place for place in places if not place.is_file()]):
        config = read_run(folder)
        seeds = members.setdefault(replace(config, seed=0), {})
        if config.seed in seeds:
            raise ConfigurationError(
                f"{folder} and {seeds[config.seed]} are the same run, seed {config.seed} of one "
                "configuration; name one of them"
            )
        seeds[config.seed] = folder
    boards = list(dict.fromkeys([*(config.board for config in members), *([board_id] if board_id else [])]))
    if len(boards) > 1:
        raise ConfigurationError(f"the runs are on {' and '.join(boards)}; curves are drawn for one board")
    board = find_board(boards[0]) if boards else None
    logs = [folder for seeds in members.values() for folder in seeds.values()] + files
    metric = metric or (board.metric if board else _metrics("", logs)[0])
    found = [metric] if board and metric == board.metric else _metrics(metric, logs)
    names = [*_names(list(members)), *(file.stem for file in files)]
    sources: list[tuple[RunConfig | None, dict[int, Path]]] = [*members.items()]
    sources += [(None, {0: file}) for file in files]
    groups = []
    for name, (of_runs, folders) in zip(names, sources, strict=True):
        for each in found:
            group = _group(name, of_runs, dict(sorted(folders.items())), each)
            if metric.endswith("."):
                splits = board.splits if board else group.curves.keys() - {LOSS, IN_TRAINING}
                scores = {split: group.curves[split] for split in group.curves if split in splits}
                group = replace(group, name=f"{name}, {each.removeprefix(metric)}", curves=scores)
            groups.append(group)
    if not any(group.curves for group in groups):
        raise OutputError(
            f"the logs of {', '.join(names)} have no line; wait for the first steps, or use a smaller rate "
            "if they diverged"
        )
    return Curves(board, tuple(groups), metric)


def _metrics(metric: str, folders: Sequence[Path]) -> list[str]:
    """Return the metrics of some logs that a name stands for: all of them for none."""
    scores = (line.get(SCORES, {}) for folder in folders for line in _lines(folder))
    known = dict.fromkeys(name for each in scores for split in each.values() for name in split)
    known.pop("instances", None)
    found = [
        name for name in known if name == metric or (metric[-1:] in ("", ".") and name.startswith(metric))
    ]
    if not found and metric in ("", LOSS):
        return [LOSS]
    if not found:
        raise ConfigurationError(
            f"metric={quoted(metric)}: expected {', '.join(known)}, or a beginning up to a dot"
        )
    return found


def _lines(place: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, of which a run has none before its first step."""
    is_there = place.is_file() or (place / LOG).exists()
    return list(map(json.loads, read_log(place))) if is_there else []


def _names(configs: Sequence[RunConfig]) -> list[str]:
    """Return a name for each configuration: its architecture, and whatever else tells it from another."""
    left_out = ("attention", "network", "seed", "board", "board_digest", "corpus", "vocabulary")
    every = {each.name: None for config in configs for each in fields(config)}
    varied = [
        name
        for name in every
        if name not in left_out and len({repr(getattr(config, name, None)) for config in configs}) > 1
    ]
    names = []
    for config in configs:
        fields_of = (f"{name.replace('_', ' ')} {_short(getattr(config, name))}" for name in varied)
        names.append(", ".join([config.architecture, *fields_of]))
    return names


def _short(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _group(name: str, config: RunConfig | None, folders: Mapping[int, Path], metric: str) -> Group:
    read = {seed: _read_quantities(folder, metric) for seed, folder in folders.items()}
    logs = {seed: log for seed, log in read.items() if any(log.values())}  # one may have no line yet
    curves = {
        quantity: _join({seed: log.get(quantity, {}) for seed, log in logs.items()})
        for quantity in dict.fromkeys(quantity for log in logs.values() for quantity in log)
    }
    curves = {quantity: curve for quantity, curve in curves.items() if len(curve.steps)}
    end = min((max(max(each, default=0) for each in log.values()) for log in logs.values()), default=0)
    return Group(name, config, {seed: folders[seed] for seed in logs}, curves, end)


def _read_quantities(folder: Path, metric: str) -> dict[str, dict[int, float]]:
    """Return the values in a run's log, by quantity and step."""
    found: dict[str, dict[int, float]] = {LOSS: {}}
    for line in _lines(folder):
        step = line["step"]
        values = {LOSS: line.get("loss"), IN_TRAINING: line.get("score")}
        values |= {split: metrics.get(metric) for split, metrics in line.get(SCORES, {}).items()}
        for quantity, value in values.items():
            if value is not None and isfinite(value):
                found.setdefault(quantity, {})[step] = value
    return found


def _join(by_seed: Mapping[int, Mapping[int, float]]) -> Curve:
    """Return the curve of several seeds, at the steps that all of them have."""
    steps = sorted(set.intersection(*map(set, by_seed.values())))
    rows = np.array([[values[step] for step in steps] for values in by_seed.values()], np.float64)
    n = len(rows)
    error = rows.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(len(steps), np.nan)
    return Curve(np.array(steps, np.int64), rows.mean(axis=0), error, dict(zip(by_seed, rows, strict=True)))


def thin(curve: Curve, most: int) -> Curve:
    """Return a curve of so many points at most, each the mean of as many neighbours, at their last step.

    The error is that of the means of each seed.
    """
    apart = -(-len(curve.steps) // most)
    if apart <= 1:
        return curve
    starts = np.arange(0, len(curve.steps), apart)
    ends = np.minimum(starts + apart, len(curve.steps))
    by_seed = {seed: np.add.reduceat(own, starts) / (ends - starts) for seed, own in curve.by_seed.items()}
    means = [dict(zip(curve.steps[ends - 1].tolist(), values, strict=True)) for values in by_seed.values()]
    return _join(dict(zip(by_seed, means, strict=True)))


def view(curves: Curves, quantity: str) -> tuple[float, float]:
    """Return the range of values that a picture of a quantity shows: one for the loss, one for all scores.

    Of scores it goes from chance to the ceiling, and farther as the second half of the runs does: what the
    first steps score would press the rest together. Other metrics than the board's are shown whole.
    """
    names = [quantity] if quantity == LOSS else [name for name in curves.quantities if name != LOSS]
    shown = [group.curves[name] for group in curves.groups for name in names if name in group.curves]
    if quantity == LOSS:
        parts = [curve.mean for curve in shown]
    else:
        by_seed = [values for curve in shown for values in curve.by_seed.values()]
        is_late = curves.board is not None and curves.metric == curves.board.metric
        parts = [values[len(values) // 2 if is_late else 0 :] for values in by_seed]
        known = [bound for name in names for bound in curves.bounds(name).named.values()]
        parts.append(np.array(known))
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def to_json(curves: Curves) -> dict[str, Any]:
    """Return all of it as JSON values."""

    def plain(curve: Curve) -> dict[str, Any]:
        return {
            "steps": curve.steps.tolist(),
            "mean": curve.mean.tolist(),
            "standard_error": curve.error.tolist() if len(curve.by_seed) > 1 else None,
            "by_seed": {str(seed): values.tolist() for seed, values in curve.by_seed.items()},
        }

    names = dict.fromkeys(name for group in curves.groups for name in group.curves)
    return {
        "board": curves.board.id if curves.board else None,
        "metric": curves.metric,
        "bounds": {name: curves.bounds(name)._asdict() for name in names},
        "groups": [
            {
                "name": group.name,
                "digest": replace(group.config, seed=0).digest if group.config else None,
                "folders": {str(seed): str(folder) for seed, folder in group.folders.items()},
                "curves": {name: plain(curve) for name, curve in group.curves.items()},
            }
            for group in curves.groups
        ],
    }
