"""Training data as a pure function of the step: nothing to store, nothing to repeat on resuming."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from sraven.core.task import Task

Chunk = dict[str, NDArray[np.generic]]
"""Arrays by name, ``[steps, batch size, ...]``."""


def chunk_of_steps(
    task: Task,
    fields: tuple[str, ...],
    batch_size: int,
    first: int,
    steps: int,
    split: str = "train",
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


def prefetch(make: Callable[[int, int], Chunk], bounds: Sequence[tuple[int, int]]) -> Iterator[Chunk]:
    """Yield the chunks of consecutive ranges of steps; a thread makes the next while one is trained on.

    Args:
        make: returns a chunk, given its first step and how many they are.
        bounds: of each chunk.
    """
    with ThreadPoolExecutor(1) as pool:
        for chunk, _ in pairwise(chain((pool.submit(make, *each) for each in bounds), [None])):
            assert chunk is not None, "None comes last"
            yield chunk.result()
