"""A session of training: a plan of runs, training, the choice of a grid's point, and the results.

`sraven train` runs one and prints its progress; `sraven reproduce --run` runs one for each cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import Mesh

from baselines.config import RunConfig, TextRecipe, check_warmup
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import language_judge, validation_scores
from baselines.lm.experiment import DEFAULT_COMPUTE, Compute, language_experiment
from baselines.lm.recipes import make_language_config
from baselines.recipes import make_config
from baselines.runs.code import code_digest
from baselines.training.experiment import MakeExperiment, board_experiment
from baselines.training.grid import Grid, GridPoint, Judge, points_of, select
from baselines.training.scores_while_training import SLICE, board_scores, with_scores
from baselines.training.train import Outcome, train_runs
from sraven.board.board import Board
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError


@dataclass(frozen=True)
class Text:
    """What a language model is trained on, and how.

    Attributes:
        data: directories of tokens.
        validation: directories of documents: a grid chooses by them, and they are scored while it trains.
        size: of the model, a name of `baselines.lm.recipes.SIZES`.
        compute: how it is computed.
    """

    data: tuple[Path, ...]
    validation: tuple[Path, ...] = ()
    size: str = "paper"
    compute: Compute = DEFAULT_COMPUTE


class ScoringOptions(NamedTuple):
    """When runs are scored while they train, and on how much.

    Attributes:
        every: steps between scores; None for a hundredth of the run, 0 for none.
        instances: of each split, or pieces of documents; None for the defaults.
    """

    every: int | None = None
    instances: int | None = None


DEFAULT_SCORING = ScoringOptions()


class TrainingPlan(NamedTuple):
    """Runs to train together.

    Attributes:
        points: of a grid; a single one without.
        make_experiment: makes what is trained.
        judge: chooses a point; None for the board's `test` split.
        is_grid: whether a point is to be chosen.
        out: where all runs lie.
    """

    points: Sequence[GridPoint]
    make_experiment: MakeExperiment
    judge: Judge | None
    is_grid: bool
    out: Path

    @property
    def configs(self) -> list[RunConfig]:
        """Of all runs."""
        return [config for point in self.points for config in point.configs]

    @property
    def folders(self) -> list[Path]:
        """Of all runs."""
        return [folder for point in self.points for folder in point.folders]


class Session(NamedTuple):
    """The results of a plan.

    Attributes:
        outcomes: of its runs.
        summary: of its grid, as `baselines.training.grid.select` returns it; None without a choice.
    """

    outcomes: Sequence[Outcome]
    summary: Mapping[str, Any] | None

    @property
    def is_first(self) -> bool:
        """Whether this is process 0, which alone writes and prints."""
        return jax.process_index() == 0


def plan_runs(
    board: Board | TextRecipe,
    attention: str,
    out: Path,
    *,
    seeds: Sequence[int] = (0,),
    grid: Grid | None = None,
    text: Text | None = None,
    scoring: ScoringOptions = DEFAULT_SCORING,
    **changes: Any,
) -> TrainingPlan:
    """Return the plan of runs on a board, after all checks that need no training.

    Args:
        board: to train on.
        attention: a name of `baselines.model.attention.ATTENTION`.
        out: directory of the runs, see `baselines.training.grid.points_of`.
        seeds: of the runs.
        grid: hyperparameters that they vary as well.
        text: for a board of text, what is trained on.
        scoring: of the runs while they train.
        changes: to the recipe, see `baselines.recipes`.

    Raises:
        ConfigurationError: for an unknown name, a value out of range, or documents of another tokenizer.
        OutputError: if tokens or documents can't be read.
    """
    for name, value in scoring._asdict().items():
        if value is not None:
            check_integer(f"scores: {name}", value, 0 if name == "every" else 1, 1 << 40)
    config: RunConfig
    judge = None
    if not isinstance(board, TextRecipe):
        config = make_config(board, attention, **changes)
    else:
        assert text is not None
        config = make_language_config(Corpus(*text.data), attention, size=text.size, **changes)
        if grid and not text.validation:
            raise ConfigurationError(f"a grid on {board.id} needs --validation DIR, documents to choose by")
        judge = language_judge(Corpus(*text.validation)) if grid else None
    points = points_of(replace(config, code=code_digest()), grid or {}, seeds, out)
    return TrainingPlan(points, _scored_experiment(text, scoring), judge, bool(grid), out)


def plan_together(
    configs: Sequence[RunConfig],
    folders: Sequence[Path],
    scoring: ScoringOptions = DEFAULT_SCORING,
    text: Text | None = None,
) -> TrainingPlan:
    """Return the plan of runs in one program.

    Args:
        configs: of the runs, which differ in seed and in what a grid varies alone.
        folders: where they go.
        scoring: of the runs while they train.
        text: for a board of text, what is trained on.
    """
    pairs = zip(configs, folders, strict=True)
    points = [GridPoint({}, (check_warmup(config),), (folder,)) for config, folder in pairs]
    return TrainingPlan(points, _scored_experiment(text, scoring), None, is_grid=False, out=folders[0])


def _scored_experiment(text: Text | None, scoring: ScoringOptions) -> MakeExperiment:
    """Return a function that makes the experiment of a run, with its scores."""
    if text is None:
        make_evaluate = partial(board_scores, most=scoring.instances or SLICE)
        return with_scores(board_experiment, make_evaluate, scoring.every)
    make_experiment = language_experiment(Corpus(*text.data), text.compute)
    if not text.validation:
        return make_experiment
    Corpus(*text.data, *text.validation)  # refuses another tokenizer now, before hours of work
    make_scores = validation_scores(Corpus(*text.validation), scoring.instances, text.compute)
    return with_scores(make_experiment, make_scores, scoring.every)


def train_plan(plan: TrainingPlan, *, mesh: Mesh | None = None, **options: Any) -> Session:
    """Train the runs of a plan, or go on with them, and choose a grid's point.

    Args:
        plan: of `plan_runs`.
        mesh: devices of each run; None for one, see `baselines.training.train.train_runs`.
        options: as of `baselines.training.train.train_runs`.

    Raises:
        OutputError, OSError: as `baselines.training.train.train_runs`.
    """
    ended = train_runs(plan.configs, plan.folders, mesh=mesh, make_experiment=plan.make_experiment, **options)
    if not plan.is_grid or any(each.stopped for each in ended):
        return Session(ended, None)
    # Predictions are made by one process, which needs all of the parameters.
    whole = [
        each._replace(state=each.state._replace(params=process_allgather(each.state.params, tiled=True)))
        for each in ended
    ]
    summary = select(plan.points, whole, plan.out, plan.judge) if jax.process_index() == 0 else None
    return Session(whole, summary)
