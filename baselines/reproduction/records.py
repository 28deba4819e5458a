"""Records of runs: what was trained, where, and what it scores; a file of JSON each, named by its digest."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from baselines.config import LanguageConfig, RunConfig, read_config
from baselines.log import read_log
from baselines.reproduction.cells import Figures, ReadBoard, homes_of, read_board_once
from baselines.reproduction.sets import FIGURES
from baselines.run_directory import read_run
from sraven.core.boards.scoring import score_plainly
from sraven.core.ground.errors import ConfigurationError, OutputError
from sraven.core.system.files import write_json
from sraven.core.tasks.families import generator_of, scoring_of

FOLDER = "reproduction"
"""Of the records, within the folder of results."""

UNSEEN = "ood_terms"
"""A split that no board ranks by: combinations of terms that never occur in training."""

LAST = 1_000
"""Steps over which the training loss is averaged."""

SCHEMA = 1

Scores = Mapping[str, Mapping[str, float | None]]
"""By split, then by metric."""


@dataclass(frozen=True)
class Record:
    """What is kept of a run.

    Attributes:
        config: of the run.
        steps: that were done; fewer than the configuration's if the run diverged.
        scores: of its parameters; none if it diverged.
        training_loss: mean of the last 1,000 steps.
        seconds: of training, without evaluation; None if nobody knows.
        command: that trains it again.
        commit: of the code that trained it; None if nobody knows.
        machine: what it was trained on; None if nobody knows.
    """

    config: RunConfig
    steps: int
    scores: Scores
    training_loss: float | None
    seconds: float | None
    command: str
    commit: str | None
    machine: Mapping[str, Any] | None

    @property
    def digest(self) -> str:
        """Of the configuration."""
        return self.config.digest

    @property
    def diverged(self) -> bool:
        """Whether the run ended early, at a loss that is no number."""
        return self.steps < self.config.steps

    def score(self, split: str, metric: str) -> float | None:
        """Return a score; None if there is none."""
        return self.scores.get(split, {}).get(metric)

    def as_json(self) -> dict[str, Any]:
        """Return what the file has."""
        return {
            "schema": SCHEMA,
            "digest": self.digest,
            **asdict(self),
            "steps": {"done": self.steps, "planned": self.config.steps},
        }


def read_record(path: Path) -> Record:
    """Return the record that a file holds.

    Raises:
        OutputError: if it is none.
    """
    try:
        values = json.loads(path.read_bytes())
        record = Record(
            read_config(values["config"]),
            int(values["steps"]["done"]),
            {split: dict(metrics) for split, metrics in values["scores"].items()},
            *(values[name] for name in ("training_loss", "seconds", "command", "commit", "machine")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise OutputError(
            f"{path} is no record of a run ({error}); remove it, and adopt the run again"
        ) from None
    if path.stem != record.digest:
        raise OutputError(f"{path} holds the run {record.digest[:12]}…; a record is named by its digest")
    return record


def paths_of(results: Path) -> dict[str, Path]:
    """Return where the records below a folder of results are, by digest."""
    return {path.stem: path for path in sorted((results / FOLDER).glob("*/*.json"))}


def read_records(results: Path) -> dict[str, Record]:
    """Return all records below a folder of results, by digest.

    Raises:
        OutputError: if a file there is none.
    """
    return {digest: read_record(path) for digest, path in paths_of(results).items()}


def path_of(results: Path, home: str, config: RunConfig) -> Path:
    """Return where the record of a run is kept.

    Args:
        results: folder of results.
        home: the first figure that has the run.
        config: of the run.
    """
    return results / FOLDER / home / f"{config.digest}.json"


def write_record(results: Path, record: Record, figures: Figures = FIGURES) -> Path:
    """Write a record where it belongs; return where that is.

    Raises:
        ConfigurationError: if the run is no cell of a figure.
    """
    homes = homes_of(record.config, figures)
    if not homes:
        raise ConfigurationError(f"the run {record.digest[:12]}… is no cell of a figure of the paper")
    path = path_of(results, homes[0], record.config)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, record.as_json())
    return path


def record_of(
    folder: Path,
    *,
    commit: str | None = None,
    machine: Mapping[str, Any] | None = None,
    diverged: bool = False,
    read: ReadBoard = read_board_once,
) -> Record:
    """Return the record of a run in its directory; it is evaluated, which takes about a minute.

    Args:
        folder: the run's directory.
        commit: of the code that trained it, if it is known.
        machine: what it was trained on, if it is known.
        diverged: whether the run ended at a loss that is no number: then it has no scores.
        read: returns a board, given its id.

    Raises:
        ConfigurationError: for a run of the language model.
        OutputError: if there is no finished run.
    """
    from baselines.command import train_command
    from baselines.train import load_run

    config = read_run(folder)
    if isinstance(config, LanguageConfig):
        raise ConfigurationError(
            f"{folder} is a run of the language model, whose cells aren't recorded yet; "
            "`sraven evaluate` tells its loss"
        )
    scores = {} if diverged else scores_of(config, load_run(folder)[1], read)
    lines = [json.loads(line) for line in read_log(folder)]
    return Record(
        config,
        lines[-1]["step"] if lines else 0,
        scores,
        mean_loss(lines),
        seconds_of(lines, config.batch_size),
        train_command([config]),
        commit,
        machine,
    )


def mean_loss(lines: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean training loss of the last 1,000 steps, given the lines of a log."""
    losses, weights = [], []
    for before, line in zip([{"step": 0}, *lines], lines, strict=False):
        counted = line["step"] - max(before["step"], lines[-1]["step"] - LAST)
        if counted > 0:
            losses.append(line["loss"])
            weights.append(counted)
    return float(np.average(losses, weights=weights)) if losses else None


def seconds_of(lines: Sequence[Mapping[str, Any]], batch_size: int) -> float | None:
    """Return how long training took, by the speeds that a log tells: saving and pauses don't count."""
    if not lines:
        return None
    steps = np.diff([0, *(line["step"] for line in lines)])
    return round(float(sum(steps * batch_size / [line["instances_per_second"] for line in lines])), 1)


def scores_of(config: RunConfig, params: Any, read: ReadBoard = read_board_once) -> Scores:
    """Return what a model scores on the splits of its board, and on combinations of unseen terms.

    Args:
        config: of its run.
        params: its parameters.
        read: returns a board, given its id.
    """
    from baselines.predict import predict

    board = read(config.board)
    sizes = dict(board.splits)
    if UNSEEN in board.task.splits:
        sizes[UNSEEN] = board.splits[board.primary_split]
    scoring, found = scoring_of(board.task), {}
    for split, count in sizes.items():
        labels = scoring.labels(generator_of(board.task).sample(split, 0, count), None)
        scores = score_plainly(scoring, labels, predict(config, params, split, count), metrics=board.metrics)
        found[split] = {name: value if isfinite(value) else None for name, value in scores.items()}
    return found
