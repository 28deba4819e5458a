"""The division of terms and combinations among the splits (paper, section 3)."""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.terms import binomials, unrank
from sraven.core.arguments import floor_of_share, greatest_share, least_share
from sraven.core.errors import ConfigurationError
from sraven.core.jit import kernel
from sraven.core.permutation import ROUNDS, fill_round_keys, half_bits, permute
from sraven.core.rng import derive_key, shuffle

# Partitions that are drawn at most, and combinations that are looked at for them.
_ATTEMPTS, _STEPS = 1_000_000, 1 << 27


@dataclass(frozen=True)
class Partition:
    """How terms and combinations are divided.

    Attributes:
        seen: int64 ``[n_seen]``, ids of the terms of train, test and ood, ascending.
        unseen: int64 ``[n_unseen]``, ids of the terms of ood_terms, ascending.
        n_combinations: combinations of K seen terms.
        n_held_out: how many of them are held out: those whose place in the shuffle is below.
        round_keys: uint64 ``[8]`` of the permutation that shuffles them.
    """

    seen: NDArray[np.int64]
    unseen: NDArray[np.int64]
    n_combinations: int
    n_held_out: int
    round_keys: NDArray[np.uint64]


@kernel
def _covers(
    n_combinations: Any, n_held_out: Any, half: Any, table: Any, round_keys: Any, terms: Any, covered: Any
) -> Any:
    """Return whether the combinations that a permutation doesn't hold out contain every term."""
    covered[:] = False
    left = covered.shape[0]
    for place in range(n_held_out, n_combinations):
        number = permute(np.uint64(place), np.uint64(n_combinations), half, round_keys)
        unrank(np.int64(number), table, terms)
        for k in range(terms.shape[0]):
            if not covered[terms[k]]:
                covered[terms[k]] = True
                left -= 1
        if left == 0:
            return True
    return False


def _divide_terms(
    L: int, K: int, unseen_terms: float, unseen: str, seed: int, version: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    n_terms = 1 << L
    n_unseen = floor_of_share(unseen_terms, n_terms)
    if n_terms - n_unseen < K:
        raise ConfigurationError(
            f"unseen_terms={unseen_terms}: leaves {n_terms - n_unseen} of {n_terms} terms at L={L}, "
            f"but a combination takes K={K}; use at most {greatest_share(n_terms - K, n_terms)}"
        )
    if unseen_terms > 0 and n_unseen < K:
        raise ConfigurationError(
            f"unseen_terms={unseen_terms}: gives {n_unseen} of {n_terms} terms at L={L} to ood_terms, but a "
            f"combination takes K={K}; use at least {least_share(K, n_terms)}, or 0 for no ood_terms split"
        )
    order = np.arange(n_terms, dtype=np.int64)
    if unseen == "last":
        return order[: n_terms - n_unseen], order[n_terms - n_unseen :]
    key = derive_key(version=version, task="fuzzylogic", stream="terms", L=L, seed=seed)
    shuffle(order, key, np.uint64(0))
    return np.sort(order[n_unseen:]), np.sort(order[:n_unseen])


def divide(
    L: int, K: int, holdout: float, unseen_terms: float, unseen: str, seed: int, version: str
) -> Partition:
    """Divide the terms, and the combinations of seen terms.

    Of the terms, floor(unseen_terms * 2**L) are unseen: the first of a shuffle, or the last. Combinations are
    shuffled by a keyed permutation, without listing them, and the first floor(holdout * count) are
    held out; this is repeated until every seen term occurs in a known combination. Both orders are
    streams of a version of the benchmark.

    Raises:
        ConfigurationError: if a split would be empty although its share isn't 0, or if the known
            combinations can't contain all seen terms.
    """
    seen, others = _divide_terms(L, K, unseen_terms, unseen, seed, version)
    count = comb(len(seen), K)
    held_out = floor_of_share(holdout, count)
    known, least = count - held_out, -(-len(seen) // K)
    if holdout > 0 and held_out == 0:
        raise ConfigurationError(
            f"holdout={holdout}: holds out none of the {count:,} combinations of seen terms, which leaves "
            f"ood empty; use at least {least_share(1, count)}, or 0 for no ood split"
        )
    if known < least:
        raise ConfigurationError(
            f"holdout={holdout}: leaves {known:,} of the {count:,} combinations of seen terms to train, but "
            f"every one of the {len(seen):,} seen terms must occur in train, which takes {least:,}; "
            "use a smaller holdout"
        )
    key = derive_key(version=version, task="fuzzylogic", stream="partition", L=L, K=K, seed=seed)
    round_keys, half = np.zeros(ROUNDS, np.uint64), np.uint64(half_bits(count))
    scratch = np.zeros(K, np.int64), np.zeros(len(seen), np.bool_)
    table = binomials(len(seen), K)
    attempts = max(1, min(_ATTEMPTS, _STEPS // known))
    for attempt in range(attempts):
        fill_round_keys(round_keys, key, np.uint64(attempt))
        if _covers(count, held_out, half, table, round_keys, *scratch):
            return Partition(seen, others, count, held_out, round_keys)
    raise ConfigurationError(
        f"holdout={holdout}: no partition with every seen term in train was found in {attempts:,} "
        f"draws at L={L}, K={K}, seed={seed}; use a smaller holdout"
    )
