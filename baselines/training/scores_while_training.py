"""Scores during training: of a fixed slice of each split, every so many steps, in the log.

They show how training goes. Nothing is chosen by them: a grid's best point is found by its whole ``test``
split, or by ``--validation`` of text, see `baselines.training.grid`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jax.sharding import Mesh

from baselines.config import RunConfig
from baselines.runs.log import INSTANCES, Scores
from baselines.training.experiment import Experiment, MakeExperiment, board_of
from baselines.training.predict import predictor, unranked_splits
from sraven.board.board import Board
from sraven.core.task import Labels
from sraven.scoring.scores import score_plainly

SLICE = 1024
"""Instances of each split that are scored, its first ones."""

TIMES = 100
"""How often a run is scored, by default."""

Evaluate = Callable[[Any, int], Scores]


def default_interval(steps: int) -> int:
    """Return the default number of steps between scores, given the steps of the run: a hundredth."""
    return max(1, steps // TIMES)


def sizes_of(board: Board, most: int) -> Mapping[str, int]:
    """Return how many instances of each split are scored, the unranked ones last."""
    unranked = dict.fromkeys(unranked_splits(board), most)
    return {split: min(size, most) for split, size in {**board.splits, **unranked}.items()}


def board_scores(config: RunConfig, mesh: Mesh, most: int = SLICE) -> Evaluate:
    """Return a function for `Experiment.evaluate` that scores parameters by the metrics of their board.

    Args:
        config: of the run.
        mesh: devices that the parameters lie on.
        most: instances of each split.
    """
    board = board_of(config)
    task, scoring = board.task, board.task.scoring
    metrics, predict = board.metrics, predictor(config, mesh)
    sizes = sizes_of(board, most)

    @cache
    def labels_of(split: str) -> Labels:
        return scoring.labels(task.sample(split, 0, sizes[split]), None)

    def scores_of(split: str, params: Any) -> dict[str, float]:
        predictions = predict(params, split, sizes[split])
        return score_plainly(scoring, labels_of(split), predictions, metrics=metrics)

    def evaluate(params: Any, step: int) -> Scores:
        return {split: {INSTANCES: size, **scores_of(split, params)} for split, size in sizes.items()}

    return evaluate


def with_scores(
    make_experiment: MakeExperiment, make_evaluate: Callable[[RunConfig, Mesh], Evaluate], steps: int | None
) -> MakeExperiment:
    """Return a maker of experiments that are scored while they train.

    Args:
        make_experiment: makes one without scores.
        make_evaluate: returns a function that scores parameters, given the configuration and the mesh.
        steps: between scores; None for a hundredth of the run, 0 for no scores.
    """

    def make(config: RunConfig, mesh: Mesh) -> Experiment:
        experiment = make_experiment(config, mesh)
        if steps == 0:
            return experiment
        distance = default_interval(config.steps) if steps is None else steps
        return experiment._replace(evaluate=make_evaluate(config, mesh), evaluate_every=distance)

    return make
