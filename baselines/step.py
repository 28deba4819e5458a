"""One step of training, many steps of it in one program, and many runs of that in one program.

Pure functions: a state goes in, a state comes out. Letters: R runs, S steps.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from baselines.encode import Batch
from baselines.optim import Hyper, make_optimiser

Evaluate = Callable[[Any, Batch, jax.Array], tuple[jax.Array, jax.Array]]
"""Returns mean loss and score of a batch, given parameters, the batch and a key for dropout."""


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
    """What a step tells: float32 scalars, stacked over steps and runs, or means of them as floats.

    Attributes:
        loss: mean over the batch.
        score: the board's primary metric; for text, the share of tokens that are the likeliest ones.
        gradient_norm: of all gradients.
    """

    loss: Any
    score: Any
    gradient_norm: Any


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
    evaluate: Evaluate,
    *,
    recipe: str,
    steps: int,
    parts: int = 1,
    gather: Callable[[Any], Any] = lambda params: params,
) -> Program:
    """Return the training program of a model.

    Args:
        initialise_params: returns parameters, given a key.
        evaluate: applies the model to a batch.
        recipe: ``paper`` or ``paper-code``; see `baselines.optim`.
        steps: updates of a run.
        parts: equal ones that a batch is cut into, one after the other: less memory, and on a CPU
            less time, as arrays stay in its cache. Gradients are those of the whole batch, up to
            rounding.
        gather: returns parameters, or gradients, as the model has them: on a mesh, whole on every device.
    """

    def initialise(seed: jax.Array) -> State:
        params = initialise_params(jax.random.key(seed))
        moments = make_optimiser(Hyper(0.0, 0.0, 0), recipe, steps).init(params)
        return State(params, moments, jnp.zeros((), jnp.int32), jnp.asarray(seed, jnp.uint32))

    def update(state: State, hyper: Hyper, batch: Batch) -> tuple[State, Report]:
        # The key depends on seed and step alone, so a resumed run draws what an unbroken one does.
        key = jax.random.fold_in(jax.random.key(state.seed), state.step + 1)

        gathered = gather(state.params)

        def differentiate(part: Batch) -> Any:
            return jax.value_and_grad(evaluate, has_aux=True)(gathered, part, key)

        (loss, score), gradients = _mean_over_parts(differentiate, batch, parts)
        gradients = gather(gradients)
        optimiser = make_optimiser(hyper, recipe, steps)
        changes, moments = optimiser.update(gradients, state.moments, state.params)
        params = optax.apply_updates(state.params, changes)
        report = Report(loss, score, optax.tree.norm(gradients))
        return State(params, moments, state.step + 1, state.seed), report

    return Program(initialise, update)


def _mean_over_parts(function: Callable[[Batch], Any], batch: Batch, parts: int) -> Any:
    """Return the mean of what a function returns for equal parts of a batch.

    A part has every so many-th instance: on a mesh, whose devices hold instances that follow one another,
    each has its share of every part.
    """
    if parts == 1:
        return function(batch)
    cut = jax.tree.map(lambda array: array.reshape(-1, parts, *array.shape[1:]).swapaxes(0, 1), batch)
    zeros = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype),
        jax.eval_shape(function, jax.tree.map(lambda array: array[0], cut)),
    )
    total, _ = jax.lax.scan(
        lambda total, part: (jax.tree.map(jnp.add, total, function(part)), None), zeros, cut
    )
    return jax.tree.map(lambda leaf: leaf / parts, total)


def train_chunk(
    program: Program, states: State, hypers: Hyper, chunk: Batch, *, side_by_side: bool = True
) -> tuple[State, Report]:
    """Train all runs on the same batches.

    Args:
        program: of one run.
        states: stacked, ``[R, ...]``.
        hypers: float32 ``[R]`` each.
        chunk: batches ``[S, B, ...]``.
        side_by_side: True: all runs take a step together, under vmap: many times faster on a GPU,
            which a small model can't fill. False: one run after the other, in the same program:
            faster on a CPU, whose cache holds the arrays of one.

    Returns:
        the states after S steps, and the reports ``[R, S]``.
    """

    def train_one(state: State, hyper: Hyper) -> tuple[State, Report]:
        return jax.lax.scan(lambda carry, batch: program.update(carry, hyper, batch), state, chunk)

    if side_by_side:
        return jax.vmap(train_one)(states, hypers)
    trained: tuple[State, Report] = jax.lax.map(lambda run: train_one(*run), (states, hypers))
    return trained
