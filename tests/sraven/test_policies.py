"""Policies: which candidates become instances, and how the others are counted."""

import numpy as np
import pytest

from helpers import oracle
from helpers.batches import FAR, config
from sraven import SRAVEN, CapacityError, count_answers
from sraven import task as task_module


@pytest.mark.parametrize("split", ["train", "ood"])
def test_rejected_candidates_are_counted_by_combination(split):
    task = SRAVEN(M=3, K=4, seed=2, answers="unique")
    indices = np.arange(FAR, FAR + 31, dtype=np.uint64)
    rejected = task.fill(split, indices, task.empty_batch(31), 2)
    key, choices = oracle.instance_key(config(task), split), oracle.choices(config(task), split)
    expected = np.zeros(120, int)
    for index in range(FAR, FAR + 31):
        for attempt in range(oracle.instance(config(task), split, index).attempt):
            expected[oracle.candidate(key, index, attempt, choices, 3, 4, True).combination] += 1
    assert rejected.tolist() == expected.tolist()
    assert rejected.sum() > 10


def test_policy_any_rejects_nothing_and_keeps_ambiguous_instances():
    task = SRAVEN(M=4, K=4)
    batch = task.empty_batch(1_009)
    rejected = task.fill("train", np.arange(1_009, dtype=np.uint64), batch, 2)
    assert rejected.tolist() == [0] * 330
    assert (count_answers(batch.context, 4) > 1).mean() > 0.5


@pytest.mark.parametrize("threads", [1, 3])
def test_rejections_do_not_depend_on_threads(threads):
    task = SRAVEN(M=3, K=5, answers="unique")
    indices = np.arange(6_007, dtype=np.uint64)
    rejected = task.fill("train", indices, task.empty_batch(6_007), threads)
    assert np.array_equal(rejected, task.fill("train", indices, task.empty_batch(6_007), 2))


@pytest.mark.parametrize(("M", "K"), [(8, 3), (10, 3), (12, 3)])
def test_hopeless_unique_tasks_are_refused(monkeypatch, M, K):
    monkeypatch.setattr(task_module, "_ATTEMPT_LIMIT", 3)
    with pytest.raises(CapacityError) as raised:
        SRAVEN(M=M, K=K, holdout=0, answers="unique").sample("train", 0, 1)
    for part in ("3 draws in a row", f"M={M}, K={K}", "use a larger K or answers='any'"):
        assert part in str(raised.value)
