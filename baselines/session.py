"""A session of training: its runs, their training, and the choice of a grid's point.

`sraven train` runs one and prints its progress; `sraven reproduce --run` runs one for each cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import jax
from jax.experimental.multihost_utils import process_allgather

from baselines.config import RunConfig
from baselines.recipes import make_config
from baselines.train.code import code_digest
from baselines.train.experiment import MakeExperiment, board_experiment
from baselines.train.grid import Grid, GridPoint, Judge, board_judge, points_of, select
from baselines.train.predict import SLICE, board_scores, with_scores
from baselines.train.train import Outcome, train_runs
from sraven.board.board import Board


class ScoringOptions(NamedTuple):
    """When runs are scored while they train, and on how much.

    Attributes:
        every: steps between scores; None for a hundredth of the run, 0 for none.
        instances: of each split, or pieces of documents; None for the default.
    """

    every: int | None = None
    instances: int | None = None


DEFAULT_SCORING = ScoringOptions()


class Source(Protocol):
    """What runs are trained on: a board (`OnBoard`), or text (`baselines.lm.train.Text`)."""

    def config(self, attention: str, **changes: Any) -> RunConfig:
        """Return the recipe's configuration, with changes."""
        ...

    def experiment(self, scoring: ScoringOptions) -> MakeExperiment:
        """Return a function that makes the experiment of a run, with its scores."""
        ...

    def judge(self) -> Judge:
        """Return what chooses a grid's point."""
        ...


@dataclass(frozen=True)
class OnBoard:
    """A board as a `Source`."""

    board: Board

    def config(self, attention: str, **changes: Any) -> RunConfig:
        """Return the recipe's configuration; changes are as of `baselines.recipes`."""
        return make_config(self.board, attention, **changes)

    def experiment(self, scoring: ScoringOptions) -> MakeExperiment:
        """Return a function that makes the experiment of a run, with its scores."""
        make_evaluate = partial(board_scores, most=scoring.instances or SLICE)
        return with_scores(board_experiment, make_evaluate, scoring.every)

    def judge(self) -> Judge:
        """Return what chooses by the board's ``test`` split."""
        return board_judge(self.board)


class Session(NamedTuple):
    """Runs to train together.

    Attributes:
        points: of a grid; a single one without.
        make_experiment: makes what is trained.
        judge: chooses a point; None without a grid.
        out: where all runs lie.
    """

    points: Sequence[GridPoint]
    make_experiment: MakeExperiment
    judge: Judge | None
    out: Path

    @property
    def configs(self) -> list[RunConfig]:
        """Of all runs."""
        return [config for point in self.points for config in point.configs]

    @property
    def folders(self) -> list[Path]:
        """Of all runs."""
        return [folder for point in self.points for folder in point.folders]

    def train(self, **options: Any) -> tuple[list[Outcome], dict[str, Any] | None]:
        """Train the runs, or go on with them, and choose a grid's point.

        Args:
            options: as of `baselines.train.train.train_runs`.

        Returns:
            how each run ended, and the summary of its grid, as `baselines.train.grid.select` returns it; None
            without a choice.

        Raises:
            OutputError, OSError: as `baselines.train.train.train_runs`.
        """
        ended = train_runs(self.configs, self.folders, make_experiment=self.make_experiment, **options)
        if self.judge is None or any(each.stopped for each in ended):
            return ended, None
        # Predictions are made by one process, which needs all of the parameters.
        whole = [
            each._replace(state=each.state._replace(params=process_allgather(each.state.params, tiled=True)))
            for each in ended
        ]
        if jax.process_index() > 0:
            return whole, None
        return whole, select(self.points, whole, self.out, self.judge)


def make_session(
    source: Source,
    attention: str,
    out: Path,
    *,
    seeds: Sequence[int] = (0,),
    grid: Grid | None = None,
    scoring: ScoringOptions = DEFAULT_SCORING,
    **changes: Any,
) -> Session:
    """Return a session, after all checks that need no training.

    Args:
        source: what runs are trained on.
        attention: a name of `baselines.model.attention.ATTENTION`.
        out: directory of the runs, see `baselines.train.grid.points_of`.
        seeds: of the runs.
        grid: hyperparameters that they vary as well.
        scoring: of the runs while they train.
        changes: to the recipe.

    Raises:
        ConfigurationError: for an unknown name, or a value out of range.
        OutputError: if text can't be read.
    """
    config = source.config(attention, **changes)
    judge = source.judge() if grid else None
    points = points_of(replace(config, code=code_digest()), grid or {}, seeds, out)
    return Session(points, source.experiment(scoring), judge, out)
