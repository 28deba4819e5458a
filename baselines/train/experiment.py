"""An experiment: what the training loop trains, on which batches, and what it logs."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.encode import Batch, Encoding, encoding_of
from baselines.model.config import TransformerConfig
from baselines.model.names import look_up
from baselines.model.networks import make_network
from baselines.train.log import Scores
from baselines.train.optim import LR_SCHEDULES, OPTIMISERS, WEIGHT_DECAY_MASKS, make_optimiser
from baselines.train.sharding import check_batch, make_mesh, on_cpu, place_chunk
from baselines.train.step import Loss, Program, StepReport
from sraven.board.board import Board, read_board
from sraven.core.errors import ConfigurationError
from sraven.core.roles import Task

CHUNK = 100
"""Steps of one call of the compiled program."""

AT_ONCE_ON_CPU = 32
"""Instances that a CPU takes at once, if they divide a batch: their arrays fit into the cache of a core."""


Chunk = dict[str, NDArray[np.generic]]
"""Arrays by name, ``[steps, batch size, ...]``."""


def chunk_of_steps(
    task: Task, fields: tuple[str, ...], batch_size: int, first: int, steps: int, split: str = "train"
) -> Chunk:
    """Return the batches of some steps: step s takes the instances from s * batch_size.

    Args:
        task: the task.
        fields: names of the arrays to return.
        batch_size: instances of a step.
        first: the first step.
        steps: how many.
        split: of the task.
    """
    batch = task.sample(split, first * batch_size, steps * batch_size)
    arrays = {name: getattr(batch, name) for name in fields}
    return {name: array.reshape(steps, batch_size, *array.shape[1:]) for name, array in arrays.items()}


Evaluate = Callable[[Any], Scores]
"""Returns scores, given parameters."""


class Experiment(NamedTuple):
    """What a run trains, and on what.

    Attributes:
        program: of one run, and the devices.
        make_chunk: returns the batches of some steps, arrays ``[S, B, ...]`` by name, given the first step
            and how many they are.
        place: puts such arrays on the devices.
        describe: returns a line of the log, given a mean report and the steps per second of all runs.
        steps_at_once: steps of one call of the compiled program, and of a line of the log.
        files: other files of a run's directory: contents by name.
        evaluate: returns scores for the log, given the parameters of one run as they lie on the devices. It
            must depend on these alone, as a resumed run computes the scores again. With several processes,
            all call it, in the same order.
        evaluate_every: steps between such scores, at the next end of a chunk; the last step has them too.
    """

    program: Program
    make_chunk: Callable[[int, int], Chunk]
    place: Callable[[Chunk], dict[str, jax.Array]]
    describe: Callable[[StepReport, float], dict[str, float]]
    steps_at_once: int
    files: Mapping[str, bytes] = MappingProxyType({})
    evaluate: Evaluate | None = None
    evaluate_every: int = 1

    def scores_are_due(self, before: int, step: int, last: int) -> bool:
        """Return whether a chunk of a run of ``last`` steps ends with scores: a matter of its steps alone."""
        crossed = step // self.evaluate_every > before // self.evaluate_every
        return self.evaluate is not None and (crossed or step == last)


MakeExperiment = Callable[[RunConfig, Mesh], Experiment]
"""Returns what a run trains, given its configuration and devices."""


def board_of(config: RunConfig) -> Board:
    """Return the board of a configuration.

    Raises:
        ConfigurationError: if its digest is another.
    """
    board = read_board(config.board)
    if board.digest != config.board_digest:
        raise ConfigurationError(f"board_digest={config.board_digest!r}: {board.id} has {board.digest!r}")
    return board


def network_shape(config: RunConfig) -> dict[str, Any]:
    """Return the fields of a network's shape that don't depend on the task."""
    names = (
        "layers width heads qkv_width mlp_width attention activation feedforward attention_dropout position"
    )
    dense_precision = "bfloat16" if config.precision == "bfloat16" else "default"
    return {"dense_precision": dense_precision, **{name: getattr(config, name) for name in names.split()}}


def model_of(config: RunConfig, encoding: Encoding) -> nn.Module:
    """Return the model of a configuration: its network, of its shape."""
    shape = TransformerConfig(
        inputs=encoding.width_in,
        outputs=encoding.width_out,
        length=encoding.length,
        panel_tokens=encoding.panel_tokens,
        query_tokens=encoding.query_tokens,
        **network_shape(config),
    )
    return make_network(config.network, shape)


def make_program(
    config: RunConfig,
    model: nn.Module,
    tokens: jax.ShapeDtypeStruct,
    loss: Loss,
    num_microbatches: int,
    mesh: Mesh,
    *,
    vmap_runs: bool,
) -> Program:
    """Return the program that trains a model with the optimiser of a configuration.

    Args:
        config: of the run.
        model: its network.
        tokens: shape and type of one sequence, for which the first parameters are drawn.
        loss: of a batch, and its score.
        num_microbatches: how many equal ones a batch is cut into.
        mesh: devices.
        vmap_runs: whether several runs take a step together, see `Program`.

    Raises:
        ConfigurationError: for a name that isn't in its table.
    """

    def initialise_params(key: jax.Array) -> Any:
        return model.init(key, jnp.zeros(tokens.shape, tokens.dtype))["params"]

    optimiser = partial(
        make_optimiser,
        steps=config.steps,
        optimiser=look_up("optimiser", config.optimiser, OPTIMISERS),
        lr_schedule=look_up("lr_schedule", config.lr_schedule, LR_SCHEDULES),
        weight_decay_mask=look_up("weight_decay_mask", config.weight_decay_mask, WEIGHT_DECAY_MASKS),
    )
    return Program(initialise_params, loss, optimiser, mesh, num_microbatches, config.precision, vmap_runs)


def own_loss(model: nn.Module, variables: Any, encoding: Encoding, batch: Batch) -> jax.Array | None:
    """Return what a network says itself that is minimised, by ``training_loss``; None if it doesn't say.

    Args:
        model: the network.
        variables: its parameters, as Flax applies them.
        encoding: of its task.
        batch: of instances.
    """
    if not hasattr(model, "training_loss"):
        return None

    def usual(out_BTO: jax.Array) -> jax.Array:
        return encoding.loss(out_BTO[:, -encoding.num_outputs :], batch)

    given = encoding.tokens(batch), encoding.target(batch), usual
    found: Any = model.apply(variables, *given, method="training_loss")
    return None if found is None else jnp.asarray(found)


def program_of(
    config: RunConfig, encoding: Encoding, num_microbatches: int = 1, mesh: Mesh | None = None
) -> Program:
    """Return the training program of a configuration.

    Args:
        config: of the run.
        encoding: of its task.
        num_microbatches: how many equal ones a batch is cut into.
        mesh: devices; None for one.
    """
    model, mesh = model_of(config, encoding), mesh or make_mesh()
    tokens_BTD = jax.ShapeDtypeStruct((1, encoding.length, encoding.width_in), jnp.float32)

    def loss(params: Any, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        variables = {"params": params}
        out_BAO: Any = model.apply(variables, encoding.tokens(batch), key, num_outputs=encoding.num_outputs)
        own = own_loss(model, variables, encoding, batch)
        return encoding.loss(out_BAO, batch) if own is None else own, encoding.score(out_BAO, batch)

    vmap_runs = not on_cpu(mesh)
    return make_program(config, model, tokens_BTD, loss, num_microbatches, mesh, vmap_runs=vmap_runs)


def num_microbatches_of(batch_size: int, mesh: Mesh) -> int:
    """Return how many microbatches a batch is cut into on a mesh."""
    microbatches, rest = divmod(batch_size, AT_ONCE_ON_CPU * mesh.size)
    return microbatches if on_cpu(mesh) and microbatches and not rest else 1


def board_experiment(config: RunConfig, mesh: Mesh) -> Experiment:
    """Return the experiment of a run on a board that makes its own instances.

    Raises:
        ConfigurationError: if the board isn't the configuration's, or the mesh doesn't divide a batch.
    """
    task = board_of(config).task
    encoding = encoding_of(task)
    num_microbatches = num_microbatches_of(config.batch_size, mesh)
    check_batch(mesh, config.batch_size, num_microbatches)

    def describe(report: StepReport, steps_per_second: float) -> dict[str, float]:
        speed = round(steps_per_second * config.batch_size, 1)
        return {**report._asdict(), "instances_per_second": speed}

    return Experiment(
        program_of(config, encoding, num_microbatches, mesh),
        partial(chunk_of_steps, task, encoding.fields, config.batch_size),
        partial(place_chunk, mesh),
        describe,
        CHUNK,
    )
