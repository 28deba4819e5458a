"""Calls every kernel of the package, on many instances: for test_kernels.py, and to have them compiled."""

import sys

import numpy as np

from sraven import (
    SRAVEN,
    count_answers,
    differs_everywhere,
    ideal_observer,
    is_answer,
    is_unique,
    rule_posterior,
    symbol_marginals,
)
from sraven.certificates.nearest import K_LIMIT, each_by_itself, nearest_combination
from sraven.core.rng import fill_draws
from sraven.rules import RULE_SETS, RULES, Rule

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


MORE_RULES = [(3, 5), (4, 8), (2, 256), (5, 3)]
"""M and K of tasks with as many rules as there may be."""


def add_rule_set():
    """Add a set with seven more rules, some of which fit the same rows as others."""

    def multiple(factor):
        return Rule(
            f"{factor}x + y",
            "",
            outcomes=lambda K: K**6,
            fits=lambda x, y, z, K: (z == (factor * x + y) % K).all(axis=0),
            draw=lambda x, y, K: (x, y, (factor * x + y) % K),
        )

    RULE_SETS["fifteen"] = (*RULES, *map(multiple, range(7)))


def is_checked():
    """Tell whether a kernel of the package refuses to read beyond an array: the second key word."""
    try:
        fill_draws(np.empty((2, 1), np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.uint64(0))
    except IndexError:
        return True
    return False


def use_kernels(M, K, holdout, answers, permute, count, rule_set="paper"):
    """Generate, certify and observe."""
    task = SRAVEN(M=M, K=K, holdout=holdout, seed=2, answers=answers, permute=permute, rule_set=rule_set)
    options = {"permute": permute, "rules": task.rules}
    context, target, *_ = task.sample(task.splits[-1], 2**40, count)
    assert is_answer(context, target, K, **options).all()
    is_answer(context, (target.astype(int) + 1) % K, K, **options)
    differs_everywhere(context, target, K, **options)
    unique = count_answers(context, K, **options) == 1
    assert np.array_equal(unique, is_unique(context, K, **options))
    for observe in (ideal_observer, rule_posterior, symbol_marginals):
        observe(context, K, task.combinations("train"), **options)
    if K <= K_LIMIT and M <= 4:
        nearest_combination(context[:31], target[:31], K, task.combinations("train"), **options)
        each_by_itself(context[:31], target[:31], K, **options)
    noise = np.random.default_rng(M).integers(0, K, (31, 8, M))
    alike = np.full((3, 8, min(M, 5)), K - 1)
    for unlikely in (noise, alike):
        count_answers(unlikely, K, **options)
        for observe in (ideal_observer, rule_posterior, symbol_marginals):
            observe(unlikely, K, [[0] * unlikely.shape[2]], **options)


if __name__ == "__main__":
    if "checked" in sys.argv:
        assert is_checked(), "NUMBA_BOUNDSCHECK has no effect"
    for arguments in TASKS:
        use_kernels(*arguments)
    add_rule_set()
    for M, K in MORE_RULES:
        use_kernels(M, K, 0, "any", True, 31, rule_set="fifteen")
