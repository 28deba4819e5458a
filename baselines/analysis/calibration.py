"""A model's probabilities against the exact posterior: does it know what it can't know?

The expected cross-entropy is the posterior's entropy (the floor) plus KL(posterior ‖ model). Where the
posterior leaves a position open, a model may match it or pick its maximum. The exponent b says which: p^b, of
all normalised powers of the posterior p, is likeliest to give the model's probabilities. Instances of one
combination aren't independent, so standard errors are those of draws of whole groups.

Letters in shapes: n instances, M positions of the answer, K symbols. All entropies are in nats a position.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, rel_entr

from sraven.core.errors import ConfigurationError
from sraven.core.estimate import Mean

EDGES = (0.0, 0.001, 0.02, 0.1, 0.22, 0.3, 0.42, 0.58, 0.7, 0.78, 0.9, 0.98, 0.999, 1.0)
"""Of the bins of probabilities; no fraction of small numbers, as ties of a posterior are, lies on an edge."""

CERTAIN = 0.99
"""A position is open where its most probable symbol has less than this, by the exact posterior."""

SHARPEST = 64.0
"""Exponents from here on are one: the model picks the maximum."""

_LEAST = float(np.finfo(np.float32).tiny)
"""A probability below this counts as this: what float32 rounds to 0 costs 87 nats, not infinitely many."""

_SUM = 1e-3
"""By how much the sum of a model's probabilities may be off 1, as in bfloat16 it is."""

