"""Scores of questions that have several replies, and of some of the replies alone."""

from math import comb

import numpy as np
from numpy.typing import NDArray

from sraven.core.means import Mean, share


def share_right(replies: NDArray[np.int64], right: NDArray[np.int64]) -> Mean | None:
    """Return the mean over questions of the share of replies that are right; None if there is no reply.

    Args:
        replies: of each question ``[n]``; those without any are left out.
        right: how many of them are right.
    """
    asked = replies > 0
    return share(right[asked] / replies[asked]) if asked.any() else None


def pass_at(replies: NDArray[np.int64], right: NDArray[np.int64]) -> dict[int, Mean]:
    """Return pass@k, the chance that one of k replies is right, by k: powers of two, and all that there are.

    Of c right ones among n replies it is 1 - C(n - c, k) / C(n, k), the unbiased estimate (Chen et al. 2021,
    equation 1), whose mean is over all questions; those without a reply count as wrong. The greatest k is
    what each question with a reply has. For k = 1 it is the accuracy.

    Args:
        replies: of each question ``[n]``.
        right: how many of them are right.
    """
    most = int(min(replies[replies > 0], default=0))
    ks = sorted({1 << bit for bit in range(most.bit_length())} | {most})
    pairs, rows = np.unique(np.stack([replies, right]), axis=1, return_inverse=True)
    chances = {
        k: np.array([1 - comb(n - c, k) / comb(n, k) if n else 0.0 for n, c in pairs.T.tolist()]) for k in ks
    }
    return {k: share(found[rows.ravel()]) for k, found in chances.items()} if most > 1 else {}
