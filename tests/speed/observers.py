"""Which observers that compose nothing were tried on fuzzy logic, and what they score.

    python tests/speed/observers.py docs/results/fuzzylogic-observers.json

measures, on the first sequences of each split of two boards, R² per sequence of the reference levels and of
further kinds: other covariances, kernels on what is known, features of other sorts, several nearest functions
and gradient boosting on a summary of the sequence. ``knows`` says what each is told besides the sequence.
"""

import time
from functools import cache, partial

import numpy as np
from record import recorded
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from fuzzylogic import gaussian_process, ridge, symmetry
from fuzzylogic.metrics import error_columns
from fuzzylogic.references import OBSERVERS as LEVELS
from sraven.board.board import read_board
from sraven.core.means import mean

BOARDS = "fuzzylogic-l5-terms-v1", "fuzzylogic-terms-v1"
COUNT = 2_048
LEARNT_FROM = 16_384
"""Sequences of training for gradient boosting."""

AT_ONCE = 64
NOISES = (1e-4, 1e-2)
LENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
NEIGHBOURS = 5


def process(kernels, targets):
    """Return means at queries ``[n]`` of the process, of some kernels ``[n, N, N]``, that is likeliest."""
    centre = targets.mean(axis=1)
    best, found = np.full(len(targets), -np.inf), centre.copy()
    for kernel in kernels:
        for noise in NOISES:
            shown = kernel[:, :-1, :-1] + noise * np.eye(targets.shape[1])
            solved = np.linalg.solve(shown, (targets - centre[:, None])[..., None])[..., 0]
            spread = np.maximum(((targets - centre[:, None]) * solved).sum(axis=1), np.finfo(float).tiny)
            likelihood = -targets.shape[1] / 2 * np.log(spread) - np.linalg.slogdet(shown)[1] / 2
            better = likelihood > best
            best[better] = likelihood[better]
            found[better] = (centre + (kernel[:, -1, :-1] * solved).sum(axis=1))[better]
    return found


def distances(points, order):
    """Return those of all pairs of points ``[n, N, D]`` by the norm of an order."""
    return np.stack(
        [(np.abs(each[:, None] - each[None]) ** order).sum(axis=-1) ** (1 / order) for each in points]
    )


def matern(far):
    """Return the covariance Matérn 5/2 of distances in units of the length scale."""
    scaled = 5**0.5 * far
    return (1 + scaled + scaled**2 / 3) * np.exp(-scaled)


def of_distance(task, inputs, targets, *, covariance, order=2, of=None):
    """Return predictions of a process with a covariance of the distances of points, or of values there."""
    points = inputs.astype(float) if of is None else of(task, inputs)
    far = distances(points, order)
    scale = 1.0 if of is None else far.mean(axis=(1, 2), keepdims=True)
    return process((covariance(far / scale / length) for length in LENGTHS), targets)


def all_terms(task, inputs):
    """Return the values of all terms."""
    return ridge.values_of(np.arange(2**task.L)[:, None], inputs)


def minima(task, inputs):
    """Return the least of every set of literals with at most one of each variable, and a constant."""
    values = np.ones((*inputs.shape[:-1], 1))
    for x in np.moveaxis(inputs.astype(float), -1, 0)[..., None]:
        values = np.concatenate([values, np.minimum(values, x), np.minimum(values, 1 - x)], axis=-1)
    return values


def random_features(task, inputs, count=500):
    """Return ReLUs of random projections, each 0 at a random point."""
    rng = np.random.default_rng(0)
    weights, points = rng.normal(size=(task.L, count)), rng.uniform(size=(task.L, count))
    return np.maximum(inputs @ weights - (weights * points).sum(axis=0), 0)


def quadratic(task, inputs):
    """Return all products of two inputs, the inputs and a constant."""
    with_one = np.concatenate([np.ones((*inputs.shape[:-1], 1)), inputs], axis=-1)
    first, second = np.triu_indices(task.L + 1)
    return with_one[..., first] * with_one[..., second]


def regress(task, inputs, targets, *, features):
    """Return the predictions of ridge regression on features, its weight by leave-one-out."""
    values = features(task, inputs)
    # Coordinates in the span of the points: fewer than features, with the same products.
    eigenvalues, vectors = np.linalg.eigh(values @ values.transpose(0, 2, 1))
    return ridge.predict(vectors * np.sqrt(np.maximum(eigenvalues, 0))[:, None], targets)


def several_nearest(task, inputs, targets, count=8):
    """Return the mean at the query of the nearest known functions, plus a process of what it leaves."""
    values = ridge.known_functions(task, inputs)
    errors = np.square(values[:, :-1] - targets[..., None]).sum(axis=1)
    nearest = np.argsort(errors, axis=1)[:, None, :count]
    guess = np.take_along_axis(values, nearest, axis=2).mean(axis=2)
    return guess[:, -1] + gaussian_process.predict(inputs.astype(float), targets - guess[:, :-1])


