"""Tasks: their instances, from the oracle, and random access; the rest of it is in test_conformance.py."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import oracle
from helpers.batches import FAR, config, same
from sraven import SRAVEN


def fingerprint(batch):
    """Return a digest of all bytes of a batch."""
    return hashlib.sha256(b"".join(array.tobytes() for array in batch)).hexdigest()


def assert_oracle_draws(task, split, indices):
    """Compare instances with those that the oracle draws."""
    drawn = task.take(split, indices)
    expected = [oracle.instance(config(task), split, int(index)) for index in indices]
    for name, array in zip(drawn._fields, drawn, strict=True):
        assert array.tolist() == np.array([getattr(instance, name) for instance in expected]).tolist(), name


@given(
    M=st.integers(1, 7),
    K=st.integers(3, 256),
    holdout=st.sampled_from([0, 0.1, 0.25, 0.5]),
    seed=st.integers(0, 2**63 - 1),
    permute=st.booleans(),
    split=st.sampled_from(["train", "test", "ood", "all"]),
    start=st.integers(0, 2**41),
    rules=st.sampled_from(["paper", "ten"]),
)
def test_instances_equal_the_oracles(M, K, holdout, seed, permute, split, start, rules):
    holdout = 0 if M == 1 else holdout
    split = "all" if split == "ood" and not holdout else split
    task = SRAVEN(M=M, K=K, holdout=holdout, seed=seed, permute=permute, rule_set=rules)
    assert_oracle_draws(task, split, range(start, start + 7))


@pytest.mark.parametrize("M", [8, 9, 10, 11, 12])
def test_large_instances_equal_the_oracles(M):
    task = SRAVEN(M=M, K=13, holdout=0, seed=3)
    assert_oracle_draws(task, "all", [0, 1, FAR, 2**62 - 1])


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(
    ("M", "K", "rules"),
    [*((M, K, "paper") for M, K in ((1, 3), (2, 3), (3, 4), (4, 8))), (2, 7, "ten")],
)
def test_unique_instances_are_the_first_candidates_with_one_answer(M, K, rules, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=7, answers="unique", permute=permute, rule_set=rules)
    assert_oracle_draws(task, "train", [*range(23), FAR])


def test_the_first_thousand_instances_never_change():
    # SHA-256 of all arrays, one after the other; computed with the oracle. Only a new
    # version of the benchmark may have others.
    digests = [fingerprint(SRAVEN().sample(split, 0, 1_009)) for split in ("train", "test", "ood")]
    assert [digest[:16] for digest in digests] == ["e92147244089cba8", "3eca810c53d1c559", "96dc5351ee9838be"]


@pytest.mark.parametrize("indices", [[5, 3], (5, 3), np.array([5, 3], np.uint8), np.array([5, 3], np.uint64)])
def test_take_accepts_any_integers(indices):
    task = SRAVEN(M=3, K=7, answers="unique")
    assert same(task.take("test", indices), [array[[5, 3]] for array in task.sample("test", 0, 6)])


def test_streams_share_no_instances():
    # Not even shifted ones: with Random(seed + index), two seeds would share all but one.
    base = {"M": 4, "K": 16}
    changes = [{}, {"seed": 1}, {"holdout": 0.5}, {"answers": "unique"}]
    tasks = [SRAVEN(**base, **change) for change in changes]
    drawn = [
        task.sample(split, 0, 1_009).context for task in tasks for split in ("train", "test", "ood", "all")
    ]
    assert len({context.tobytes() for contexts in drawn for context in contexts}) == 16 * 1_009
