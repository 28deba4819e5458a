"""Predictions of a board's task by trained parameters, in one compiled program for all splits and sizes."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.training.experiment import AT_ONCE_ON_CPU, board_of, model_of
from baselines.training.feed import chunk_of_steps
from baselines.training.optim import Hyperparams
from baselines.training.sharding import CHUNK_SPEC, on_cpu, on_each_device, own_mesh, place_chunk, whole
from baselines.training.step import matmul_precision
from sraven.board.board import Board
from sraven.core.errors import ConfigurationError

_AT_ONCE, _PIECES = 512, 1
"""Instances that a device takes at once, and how often in one call of the program."""

_PIECES_ON_CPU = 16
"""How often a CPU does, which takes `AT_ONCE_ON_CPU` at once."""

Predict = Callable[[Any, str, int], NDArray[Any]]
"""Returns predictions, given parameters, a split of the task, and how many of its first instances."""

Reading = Literal["predict", "probabilities"]
"""What is read off a model's outputs: a function of its encoding."""


def pieces_on(mesh: Mesh) -> tuple[int, int]:
    """Return how many instances a device of a mesh takes at once, and how often in one call."""
    return (AT_ONCE_ON_CPU, _PIECES_ON_CPU) if on_cpu(mesh) else (_AT_ONCE, _PIECES)


def predictor(config: RunConfig, mesh: Mesh | None = None, reading: Reading = "predict") -> Predict:
    """Return what predicts with the parameters of runs of one shape; its program is compiled once.

    Args:
        config: of the runs; seed and hyperparameters don't matter.
        mesh: devices, on which the parameters lie as in training; None for one of this process. With
            several processes, all of them predict, and have all predictions.
        reading: predictions as the board wants them, or the probabilities that the model gives.

    Raises:
        ConfigurationError: if the encoding of the board's task has no probabilities, and they are requested.
    """
    task, mesh = board_of(config).task, mesh or own_mesh()
    encoding, model = encoding_of(task), model_of(config, encoding_of(task))
    read = getattr(encoding, reading)
    if read is None:
        raise ConfigurationError(
            f"outputs of {task.name} are values, not probabilities; give a run on another task"
        )
    at_once, pieces = pieces_on(mesh)
    at_once *= mesh.size

    def predict_pieces(params: Any, chunk: dict[str, jax.Array]) -> jax.Array:
        def predict_piece(piece: dict[str, jax.Array]) -> jax.Array:
            with matmul_precision(config.precision):
                out = model.apply(
                    {"params": params}, encoding.tokens(piece), num_outputs=encoding.num_outputs
                )
            return read(out)

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
def predictor_of_shape(config: RunConfig, reading: Reading = "predict") -> Predict:
    """Return the predictor of a configuration on one device; the last one is kept."""
    return predictor(config, reading=reading)


def predict(
    config: RunConfig, params: Any, split: str, count: int, reading: Reading = "predict"
) -> NDArray[Any]:
    """Return predictions of the first instances of a split, in their order, on one device.

    Runs of one shape that follow one another share a program.

    Args:
        config: of the run.
        params: its parameters.
        split: a split of its board's task.
        count: how many instances.
        reading: predictions as the board wants them, or the probabilities that the model gives.

    Raises:
        ConfigurationError: if probabilities are requested, and there are none.
    """
    others: dict[str, Any] = dict.fromkeys(("seed", *Hyperparams._fields), 0)
    return predictor_of_shape(replace(config, **others), reading)(params, split, count)


def unranked_splits(board: Board) -> tuple[str, ...]:
    """Return the splits that a board's task has beside those of the board, such as ``ood_terms``.

    They can be predicted and scored as the others are, but nothing ranks or chooses by them.
    """
    return tuple(split for split in board.task.splits if split != "train" and split not in board.splits)
