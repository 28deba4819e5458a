"""The compiled forms of the program of runs of one shape, on a mesh."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from baselines.config import RunConfig
from baselines.model.networks import OURS
from baselines.train.experiment import Experiment
from baselines.train.sharding import state_shardings, whole
from baselines.train.step import Program, State, train_chunk

Config = TypeVar("Config", bound=RunConfig)


class Compiled:
    """The compiled forms of an experiment's program.

    Args:
        experiment: what is trained.
        mesh: devices of a run.
        apart: devices that each take an equal part of the runs; none for those of the mesh.

    Attributes:
        target: a state of `jax.ShapeDtypeStruct`, as a checkpoint is restored to it.
        initialise: returns the first state, given a seed.
        stack: returns stacked states, given those of the runs.
        unstack: returns the state of one run, given stacked ones and its place.
        copy: returns stacked states in memory of their own.
        train: as `baselines.train.step.train_chunk`, given stacked states, which it uses up, what the grid
            varies and a chunk that lies on the mesh. It returns before the device has done it.
    """

    def __init__(self, experiment: Experiment, mesh: Mesh, apart: Sequence[jax.Device] = ()) -> None:
        program = experiment.program
        one = abstract_state(program)
        shardings = state_shardings(mesh, one)
        stacked = state_shardings(mesh, jax.eval_shape(lambda state: _stack([state]), one))

        self.target = target_of(program, mesh)
        self.initialise = jax.jit(program.initialise, out_shardings=shardings)
        self.stack: Callable[..., Any] = jax.jit(_stack, out_shardings=stacked)
        self.unstack: Callable[..., Any] = jax.jit(
            lambda states, place: jax.tree.map(lambda leaf: leaf[place], states), out_shardings=shardings
        )
        self.copy = jax.jit(lambda states: jax.tree.map(jnp.copy, states), out_shardings=stacked)
        self.train: Callable[..., Any] = jax.jit(
            partial(train_chunk, program, vmap_runs=experiment.vmap_runs),
            out_shardings=(stacked, whole(mesh)),
            donate_argnums=0,
        )
        if apart:
            self._spread(experiment, apart, shardings)

    def _spread(self, experiment: Experiment, apart: Sequence[jax.Device], one: State) -> None:
        """Let each device train some of the runs: nothing is sent between them."""
        mesh = Mesh(np.array(apart), ("runs",), axis_types=(AxisType.Auto,))
        by_run, everywhere = NamedSharding(mesh, PartitionSpec("runs")), whole(mesh)
        train = jax.jit(
            jax.shard_map(
                partial(train_chunk, experiment.program, vmap_runs=experiment.vmap_runs),
                mesh=mesh,
                in_specs=(PartitionSpec("runs"), PartitionSpec("runs"), PartitionSpec()),
                out_specs=PartitionSpec("runs"),
                check_vma=False,
            ),
            donate_argnums=0,
        )
        stack = self.stack
        pick = jax.jit(
            lambda states, place: jax.tree.map(lambda leaf: leaf[place], states), out_shardings=everywhere
        )
        self.stack = lambda states: jax.device_put(stack(states), by_run)
        self.unstack = lambda states, place: jax.device_put(pick(states, place), one)
        self.copy = jax.jit(lambda states: jax.tree.map(jnp.copy, states), out_shardings=by_run)
        self.train = lambda states, hypers, chunk: train(states, hypers, jax.device_put(chunk, everywhere))


def abstract_state(program: Program) -> State:
    """Return the shapes of a program's states."""
    return jax.eval_shape(program.initialise, jax.ShapeDtypeStruct((), jnp.uint32))


def count_parameters(program: Program) -> int:
    """Return how many parameters a program trains."""
    return sum(leaf.size for leaf in jax.tree.leaves(abstract_state(program).params))


def count_quickly(make_program: Callable[[Config], Program], config: Config) -> int:
    """Return how many parameters a run has, from networks of one and of two layers: each takes time to build.

    All layers of this project's networks are alike; a network of the user's own is built as it is.

    Args:
        make_program: returns the program of a configuration.
        config: of the run, which may be anybody's.
    """
    if config.layers < 3 or config.code or config.network not in OURS:
        return count_parameters(make_program(config))
    one, two = (count_parameters(make_program(replace(config, layers=layers))) for layers in (1, 2))
    return one + (config.layers - 1) * (two - one)


def target_of(program: Program, mesh: Mesh) -> State:
    """Return a state of `jax.ShapeDtypeStruct`: shapes, and how they lie on a mesh."""
    one = abstract_state(program)
    return jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        one,
        state_shardings(mesh, one),
    )


def _stack(states: Sequence[State]) -> State:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
