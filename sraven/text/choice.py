"""Eight panels to choose from, one of them right: how the others are drawn, and what that gives away.

Choices leak. A solver that never looks for a rule may find the right one by how often its numbers occur, or
by how it lies among the others. `FLOORS` are such solvers, and what they score is computed for each set of
questions and printed beside any score.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.ambiguity import is_answer
from sraven.core.base.errors import CapacityError
from sraven.core.base.estimate import Mean
from sraven.core.compute.rng import fill_draws
from sraven.features import symbols_by_asked_feature
from sraven.task import SRAVEN, Batch
from sraven.text.grading import share

CHOICES = 8
LETTERS = "ABCDEFGH"

_PATIENCE, _MOST_TRIES = 64, 4096

_STEPS = np.array([-2, -1, 1, 2])

Draws = NDArray[np.uint64]


class Source(NamedTuple):
    """What wrong panels are drawn from, for m instances.

    Attributes:
        target: int64 ``[m, M]``: the right panel.
        seen: int64 ``[m, 8, M]``: the numbers in which the context shows the feature of each position.
        base: int64 ``[m, M]``: what the choices of `centred` lie above.
        K: number of symbols.
    """

    target: NDArray[np.int64]
    seen: NDArray[np.int64]
    base: NDArray[np.int64]
    K: int


def _below(draws: Draws, limit: int) -> NDArray[np.int64]:
    """Return numbers below ``limit`` from draws, ``[m, M]`` from ``[M, m]``.

    They are ``limit / 2**32`` off uniform, far below what any set of questions can show.
    """
    numbers = ((draws >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32)
    return np.asarray(numbers.T, np.int64)


def _from_context(source: Source, draws: Draws) -> NDArray[np.int64]:
    return np.asarray(np.take_along_axis(source.seen, _below(draws, 8)[:, None], axis=1)[:, 0], np.int64)


def _uniform(source: Source, draws: Draws) -> NDArray[np.int64]:
    return _below(draws, source.K)


def _near(source: Source, draws: Draws) -> NDArray[np.int64]:
    return np.asarray((source.target + _STEPS[_below(draws, 4)]) % source.K, np.int64)


def _centred(source: Source, draws: Draws) -> NDArray[np.int64]:
    return (source.base + _below(draws, 3)) % source.K


SCHEMES: Mapping[str, Callable[[Source, Draws], NDArray[np.int64]]] = {
    "context": _from_context,
    "uniform": _uniform,
    "near": _near,
    "centred": _centred,
}
"""How a wrong panel is drawn, by the name of the scheme; each number by itself:

- ``context``: one of the eight numbers in which the context shows the feature, each equally probable;
- ``uniform``: any number;
- ``near``: the target's plus or minus 1 or 2, modulo K, so that the target lies in the midst of the others,
  which gives it away;
- ``centred``: 0, 1 or 2 above a base that is drawn below the target in the same way: the target lies among
  the others as any of them does, and differs from them by 2 at most.

None changes.
"""


def _source(batch: Batch, K: int, draws: Draws) -> Source:
    """Return what wrong panels of a batch are drawn from."""
    symbols = symbols_by_asked_feature(batch.context, batch.target, batch.permutations)
    seen = symbols.reshape(len(batch), 9, -1)[:, :8]
    target = batch.target.astype(np.int64)
    return Source(target, seen.astype(np.int64), target - _below(draws, 3), K)


def _draw(task: SRAVEN, split: str, stream: str, rows: int, indices: NDArray[np.uint64], at: int) -> Draws:
    draws = np.zeros((rows + rows % 2, len(indices)), np.uint64)
    fill_draws(draws, task.key(split, stream), indices, np.uint64(at))
    return draws[:rows]


def draw_choices(
    task: SRAVEN, split: str, indices: NDArray[np.int64], scheme: str, threads: int | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return eight panels to choose from for each instance, and which of them is right.

    They are a function of the task, the split, the index and the scheme. The seven others differ, and none
    fits the context; where 64 draws of the scheme weren't enough for that, the rest are uniform.

    Args:
        task: the task.
        split: its split.
        indices: int64 ``[n]``, of the instances.
        scheme: one of `SCHEMES`.
        threads: threads to use; None for all available ones.

    Returns:
        uint8 ``[n, 8, M]``, in an order that is drawn, and int64 ``[n]``.

    Raises:
        CapacityError: if there are hardly seven wrong panels, as at M=1 and K below 8.
    """
    batch, places = task.take(split, indices), indices.astype(np.uint64)
    stream, (n, M) = f"choices {scheme}", batch.target.shape
    source = _source(batch, task.K, _draw(task, split, f"{stream} base", M, places, 0))
    panels = np.repeat(batch.target[:, None], CHOICES, axis=1)  # number 0 is right until they are shuffled
    found = np.ones(n, np.int64)
    for attempt in range(_MOST_TRIES):
        rows = np.flatnonzero(found < CHOICES)
        if not len(rows):
            break
        draw = SCHEMES[scheme] if attempt < _PATIENCE else _uniform
        some = Source(source.target[rows], source.seen[rows], source.base[rows], task.K)
        drawn = draw(some, _draw(task, split, stream, M, places[rows], attempt))
        tried = drawn.astype(np.uint8)
        fits = is_answer(batch.context[rows], tried, task.K, threads=threads, **task.context_options)
        repeats = (panels[rows] == tried[:, None]).all(axis=2).any(axis=1)
        rows, tried = rows[~(fits | repeats)], tried[~(fits | repeats)]
        panels[rows, found[rows]] = tried
        found[rows] += 1
    else:
        raise CapacityError(
            f"M={M}, K={task.K} leaves too few wrong panels for {CHOICES} choices; use larger ones"
            + ("" if task.answers == "unique" else ", or answers='unique'")
        )
    order = np.argsort(_draw(task, split, f"{stream} order", CHOICES, places, 0).T, axis=1)
    return np.take_along_axis(panels, order[:, :, None], axis=1), order.argmin(axis=1)


# What they give away


def _in_matrix(context: NDArray[np.uint8], choices: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how often the numbers of each choice occur in the matrix, anywhere: ``[n, 8]``."""
    rows = np.arange(len(context))[:, None]
    counts = np.zeros((len(context), 256), np.int64)
    np.add.at(counts, (rows, context.reshape(len(context), -1)), 1)
    return np.asarray(counts[rows[:, :, None], choices].sum(axis=2), np.int64)


def _among_choices(context: NDArray[np.uint8], choices: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how often the numbers of each choice occur at their positions in all choices: ``[n, 8]``."""
    same = choices[:, :, None] == choices[:, None]
    return np.asarray(same.sum(axis=(2, 3)), np.int64)


FLOORS: Mapping[str, Callable[[NDArray[np.uint8], NDArray[np.uint8]], NDArray[np.int64]]] = {
    "least frequent in the matrix": _in_matrix,
    "most frequent in the matrix": lambda context, choices: -_in_matrix(context, choices),
    "least frequent among the choices": _among_choices,
    "most frequent among the choices": lambda context, choices: -_among_choices(context, choices),
}
"""Solvers that look for no rule: the choice with the least of this is taken, of equals any."""


def floors(
    context: NDArray[np.uint8], choices: NDArray[np.uint8], right: NDArray[np.int64]
) -> dict[str, Mean]:
    """Return what each of `FLOORS` scores; of equals, each counts as its share."""
    rows, found = np.arange(len(context)), {}
    for name, solver in FLOORS.items():
        scores = solver(context, choices)
        best = scores == scores.min(axis=1, keepdims=True)
        found[name] = share(best[rows, right] / best.sum(axis=1))
    return found
