"""Tasks: their instances, from the oracle, and random access; the rest of it is in test_conformance.py."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, strategies as st

from helpers import oracle
from helpers.batches import FAR, assert_equal_to_instances, config, same
from helpers.refusals import assert_refused
from sraven import SRAVEN, CapacityError, task as task_module


def assert_oracle_draws(task, split, indices):
    """Compare instances with those that the oracle draws."""
    expected = [oracle.instance(config(task), split, index) for index in indices]
    assert_equal_to_instances(task.take(split, indices), expected)


@given(
    M=st.integers(1, 7),
    K=st.integers(3, 256),
    holdout=st.sampled_from([0, 0.1, 0.25, 0.5, "pairs", "blocks", "repeats"]),
    seed=st.integers(0, 2**63 - 1),
    permute=st.booleans(),
    split=st.sampled_from(["train", "test", "ood", "all"]),
    start=st.integers(0, 2**62 - 7),
    rules=st.sampled_from(["paper", "ten"]),
)
def test_instances_equal_the_oracles(M, K, holdout, seed, permute, split, start, rules):
    holdout = 0 if M == 1 else holdout
    split = "all" if split == "ood" and not holdout else split
    task = SRAVEN(M=M, K=K, holdout=holdout, seed=seed, permute=permute, rule_set=rules)
    assert_oracle_draws(task, split, range(start, start + 7))


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(
    ("M", "K", "rules"), [*((M, K, "paper") for M, K in ((1, 3), (2, 3), (3, 4), (4, 8))), (2, 7, "ten")]
)
def test_unique_instances_are_the_first_candidates_with_one_answer(M, K, rules, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=7, answers="unique", permute=permute, rule_set=rules)
    assert_oracle_draws(task, "train", [*range(23), FAR])


def test_the_first_thousand_instances_never_change():
    # SHA-256 of all arrays, one after the other; computed with the oracle. Only a new
    # version of the benchmark may have others.
    expected = {"train": "e92147244089cba8", "test": "3eca810c53d1c559", "ood": "96dc5351ee9838be"}
    for split, digest in expected.items():
        content = b"".join(array.tobytes() for array in SRAVEN().sample(split, 0, 1_009))
        assert hashlib.sha256(content).hexdigest().startswith(digest)


# Policies: which candidates become instances


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


@pytest.mark.parametrize("threads", [1, 3])
def test_rejections_do_not_depend_on_threads(threads):
    task = SRAVEN(M=3, K=5, answers="unique")
    indices = np.arange(20_007, dtype=np.uint64)
    rejected = task.fill("train", indices, task.empty_batch(20_007), threads)
    assert np.array_equal(rejected, task.fill("train", indices, task.empty_batch(20_007), 2))


@pytest.mark.parametrize("M", [8, 10])
def test_hopeless_unique_tasks_are_refused(monkeypatch, M):
    monkeypatch.setattr(task_module, "_ATTEMPT_LIMIT", 3)
    message = f"3 draws in a row.*M={M}, K=3.*use a larger K or answers='any'"
    with pytest.raises(CapacityError, match=message):
        SRAVEN(M=M, K=3, holdout=0, answers="unique").sample("train", 0, 1)


# The configuration: allowed values, identity, and refusals


def test_config_has_all_that_determines_the_instances():
    assert SRAVEN(M=3, K=7, seed=5).config == {
        "task": "sraven",
        "version": "1",
        "M": 3,
        "K": 7,
        "holdout": 0.25,
        "seed": 5,
        "answers": "any",
        "permute": True,
    }
    assert SRAVEN() == SRAVEN(4, 8, 0.25, 0, "any", True, rule_set="paper", version="1")
    other = SRAVEN(M=3, holdout="blocks", answers="unique", permute=False, rule_set="ten")
    assert other.config["rule_set"] == "ten" and other.config_name == "M3-K8-blocks-unique-unpermuted-ten"


def test_numpy_numbers_make_the_same_task():
    task = SRAVEN(
        M=np.int64(3), K=np.uint8(7), holdout=np.float64(0.25), seed=np.int32(5), permute=np.bool_(False)
    )
    plain = SRAVEN(M=3, K=7, holdout=0.25, seed=5, permute=False)
    assert task == plain
    assert task.config == plain.config
    assert {type(value) for value in config(task).values()} == {int, float, str, bool}
    assert same(task.sample("train", 0, 11), plain.sample("train", 0, 11))


def test_zero_is_one_holdout_however_it_is_written():
    assert {str(SRAVEN(holdout=zero).config) for zero in (0, 0.0, -0.0)} == {str(SRAVEN(holdout=0).config)}


# What was given, what is allowed.
@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"M": 0}, ("M=0", " 1 ", " 12")),
        ({"M": 13}, ("M=13", " 1 ", " 12")),
        ({"K": 2}, ("K=2", " 3 ", " 256", "distribute three needs three symbols")),
        ({"K": 257}, ("K=257", " 3 ", " 256")),
        ({"seed": 2**63}, ("seed=9223372036854775808", " 0 ")),
        ({"answers": "one"}, ("answers='one'", "'any', 'unique'")),
    ],
)
def test_bad_configurations_are_refused(fields, parts):
    assert_refused(".*".join(parts), SRAVEN, **fields)
