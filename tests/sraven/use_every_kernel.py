"""A program for test_bounds.py: calls every kernel of the package, on many kinds of instances."""

import numpy as np

from sraven import SRAVEN, count_answers, differs_everywhere, ideal_observer, is_answer, is_unique
from sraven.core.rng import fill_draws

# M, K, holdout, policy, permute, number of instances.
TASKS = [
    (1, 3, 0, "any", True, 211),
    (2, 4, 0.25, "unique", True, 211),
    (3, 256, 0.25, "any", True, 1_009),
    (4, 4, 0.25, "any", True, 2_003),
    (4, 8, 0.25, "unique", True, 2_003),
    (4, 5, 0.25, "any", False, 211),
    (6, 3, 0.25, "any", True, 31),
    (8, 8, 0.25, "any", True, 211),
    (10, 230, 0, "any", True, 211),
    (12, 199, 0, "any", True, 101),
]


def is_checked():
    """Tell whether a kernel of the package refuses to read beyond an array: the second key word."""
    try:
        fill_draws(np.empty((2, 1), np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.uint64(0))
    except IndexError:
        return True
    return False


def use_kernels(M, K, holdout, answers, permute, count):
    """Generate, certify and observe."""
    task = SRAVEN(M=M, K=K, holdout=holdout, seed=2, answers=answers, permute=permute)
    context, target = task.sample(task.splits[-1], 2**40, count)[:2]
    assert is_answer(context, target, K, permute=permute).all()
    is_answer(context, (target.astype(int) + 1) % K, K, permute=permute)
    differs_everywhere(context, target, K, permute=permute)
    unique = count_answers(context, K, permute=permute) == 1
    assert np.array_equal(unique, is_unique(context, K, permute=permute))
    ideal_observer(context, K, task.combinations("train"), permute=permute)
    noise = np.random.default_rng(M).integers(0, K, (31, 8, M))
    alike = np.full((3, 8, min(M, 5)), K - 1)
    for unlikely in (noise, alike):
        count_answers(unlikely, K, permute=permute)
        ideal_observer(unlikely, K, [[0] * unlikely.shape[2]], permute=permute)


if __name__ == "__main__":
    assert is_checked(), "NUMBA_BOUNDSCHECK has no effect"
    for arguments in TASKS:
        use_kernels(*arguments)
