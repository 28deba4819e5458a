"""Predictions of a board's task by trained parameters, in one compiled program for all splits and sizes.

And scores of them while a run trains: of a fixed slice of each split, every so many steps, in the log. They
show how training goes. Nothing is chosen by them: see `baselines.train.grid`.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.encode import Batch, Encoding, encoding_of
from baselines.train.experiment import (
    AT_ONCE_ON_CPU,
    Evaluate,
    Experiment,
    MakeExperiment,
    board_of,
    chunk_of_steps,
    model_of,
)
from baselines.train.log import INSTANCES, Scores
from baselines.train.optim import shape_of
from baselines.train.sharding import CHUNK_SPEC, on_cpu, on_each_device, own_mesh, place_chunk, whole
from baselines.train.step import matmul_precision
from sraven.board.board import Board
from sraven.core.roles import Labels
from sraven.scoring.scores import score_plainly

_AT_ONCE, _PIECES = 512, 1
"""Instances that a device takes at once, and how often in one call of the program."""

_PIECES_ON_CPU = 16
"""How often a CPU does, which takes `AT_ONCE_ON_CPU` at once."""

Predict = Callable[[Any, str, int], NDArray[Any]]
"""Returns predictions, given parameters, a split of the task, and how many of its first instances."""


def pieces_on(mesh: Mesh) -> tuple[int, int]:
    """Return how many instances a device of a mesh takes at once, and how often in one call."""
    return (AT_ONCE_ON_CPU, _PIECES_ON_CPU) if on_cpu(mesh) else (_AT_ONCE, _PIECES)


def answers_of(model: nn.Module, variables: Any, encoding: Encoding, batch: Batch) -> jax.Array:
    """Return what a network answers: by its own ``predict`` if it has one, or what is read of its outputs."""
    tokens = encoding.tokens(batch)
    outputs: Any = model.apply(variables, tokens, num_outputs=encoding.num_outputs)
    answers = encoding.predict(outputs)
    own: Any = model.apply(variables, tokens, method="predict") if hasattr(model, "predict") else None
    return answers if own is None else own.astype(answers.dtype)


def predictor(config: RunConfig, mesh: Mesh | None = None) -> Predict:
    """Return what predicts with the parameters of runs of one shape; its program is compiled once.

    Args:
        config: of the runs; seed and hyperparameters don't matter.
        mesh: devices, on which the parameters lie as in training; None for one of this process. With
            several processes, all of them predict, and have all predictions.
    """
    task, mesh = board_of(config).task, mesh or own_mesh()
    encoding, model = encoding_of(task), model_of(config, encoding_of(task))
    at_once, pieces = pieces_on(mesh)
    at_once *= mesh.size

    def predict_pieces(params: Any, chunk: dict[str, jax.Array]) -> jax.Array:
        def predict_piece(piece: dict[str, jax.Array]) -> jax.Array:
            with matmul_precision(config.precision):
                return answers_of(model, {"params": params}, encoding, piece)

        return jnp.asarray(jax.lax.map(predict_piece, chunk))

    compiled = jax.jit(
        on_each_device(mesh, predict_pieces, CHUNK_SPEC, CHUNK_SPEC), out_shardings=whole(mesh)
    )

    def predict(params: Any, split: str, count: int) -> NDArray[Any]:
        found = []
        for start in range(0, count, pieces * at_once):
            # The last batch is filled up with what comes after, so that one program serves all.
            chunk = chunk_of_steps(task, encoding.fields, at_once, start // at_once, pieces, split)
            out = np.asarray(compiled(params, place_chunk(mesh, chunk)))
            found.append(out.reshape(-1, *out.shape[2:]))
        return np.concatenate(found)[:count]

    return predict


@lru_cache(maxsize=1)
def predictor_of_shape(config: RunConfig) -> Predict:
    """Return the predictor of a configuration on one device; the last one is kept."""
    return predictor(config)


def predict(config: RunConfig, params: Any, split: str, count: int) -> NDArray[Any]:
    """Return predictions of the first instances of a split, in their order, on one device.

    Runs of one shape that follow one another share a program.

    Args:
        config: of the run.
        params: its parameters.
        split: a split of its board's task.
        count: how many instances.
    """
    return predictor_of_shape(shape_of(config))(params, split, count)


def unranked_splits(board: Board) -> tuple[str, ...]:
    """Return the splits that a board's task has beside those of the board, such as ``ood_terms``.

    They can be predicted and scored as the others are, but nothing ranks or chooses by them.
    """
    return tuple(split for split in board.task.splits if split != "train" and split not in board.splits)


# While a run trains

SLICE = 1024
"""Instances of each split that are scored, its first ones."""

TIMES = 100
"""How often a run is scored, by default."""


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
    sizes = {split: min(size, most) for split, size in board.splits.items()}
    sizes |= dict.fromkeys(unranked_splits(board), most)

    @cache
    def labels_of(split: str) -> Labels:
        return scoring.labels(task.sample(split, 0, sizes[split]), None)

    def scores_of(split: str, params: Any) -> dict[str, float]:
        predictions = predict(params, split, sizes[split])
        return score_plainly(scoring, labels_of(split), predictions, metrics=metrics)

    def evaluate(params: Any) -> Scores:
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
        distance = max(1, config.steps // TIMES) if steps is None else steps
        return experiment._replace(evaluate=make_evaluate(config, mesh), evaluate_every=distance)

    return make