def without_constant(task, inputs, targets):
    """Return the best predictions that are linear in targets, without a constant, over all images."""
    images = symmetry.images(task)
    values = ridge.values_of(images.terms, inputs) * np.sqrt(images.weights)
    products = values @ values.transpose(0, 2, 1)
    shown = products[:, :-1, :-1] + 1e-6 * np.eye(targets.shape[1])
    return (products[:, -1, :-1] * np.linalg.solve(shown, targets[..., None])[..., 0]).sum(axis=1)


def summary(task, inputs, targets):
    """Return what gradient boosting is given: the query, its neighbours, moments, and a process's mean."""
    points = inputs.astype(float)
    far = np.sqrt(np.square(points[:, :-1] - points[:, -1:]).sum(axis=2))
    order = np.argsort(far, axis=1)[:, :NEIGHBOURS]
    near = [np.take_along_axis(each, order, axis=1) for each in (far, targets)]
    moments = [targets.mean(axis=1), targets.std(axis=1), targets.min(axis=1), targets.max(axis=1)]
    smooth = gaussian_process.predict(points, targets)
    return np.column_stack([points[:, -1], *near, *moments, smooth])


@cache
def trees_of(task):
    """Return gradient boosting on the summary of a sequence, learnt from sequences of training."""
    batch = task.sample("train", 0, LEARNT_FROM)
    targets = batch.targets.astype(float)
    parts = (np.array_split(each, LEARNT_FROM // AT_ONCE) for each in (batch.inputs, targets[:, :-1]))
    features = np.concatenate([summary(task, *part) for part in zip(*parts, strict=True)])
    return HistGradientBoostingRegressor(max_iter=500, random_state=0).fit(features, batch.targets[:, -1])


def boosting(task, inputs, targets):
    """Return what those trees predict."""
    return trees_of(task).predict(summary(task, inputs, targets))


NOTHING, KNOWN, TERMS, SYMMETRY = "nothing", "known functions", "all terms", "known functions, the symmetry"

OBSERVERS = {
    "gp: Matérn 5/2": (NOTHING, "gp"),
    "Matérn 1/2": (NOTHING, partial(of_distance, covariance=lambda far: np.exp(-far))),
    "Laplacian: the same of the sum of distances": (
        NOTHING,
        partial(of_distance, covariance=lambda far: np.exp(-far), order=1),
    ),
    "ridge, quadratic": (NOTHING, partial(regress, features=quadratic)),
    "ridge, 500 random ReLUs": (NOTHING, partial(regress, features=random_features)),
    "gradient boosting on a summary": ("sequences of training", boosting),
    "known-functions": (KNOWN, "known-functions"),
    "known-terms": (KNOWN, "known-terms"),
    "gp-known": (KNOWN, "gp-known"),
    "Matérn 5/2 on values of known functions": (
        KNOWN,
        partial(of_distance, covariance=matern, of=ridge.known_functions),
    ),
    "look-up": (KNOWN, "look-up"),
    "eight nearest known functions": (KNOWN, several_nearest),
    "Matérn 5/2 on values of all terms": (TERMS, partial(of_distance, covariance=matern, of=all_terms)),
    "ridge, all terms": (TERMS, partial(regress, features=all_terms)),
    "ridge, minima of literals": (TERMS, partial(regress, features=minima)),
    "gp-symmetric": (SYMMETRY, "gp-symmetric"),
    "gp-symmetric without a constant": (SYMMETRY, without_constant),
}
"""What each is told, and what predicts, given a task, inputs ``[n, N, L]`` and targets ``[n, N - 1]``; of the
reference levels, the name."""


def scores_of(board, observer):
    """Return what an observer scores on each split of a board."""
    task = board.task
    found = {}
    for split in board.splits:
        batch = task.sample(split, 0, COUNT)
        targets = batch.targets.astype(float)
        if observer in LEVELS:
            predictions = LEVELS[observer](task, batch, 1)
        else:
            predictions = ridge.in_parts(partial(observer, task), batch, 1, AT_ONCE)
        errors = error_columns(targets, predictions)["relative_error"]
        found[split] = mean(1 - errors[targets.var(axis=1) > 0])
    return {
        split: {"value": round(each.value, 4), "standard_error": round(each.standard_error, 4)}
        for split, each in found.items()
    }


def scores():
    """Return what all observers score."""
    result = {}
    with threadpool_limits(1):  # products of one sequence are small
        for name in BOARDS:
            board, result[name] = read_board(name), {}
            for title, (knows, observer) in OBSERVERS.items():
                start = time.perf_counter()
                result[name][title] = {"knows": knows, **scores_of(board, observer)}
                print(name, title, result[name][title], round(time.perf_counter() - start), flush=True)
    return {"sequences": COUNT, "result": result}


if __name__ == "__main__":
    recorded(scores)