_TIE = 1e-9
"""Symbols whose exact probabilities differ by less than this are equally probable."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bin:
    """Symbols at positions whose probability lies in one bin.

    Attributes:
        low: least probability of the bin.
        high: the bin ends before it; the last one has it too.
        count: how many symbols at positions.
        exact: mean of their exact probabilities.
        model: mean of the model's probabilities.
        frequency: share of them that are the target's symbol.
    """

    low: float
    high: float
    count: int
    exact: float
    model: float
    frequency: float


@dataclass(frozen=True)
class Open:
    """How a model treats positions that the context leaves open.

    A model that matches the posterior has ``to_posterior`` 0, ``exponent`` 1 and the posterior's entropy; one
    that picks the maximum has ``to_maximum`` 0, an exponent of `SHARPEST` and no entropy.

    Attributes:
        positions: how many there are.
        instances: with at least one of them.
        entropy: of the exact marginals, mean.
        entropy_of_model: of the model's probabilities, mean.
        kl: of the exact marginals to the model's probabilities.
        to_posterior: total variation between the two, mean.
        to_maximum: the same between the model and the nearest of the most probable symbols.
        possible: probability that the model gives to symbols that the posterior allows, mean.
        exponent: b of the powers p^b of the marginals, normalised, that are likeliest to give the model's
            probabilities; 0 if all that is possible is as probable to it. None if the marginals don't tell
            symbols apart.
        best_accuracy: of the most probable symbol, exactly.
        accuracy: of the model's most probable symbol.
        sampled_accuracy: expected of a symbol that is drawn by the model's probabilities.
        agreement: how often the model's most probable symbol is one of the posterior's.
    """

    positions: int
    instances: int
    entropy: Mean
    entropy_of_model: Mean
    kl: Mean
    to_posterior: Mean
    to_maximum: Mean
    possible: Mean
    exponent: float | None
    best_accuracy: Mean
    accuracy: Mean
    sampled_accuracy: Mean
    agreement: Mean


@dataclass(frozen=True)
class Calibration:
    """A model's probabilities against exact marginals, on one split.

    Attributes:
        instances: how many.
        floor: mean entropy of the marginals: the least cross-entropy that is to be expected.
        cross_entropy: of the model on the targets, as its loss is.
        excess: the difference of these two. It can lie below ``kl`` by chance, and on instances that the
            observer's prior isn't true of.
        kl: of the exact marginals to the model's probabilities: the excess that is to be expected.
        error: expected absolute difference between the model's and the exact probability of its own most
            probable symbol.
        by_posterior: bins by the exact probability.
        by_model: bins by the model's own probability, as reliability diagrams have them.
        open: the positions that the context leaves open; None if there are none.
    """

    instances: int
    floor: Mean
    cross_entropy: Mean
    excess: Mean
    kl: Mean
    error: Mean
    by_posterior: tuple[Bin, ...]
    by_model: tuple[Bin, ...]
    open: Open | None


def calibration(
    marginals: ArrayLike, probabilities: ArrayLike, targets: ArrayLike, groups: ArrayLike | None = None
) -> Calibration:
    """Compare a model's probabilities with the exact posterior of each position.

    Args:
        marginals: float ``[n, M, K]``: exact probabilities, as `sraven.symbol_marginals` returns them.
        probabilities: float ``[n, M, K]``: of the model.
        targets: integers ``[n, M]``: the ninth panel.
        groups: integers ``[n]``: combinations of the instances; standard errors are then those of draws of
            combinations. None: of draws of instances.

    Raises:
        ConfigurationError: for wrong shapes, or numbers that are no probabilities.
    """
    exact = _probabilities("marginals", marginals)
    model = _probabilities("probabilities", probabilities)
    chosen = np.asarray(targets)
    if model.shape != exact.shape or chosen.shape != exact.shape[:2]:
        raise ConfigurationError(
            f"marginals {exact.shape}, probabilities {model.shape}, targets {chosen.shape}; "
            "expected [n, M, K] twice, and [n, M]"
        )
    if chosen.dtype.kind not in "iu" or (
        chosen.size and not 0 <= chosen.min() <= chosen.max() < exact.shape[2]
    ):
        raise ConfigurationError(f"targets must be symbols, 0 to {exact.shape[2] - 1}")
    group = np.arange(len(exact)) if groups is None else np.unique(groups, return_inverse=True)[1]
    hit = np.arange(exact.shape[2]) == chosen[..., None]
    entropy, loss = entropies(exact), -np.log(np.maximum(model, _LEAST))[hit].reshape(chosen.shape)
    best = model.argmax(axis=2)[..., None]
    error = np.abs(np.take_along_axis(model - exact, best, 2))[..., 0]
    return Calibration(
        instances=len(exact),
        floor=mean_over(entropy, group),
        cross_entropy=mean_over(loss, group),
        excess=mean_over(loss - entropy, group),
        kl=mean_over(divergences(exact, model), group),
        error=mean_over(error, group),
        by_posterior=_bins(exact, exact, model, hit),
        by_model=_bins(model, exact, model, hit),
        open=_open(exact, model, hit, group),
    )


def entropies(probabilities: Floats) -> Floats:
    """Return the entropies, in nats, of distributions along the last axis."""
    return np.asarray(entr(probabilities).sum(axis=-1))


def divergences(exact: Floats, model: Floats) -> Floats:
    """Return KL(exact ‖ model) along the last axis, in nats."""
    return np.asarray(rel_entr(exact, np.maximum(model, _LEAST)).sum(axis=-1))


def mean_over(values: Floats, groups: NDArray[Any], where: NDArray[np.bool_] | None = None) -> Mean:
    """Return the mean of what positions have, with the standard error of draws of whole groups.

    Args:
        values: float ``[n, M]``.
        groups: integers ``[n]``, from 0.
        where: bool ``[n, M]``: the positions that count; None for all.

    Returns:
        the mean and its error; ``n`` is the number of groups with such positions. Of a single group, the
        error is 0.
    """
    counted = np.ones(values.shape, bool) if where is None else where
    sizes = np.bincount(groups, counted.sum(axis=1))
    value = float(values[counted].mean())
    off = np.bincount(groups, np.where(counted, values - value, 0.0).sum(axis=1))
    G = int((sizes > 0).sum())
    error = np.sqrt((off**2).sum() * G / max(G - 1, 1)) / sizes.sum()
    return Mean(value, float(error), G)


def sharpening(exact: Floats, model: Floats) -> float | None:
    """Return the exponent b for which p^b is likeliest to give the model's probabilities.

    One number for many positions, by maximum likelihood: where the mean of log p under p^b is what it is
    under the model. Only symbols count that the posterior gives 0.01 and more, and the most probable ones:
    what a model wastes on nearly impossible symbols says nothing of how it weighs the others.

    Args:
        exact: float ``[..., K]``: p.
        model: float ``[..., K]``.

    Returns:
        from 0 to `SHARPEST`; None where p is the same for all that it allows.
    """
    possible = exact >= np.minimum(1 - CERTAIN, exact.max(axis=-1, keepdims=True))
    log = np.log(np.where(possible, exact, 1.0))
    inside = np.where(possible, model, 0.0)
    total = inside.sum(axis=-1, keepdims=True)
    counted = total[..., 0] > 0
    wanted = (inside[counted] / total[counted] * log[counted]).sum()

    def surplus(exponent: float) -> float:
        """Return by how much a power's mean of log p, over all positions, is above the model's."""
        power = np.where(possible, np.exp(exponent * (log - largest)), 0.0)
        mean = (power * log).sum(axis=-1) / power.sum(axis=-1)
        return float(mean[counted].sum() - wanted)

    largest = np.where(possible, log, -np.inf).max(axis=-1, keepdims=True)
    if surplus(SHARPEST) - surplus(0.0) <= _TIE * max(1, counted.sum()):
        return None
    low, high = 0.0, SHARPEST
    while high - low > 1e-6:  # the mean grows with the exponent
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) < 0 else (low, middle)
    return high if high == SHARPEST else low


def _open(exact: Floats, model: Floats, hit: NDArray[np.bool_], groups: NDArray[Any]) -> Open | None:
    """Return what a model does where no symbol is nearly certain."""
    largest = exact.max(axis=2)
    where = largest < CERTAIN
    if not where.any():
        return None
    best = exact >= largest[..., None] - _TIE
    chosen = model.argmax(axis=2)[..., None]

    def mean(values: NDArray[Any]) -> Mean:
        return mean_over(values.astype(np.float64), groups, where)

    return Open(
        positions=int(where.sum()),
        instances=int(where.any(axis=1).sum()),
        entropy=mean(entropies(exact)),
        entropy_of_model=mean(entropies(model)),
        kl=mean(divergences(exact, model)),
        to_posterior=mean(np.abs(model - exact).sum(axis=2) / 2),
        to_maximum=mean(1 - np.where(best, model, 0.0).max(axis=2)),
        possible=mean(np.where(exact > 0, model, 0.0).sum(axis=2)),
        exponent=sharpening(exact[where], model[where]),
        best_accuracy=mean(largest),
        accuracy=mean(np.take_along_axis(hit, chosen, 2)[..., 0]),
        sampled_accuracy=mean((exact * model).sum(axis=2)),
        agreement=mean(np.take_along_axis(best, chosen, 2)[..., 0]),
    )


def _bins(by: Floats, exact: Floats, model: Floats, hit: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Sort symbols at positions into bins of a probability; empty bins are left out."""
    place = np.clip(np.searchsorted(EDGES, by.ravel(), side="right") - 1, 0, len(EDGES) - 2)
    counts = np.bincount(place, minlength=len(EDGES) - 1)
    sums = [np.bincount(place, values.ravel(), len(counts)) for values in (exact, model, hit)]
    return tuple(
        Bin(EDGES[i], EDGES[i + 1], int(counts[i]), *(float(each[i] / counts[i]) for each in sums))
        for i in counts.nonzero()[0]
    )


def _probabilities(name: str, values: ArrayLike) -> Floats:
    """Return distributions as float64, each of sum 1."""
    array = np.asarray(values, np.float64)
    if array.ndim != 3 or array.size == 0:
        raise ConfigurationError(f"{name} has the shape {array.shape}; expected [n, M, K], none of them 0")
    sums = array.sum(axis=2, keepdims=True)
    wrong = ~((array >= 0).all(axis=2) & (np.abs(sums[..., 0] - 1) < _SUM))
    if wrong.any():
        at = tuple(int(each) for each in np.argwhere(wrong)[0])
        raise ConfigurationError(f"{name}[{at[0]}, {at[1]}] are no probabilities: >= 0, of sum 1")
    return np.asarray(array / sums)
