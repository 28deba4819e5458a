"""Training programs of models that are functions, without a configuration."""

from functools import partial

from baselines.encode import encoding_of
from baselines.training.optim import OPTIMISERS, make_optimiser
from baselines.training.step import Program


def plain_program(task, initialise, apply, *, steps, num_microbatches=1, optimiser="adamw"):
    """Return the training program of a model on a task.

    Args:
        task: the task.
        initialise: returns parameters, given a key.
        apply: returns outputs ``[B, T, O]``, given parameters, tokens ``[B, T, D]`` and a key.
        steps: updates of a run.
        num_microbatches: of a batch.
        optimiser: its name.
    """
    encoding = encoding_of(task)

    def loss(params, batch, key):
        out = apply(params, encoding.tokens(batch), key)
        return encoding.loss(out, batch), encoding.score(out, batch)

    make = partial(make_optimiser, steps=steps, optimiser=OPTIMISERS[optimiser])
    return Program(initialise, loss, make, num_microbatches=num_microbatches)
