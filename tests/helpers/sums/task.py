"""The task: configuration, split and range of indices in, instances out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sraven.core.arguments import check_integer, check_share, floor_of_share
from sraven.core.batch import Instances
from sraven.core.errors import ConfigurationError
from sraven.core.parallel import for_each_chunk
from sraven.core.rng import derive_key, fill_draws
from sraven.core.spec import SEED_LIMIT, setting
from sraven.core.versions import check_version, version_setting
from sraven.scoring.task import ScoredTask

SPLITS = ("train", "test", "ood")


class Batch(Instances):
    """Instances: uint8 ``pairs`` ``[n, N, 2]``, ``sums`` ``[n, N]``, ``weights`` ``[n, 2]``; the last pair
    is asked for; int32 ``combination`` ``[n]``."""

    __slots__ = ()

    pairs: np.ndarray
    sums: np.ndarray
    weights: np.ndarray
    combination: np.ndarray


def draw_below(limits, key, indices):
    """Return a number below each limit for each index: uint64 ``[len(limits), n]``.

    They are limit / 2**32 off uniform.
    """
    draws = np.zeros((len(limits) + len(limits) % 2, len(indices)), np.uint64)
    fill_draws(draws, key, indices, np.uint64(0))
    limits = np.array(limits, np.uint64)[:, None]
    return ((draws[: len(limits)] >> np.uint64(32)) * limits) >> np.uint64(32)


@dataclass(frozen=True)
class Sums(ScoredTask[Batch]):
    """Sums of two terms modulo P, the weights to be found from N - 1 examples."""

    name = "sums"

    P: int = setting(7, "Modulus, 2 to 251.")
    N: int = setting(4, "Pairs, the last one asked for.")
    holdout: float = setting(0.25, "Share of weights kept for ood.")
    seed: int = setting(0, "Draws division and instances.", measured=False)
    version: str = version_setting()

    def __post_init__(self):
        for name, low, high in (("P", 2, 251), ("N", 2, 64), ("seed", 0, SEED_LIMIT)):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), low, high))
        object.__setattr__(self, "holdout", check_share("holdout", self.holdout, "such as 0.25"))
        check_version(self.version)

    @property
    def config_name(self):
        return f"P{self.P}-N{self.N}"

    @property
    def splits(self):
        return tuple(split for split in SPLITS if split != "ood" or len(self._numbers["ood"]))

    @cached_property
    def _numbers(self):
        """The numbers of the combinations of each split, ascending."""
        key = derive_key(version=self.version, P=self.P, seed=self.seed, stream="division")
        every = np.arange(self.P**2, dtype=np.uint64)
        order = np.argsort(draw_below([1 << 32], key, every)[0], kind="stable")
        held_out = floor_of_share(self.holdout, len(every))
        known = np.sort(order[held_out:])
        return {"train": known, "test": known, "ood": np.sort(order[:held_out]), "all": np.sort(order)}

    def combination_indices(self, split):
        """Return the numbers of the combinations of a split, ascending: int64 ``[n]``."""
        if not isinstance(split, str) or split not in (*self.splits, "all"):
            expected = ", ".join((*self.splits, "all"))
            raise ConfigurationError(f"split={split!r}: expected one of {expected} for this configuration")
        return self._numbers[split]

    def combinations(self, split):
        return np.stack(np.divmod(self.combination_indices(split), self.P), axis=1).astype(np.uint8)

    def empty_batch(self, count):
        return Batch(
            pairs=np.empty((count, self.N, 2), np.uint8),
            sums=np.empty((count, self.N), np.uint8),
            weights=np.empty((count, 2), np.uint8),
            combination=np.empty(count, np.int32),
        )

    make_tables = combination_indices

    def fill(self, split, indices, batch, threads):
        key, numbers = self.stream(split)

        def fill_part(part):
            place, *terms = draw_below([len(numbers), *[self.P] * (2 * self.N)], key, indices[part])
            batch.combination[part] = numbers[place.astype(np.int64)]
            batch.weights[part] = np.stack(np.divmod(batch.combination[part], self.P), axis=1)
            batch.pairs[part] = np.array(terms).reshape(self.N, 2, -1).transpose(2, 0, 1)
            batch.sums[part] = evaluate(batch.pairs[part], batch.weights[part], self.P)

        for_each_chunk(fill_part, len(indices), threads)

    @property
    def rows(self):
        from helpers.sums.rows import SumsRows

        return SumsRows(self)

    @property
    def scoring(self):
        from helpers.sums.metrics import SumsScoring

        return SumsScoring(self)

    @property
    def references(self):
        from helpers.sums.metrics import SumsReferences

        return SumsReferences(self)


def evaluate(pairs, weights, P):
    """Return the sums of pairs ``[..., N, 2]`` by weights ``[..., 2]``: int64 ``[..., N]``."""
    return (pairs.astype(np.int64) @ weights.astype(np.int64)[..., None])[..., 0] % P
