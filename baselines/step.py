"""One step of training, many steps of it in one program, and many runs of that side by side.

Pure functions: a state goes in, a state comes out. Letters: R runs, S steps.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from baselines.encode import Batch, Encoding
from baselines.optim import Hyper, make_optimiser

Apply = Callable[..., jax.Array]
"""Returns outputs ``[B, T, O]``, given parameters, tokens ``[B, T, D]`` and a key for dropout or None."""


class State(NamedTuple):
    """All that training changes.

    Attributes:
        params: of the model.
        moments: state of the optimiser.
        step: int32, updates done.
        seed: uint32, draws the initial parameters and dropout.
    """

    params: Any
    moments: Any
    step: jax.Array
    seed: jax.Array


class Report(NamedTuple):
    """What a step tells; float32 scalars, stacked over steps and runs."""

    loss: jax.Array
    score: jax.Array
    gradient_norm: jax.Array


class Program(NamedTuple):
    """A training program for one run.

    Attributes:
        initialise: returns the first state, given a seed.
        update: returns the next state and a report, given a state, what the grid varies and a batch.
    """

    initialise: Callable[[jax.Array], State]
    update: Callable[[State, Hyper, Batch], tuple[State, Report]]


def make_program(
    initialise_params: Callable[[jax.Array], Any],
    apply: Apply,
    encoding: Encoding,
    *,
    recipe: str,
    steps: int,
    warmup: int,
) -> Program:
    """Return the training program of a model on a task.

    Args:
        initialise_params: returns parameters, given a key.
        apply: the model.
        encoding: the task's.
        recipe: ``paper`` or ``paper-code``; see `baselines.optim`.
        steps: updates of a run.
        warmup: those over which the rate rises.
    """

    def initialise(seed: jax.Array) -> State:
        params = initialise_params(jax.random.key(seed))
        moments = make_optimiser(Hyper(0.0, 0.0), recipe, steps, warmup).init(params)
        return State(params, moments, jnp.zeros((), jnp.int32), jnp.asarray(seed, jnp.uint32))

    def update(state: State, hyper: Hyper, batch: Batch) -> tuple[State, Report]:
        # The key depends on seed and step alone, so a resumed run draws what an unbroken one does.
        key = jax.random.fold_in(jax.random.key(state.seed), state.step + 1)

        def loss_of(params: Any) -> tuple[jax.Array, jax.Array]:
            out_BTO = apply(params, encoding.tokens(batch), key)
            return encoding.loss(out_BTO, batch), encoding.score(out_BTO, batch)

        (loss, score), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
        optimiser = make_optimiser(hyper, recipe, steps, warmup)
        changes, moments = optimiser.update(gradients, state.moments, state.params)
        params = optax.apply_updates(state.params, changes)
        report = Report(loss, score, optax.tree.norm(gradients))
        return State(params, moments, state.step + 1, state.seed), report

    return Program(initialise, update)


def train_chunk(program: Program, states: State, hypers: Hyper, chunk: Batch) -> tuple[State, Report]:
    """Train all runs on the same batches, one after the other.

    Args:
        program: of one run.
        states: stacked, ``[R, ...]``.
        hypers: float32 ``[R]`` each.
        chunk: batches ``[S, B, ...]``.

    Returns:
        the states after S steps, and the reports ``[R, S]``.
    """

    def train_one(state: State, hyper: Hyper) -> tuple[State, Report]:
        return jax.lax.scan(lambda carry, batch: program.update(carry, hyper, batch), state, chunk)

    return jax.vmap(train_one)(states, hypers)
