"""The compiled forms of the program of runs of one shape, on a mesh."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from baselines.train.experiment import Experiment
from baselines.train.sharding import state_shardings, whole
from baselines.train.step import Program, State, train_chunk


class Compiled:
    """The compiled forms of an experiment's program.

    Args:
        experiment: what is trained.
        mesh: devices of a run.

    Attributes:
        target: a state of `jax.ShapeDtypeStruct`, as a checkpoint is restored to it.
        initialise: returns the first state, given a seed.
        stack: returns stacked states, given those of the runs.
        unstack: returns the state of one run, given stacked ones and its place.
        copy: returns stacked states in memory of their own.
        train: as `baselines.train.step.train_chunk`, given stacked states, which it uses up, what the grid
            varies and a chunk that lies on the mesh. It returns before the device has done it.
    """

    def __init__(self, experiment: Experiment, mesh: Mesh) -> None:
        program = experiment.program
        one = abstract_state(program)
        shardings = state_shardings(mesh, one)
        stacked = state_shardings(mesh, jax.eval_shape(lambda state: _stack([state]), one))

        self.target = target_of(program, mesh)
        self.initialise = jax.jit(program.initialise, out_shardings=shardings)
        self.stack = jax.jit(_stack, out_shardings=stacked)
        self.unstack: Callable[..., Any] = jax.jit(
            lambda states, place: jax.tree.map(lambda leaf: leaf[place], states), out_shardings=shardings
        )
        self.copy = jax.jit(lambda states: jax.tree.map(jnp.copy, states), out_shardings=stacked)
        self.train: Callable[..., Any] = jax.jit(
            partial(train_chunk, program, vmap_runs=experiment.vmap_runs),
            out_shardings=(stacked, whole(mesh)),
            donate_argnums=0,
        )


def abstract_state(program: Program) -> State:
    """Return the shapes of a program's states."""
    return jax.eval_shape(program.initialise, jax.ShapeDtypeStruct((), jnp.uint32))


def count_parameters(program: Program) -> int:
    """Return how many parameters a program trains."""
    return sum(leaf.size for leaf in jax.tree.leaves(abstract_state(program).params))


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
