"""One step of training, many steps of it in one program, and many runs of that in one program.

Pure functions: a state goes in, a state comes out. Letters: R runs, S steps, B instances of a batch.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh

from baselines.encode import Batch
from baselines.train.optim import Hyperparams
from baselines.train.sharding import mean_over_devices, state_shardings, whole

Loss = Callable[[Any, Batch, jax.Array], tuple[jax.Array, jax.Array]]
"""Returns mean loss and score of a batch, given parameters, the batch and a key for dropout."""


class State(NamedTuple):
    """All that training changes.

    Attributes:
        params: of the model.
        opt_state: of the optimiser.
        step: int32, updates done.
        seed: uint32, draws the initial parameters and dropout.
    """

    params: Any
    opt_state: Any
    step: jax.Array
    seed: jax.Array


class StepReport(NamedTuple):
    """What a step reports: float32 scalars, stacked over steps and runs, or means of them as floats.

    Attributes:
        loss: mean over the batch.
        score: the board's primary metric; for text, the share of tokens that are the likeliest ones.
        gradient_norm: of all gradients.
    """

    loss: Any
    score: Any
    gradient_norm: Any


@dataclass(frozen=True)
class Program:
    """What runs of one shape are trained by, on the devices of a mesh.

    Attributes:
        initialise_params: returns the first parameters, given a key.
        loss: of a batch, and its score.
        optimiser: given what a grid varies, numbers or traced ones; see `make_optimiser`.
        mesh: devices of a run; each computes its part of a batch.
        num_microbatches: how many equal ones a batch is cut into, one after the other: less memory, and
            on a CPU less time, as arrays stay in its cache. Gradients are those of the whole batch, up
            to rounding.
        precision: of products, a name of `baselines.config.PRECISIONS`.
        vmap_runs: True: all runs take a step together, under vmap: many times faster on a GPU,
            which a small model can't fill. False: one run after the other, in the same program:
            faster on a CPU, whose cache holds the arrays of one.
    """

    initialise_params: Callable[[jax.Array], Any]
    loss: Loss
    optimiser: Callable[[Hyperparams], optax.GradientTransformation]
    mesh: Mesh
    num_microbatches: int = 1
    precision: str = "default"
    vmap_runs: bool = True

    def initialise(self, seed: jax.Array) -> State:
        """Return the first state of a run."""
        params = self.initialise_params(jax.random.key(seed))
        opt_state = self.optimiser(Hyperparams(0.0, 0.0, 0)).init(params)
        return State(params, opt_state, jnp.zeros((), jnp.int32), jnp.asarray(seed, jnp.uint32))

    @cached_property
    def target(self) -> State:
        """A state of `jax.ShapeDtypeStruct`: shapes, and how they lie on the mesh."""
        one = jax.eval_shape(self.initialise, jax.ShapeDtypeStruct((), jnp.uint32))
        return jax.tree.map(
            lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
            one,
            state_shardings(self.mesh, one),
        )

    @property
    def num_parameters(self) -> int:
        """How many parameters it trains."""
        return sum(leaf.size for leaf in jax.tree.leaves(self.target.params))

    @cached_property
    def _shardings(self) -> tuple[State, State]:
        """How the state of a run lies on the mesh, and stacked ones do."""
        stacked = jax.eval_shape(lambda state: _stack([state]), self.target)
        return state_shardings(self.mesh, self.target), state_shardings(self.mesh, stacked)

    @cached_property
    def begin(self) -> Callable[[Any], State]:
        """`initialise`, compiled."""
        return jax.jit(self.initialise, out_shardings=self._shardings[0])

    @cached_property
    def stack(self) -> Callable[[Sequence[State]], State]:
        """Returns stacked states, given those of the runs."""
        return jax.jit(_stack, out_shardings=self._shardings[1])

    @cached_property
    def unstack(self) -> Callable[[State, int], State]:
        """Returns the state of one run, given stacked ones and its place."""
        return jax.jit(
            lambda states, place: jax.tree.map(lambda leaf: leaf[place], states),
            out_shardings=self._shardings[0],
        )

    @cached_property
    def copy(self) -> Callable[[State], State]:
        """Returns stacked states in memory of their own."""
        return jax.jit(lambda states: jax.tree.map(jnp.copy, states), out_shardings=self._shardings[1])

    @cached_property
    def train(self) -> Callable[[State, Hyperparams, Batch], tuple[State, StepReport]]:
        """`train_chunk`, compiled: it uses up the states, and returns before the devices have done it."""
        shardings = self._shardings[1], whole(self.mesh)
        return jax.jit(partial(train_chunk, self), out_shardings=shardings, donate_argnums=0)


def _stack(states: Sequence[State]) -> State:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


def train_step(program: Program, state: State, hyper: Hyperparams, batch: Batch) -> tuple[State, StepReport]:
    """Take a step of one run: the next state, and its report.

    Args:
        program: of the run.
        state: before.
        hyper: scalars.
        batch: arrays ``[B, ...]`` by name.
    """
    # The key depends on seed and step alone, so a resumed run draws what an unbroken one does.
    key = jax.random.fold_in(jax.random.key(state.seed), state.step + 1)

    def differentiate(shared: Any, part: Batch) -> Any:
        params, key = shared
        gradient = jax.value_and_grad(program.loss, has_aux=True)
        return _mean_over_microbatches(
            lambda microbatch: gradient(params, microbatch, key), part, program.num_microbatches
        )

    with matmul_precision(program.precision):
        gradients_of = mean_over_devices(program.mesh, differentiate)
        (loss, score), gradients = gradients_of((state.params, key), batch)
    changes, opt_state = program.optimiser(hyper).update(gradients, state.opt_state, state.params)
    next_state = State(optax.apply_updates(state.params, changes), opt_state, state.step + 1, state.seed)
    return next_state, StepReport(loss, score, optax.tree.norm(gradients))


_JAX_NAMES = {"bfloat16": "highest"}


def matmul_precision(name: str) -> AbstractContextManager[Any]:
    """Return a context in which what is traced has its products in a precision.

    ``default`` leaves it to JAX and its settings: float32 on a CPU, TF32 on most GPUs, bfloat16 on a TPU.
    With ``bfloat16``, dense layers round their inputs themselves, and all else is float32.

    Args:
        name: one of `baselines.config.PRECISIONS`.
    """
    return nullcontext() if name == "default" else jax.default_matmul_precision(_JAX_NAMES.get(name, name))


def _mean_over_microbatches(function: Callable[[Batch], Any], batch: Batch, num_microbatches: int) -> Any:
    """Return the mean of what a function returns for the microbatches of a batch."""
    if num_microbatches == 1:
        return function(batch)
    microbatches = jax.tree.map(lambda array: array.reshape(num_microbatches, -1, *array.shape[1:]), batch)
    first = jax.tree.map(lambda array: array[0], microbatches)
    zeros = jax.tree.map(jnp.zeros_like, jax.eval_shape(function, first))
    total, _ = jax.lax.scan(
        lambda total, microbatch: (jax.tree.map(jnp.add, total, function(microbatch)), None),
        zeros,
        microbatches,
    )
    return jax.tree.map(lambda leaf: leaf / num_microbatches, total)


def train_chunk(
    program: Program, states: State, hypers: Hyperparams, chunk: Batch
) -> tuple[State, StepReport]:
    """Train all runs on the same batches.

    Args:
        program: of the runs.
        states: stacked, ``[R, ...]``.
        hypers: float32 ``[R]`` each.
        chunk: batches ``[S, B, ...]``.

    Returns:
        the states after S steps, and the reports ``[R, S]``.
    """

    def train_one(state: State, hyper: Hyperparams) -> tuple[State, StepReport]:
        return jax.lax.scan(lambda carry, batch: train_step(program, carry, hyper, batch), state, chunk)

    if program.vmap_runs:
        return jax.vmap(train_one)(states, hypers)
    return jax.lax.map(lambda run: train_one(*run), (states, hypers))
