"""References for scores: the ideal observer, and predictors that learn no combinations."""

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.certificates.nearest import ERROR_RATE, K_LIMIT, each_by_itself, nearest_combination
from sraven.certificates.observer import ideal_observer
from sraven.core.means import Mean, mean
from sraven.core.rng import derive_key, fill_draws
from sraven.core.roles import Reference
from sraven.scoring.combinations import combines_known
from sraven.scoring.references import Observed

if TYPE_CHECKING:
    from sraven.task import SRAVEN, Batch

CEILINGS = {1: {"accuracy": "joint"}}
"""How the ideal observer answers, by version of the definition and by metric. No line changes."""

_TRAINED_ON = 1 << 16

_TIE = 1e-9
"""Symbols whose probabilities differ relatively by less than this count as equally probable."""


def _symbol_counts(panels: NDArray[np.uint8], K: int) -> NDArray[np.int64]:
    """Count symbols along the second axis: int64 ``[n, M, K]`` for panels ``[n, panels, M]``."""
    return np.stack([(panels == symbol).sum(axis=1) for symbol in range(K)], axis=-1)


def _guess(task: "SRAVEN", stream: str, split: str, count: int, seed: int) -> NDArray[np.uint8]:
    """Return panels whose features are uniformly random, of a stream of their own."""
    draws = np.zeros((2 * -(-task.M // 2), count), np.uint64)
    indices = np.arange(count, dtype=np.uint64)
    fill_draws(draws, derive_key(stream=stream, split=split, seed=seed), indices, np.uint64(0))
    # K / 2**32 off uniform, far below what a sample of this size can show.
    numbers = ((draws[: task.M] >> np.uint64(32)) * np.uint64(task.K)) >> np.uint64(32)
    return np.ascontiguousarray(numbers.T).astype(np.uint8)


class SRAVENReferences(Observed["SRAVEN"]):
    """What scores of a task are read against."""

    answers: ClassVar = CEILINGS

    @property
    def predictors(self) -> Mapping[str, Reference]:
        """The reference predictors by name."""
        uniform_random = partial(_guess, self.task, "uniform random")
        return {
            "uniform-random": Reference("Every feature uniformly at random.", uniform_random, random=True),
            "copy-last-panel": Reference("The eighth panel once more.", self._copy_last_panel),
            "majority-symbol": Reference(
                "At each position the symbol that the context shows there most often; of equals the least.",
                self._majority_symbol,
            ),
            "context-blind": Reference(
                f"The most frequent symbol at each position of the first {_TRAINED_ON:,} training targets, "
                "whatever the context. Above chance, the targets would give themselves away.",
                self._context_blind,
                instances=_TRAINED_ON,
            ),
            "ideal-observer": Reference(
                "The most probable panel under the generator, all rule combinations being equally likely: "
                "the ceiling for a model that isn't told the split.",
                self._knowing_all,
            ),
            "composition-blind": Reference(
                "Perfect rules, but no new combinations of them: the most probable panel of an ideal "
                "observer that thinks only the combinations of training possible. Where none of them "
                "explains the context, every feature as drawn uniformly at random once for all.",
                self._composition_blind,
            ),
            "nearest-combination": Reference(
                "Perfect rules, but no new combinations of them: the panel of the most probable explanation "
                f"by a combination of training, {ERROR_RATE:.0%} of the symbols being taken for errors; of "
                "equally probable ones the first in lexicographic order.",
                self._nearest,
            ),
        }

    def _copy_last_panel(self, split: str, count: int, seed: int) -> NDArray[np.uint8]:
        return self.task.sample(split, 0, count).context[:, -1]

    def _majority_symbol(self, split: str, count: int, seed: int) -> NDArray[np.uint8]:
        counts = _symbol_counts(self.task.sample(split, 0, count).context, self.task.K)
        return np.asarray(counts.argmax(axis=-1), np.uint8)

    def _context_blind(self, split: str, count: int, seed: int) -> NDArray[np.uint8]:
        targets = self.task.sample("train", 0, _TRAINED_ON).target
        panel = _symbol_counts(targets[None], self.task.K)[0].argmax(axis=-1).astype(np.uint8)
        return np.tile(panel, (count, 1))

    def _knowing_all(self, split: str, count: int, seed: int) -> NDArray[np.uint8]:
        return self.task.ideal_observer(self.task.sample(split, 0, count))[0]

    def _composition_blind(self, split: str, count: int, seed: int) -> NDArray[np.uint8]:
        panels, probability = self.task.ideal_observer(self.task.sample(split, 0, count), "train")
        guesses = _guess(self.task, "composition-blind", split, count, 0)  # one answer, whatever the seed
        return np.where(probability[:, None] > 0, panels, guesses)

    def _nearest(self, split: str, count: int, seed: int) -> NDArray[np.uint8]:
        task, batch = self.task, self.task.sample(split, 0, count)
        known, options = task.combinations("train"), task.context_options
        return nearest_combination(batch.context, batch.target, task.K, known, **options).panels

    def observe(self, batch: "Batch", prior: str, threads: int | None) -> dict[str, Mean]:
        """Return the accuracy to expect of the ideal observer: the mean of its exact posteriors."""
        return {"accuracy": mean(self.task.ideal_observer(batch, prior, threads=threads)[1])}

    def levels(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return what scores on a split are read against beside its ceilings, by level and metric.

        The levels are those of `sraven.family`. What is up to chance is its expectation.
        """
        task = self.task
        batch = task.sample(split, 0, count, threads=threads)
        everything, known = task.combinations("all"), task.combinations("train")
        marginals = task.symbol_marginals(batch, split, threads=threads)

        @cache
        def observe(believed: bytes) -> dict[str, Mean]:
            """Return the accuracy of an observer that believes in some combinations, given as a mask."""
            prior = everything[np.frombuffer(believed, np.bool_)]
            panels, probability = ideal_observer(
                batch.context, task.K, prior, threads=threads, **task.context_options
            )
            right = (panels == batch.target).all(axis=1)
            return {"accuracy": mean(np.where(probability > 0, right, float(task.K) ** -task.M))}

        orders = {"composition-blind": task.M} | {f"order-{n}": n for n in range(task.M - 1, 1, -1)}
        observed = {
            name: observe(combines_known(everything, known, order).tobytes())
            for name, order in orders.items()
            if order > 1
        }
        near = {}
        if task.K <= K_LIMIT:
            options = task.context_options | {"threads": threads}
            seen = batch.context, batch.target, task.K
            near["nearest-combination"] = nearest_combination(*seen, known, **options)
            near["local"] = each_by_itself(*seen, **options)
        return {
            "independent": {"accuracy": mean(independent_hits(marginals, batch.target))},
            **{
                name: {"accuracy": mean(each.right), "feature_accuracy": mean(each.features_right)}
                for name, each in near.items()
            },
            **observed,
        }


def independent_hits(marginals: NDArray[np.float64], target: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return how probably the most probable symbols of all positions, each by itself, are the target.

    Of equally probable symbols at a position, each is taken as often as any other.

    Args:
        marginals: ``[n, M, K]``, of `sraven.symbol_marginals`.
        target: ``[n, M]``.

    Returns:
        float64 ``[n]``.
    """
    likely = marginals >= marginals.max(axis=2, keepdims=True) * (1 - _TIE)
    taken = likely / likely.sum(axis=2, keepdims=True)
    of_target = np.take_along_axis(taken, target[..., None].astype(np.int64), axis=2)
    return np.asarray(of_target.prod(axis=(1, 2)))
