"""Tasks: random access to their instances, policies, and what a configuration may be."""

import dataclasses
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from sraven import SRAVEN, CapacityError, ConfigurationError, count_answers, is_answer
from sraven import task as task_module

FAR = 2**40


def config(task):
    """Return the configuration as the oracle wants it."""
    return dataclasses.asdict(task)


def same(batch, other):
    """Tell whether two batches are equal, bit for bit."""
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(batch, other, strict=True))


def rows(batch, chosen):
    """Return some instances of a batch."""
    return [array[chosen] for array in batch]


def fingerprint(batch):
    """Return a digest of all bytes of a batch."""
    return hashlib.sha256(b"".join(array.tobytes() for array in batch)).hexdigest()


def assert_oracle_draws(task, split, indices):
    """Compare instances with those that the oracle draws."""
    drawn = task.take(split, indices)
    expected = [oracle.instance(config(task), split, int(index)) for index in indices]
    for name, array in zip(drawn._fields, drawn, strict=True):
        assert array.tolist() == np.array([getattr(instance, name) for instance in expected]).tolist(), name


# What an instance is ------------------------------------------------------------------------------


@given(
    M=st.integers(1, 7),
    K=st.integers(3, 256),
    holdout=st.sampled_from([0, 0.1, 0.25, 0.5]),
    seed=st.integers(0, 2**63 - 1),
    permute=st.booleans(),
    split=st.sampled_from(["train", "test", "ood", "all"]),
    start=st.integers(0, 2**41),
)
@settings(max_examples=60)
def test_instances_equal_the_oracles(M, K, holdout, seed, permute, split, start):
    holdout = 0 if M == 1 else holdout
    split = "all" if split == "ood" and not holdout else split
    task = SRAVEN(M=M, K=K, holdout=holdout, seed=seed, permute=permute)
    assert_oracle_draws(task, split, range(start, start + 7))


@pytest.mark.parametrize("M", [8, 9, 10, 11, 12])
def test_large_instances_equal_the_oracles(M):
    task = SRAVEN(M=M, K=13, holdout=0, seed=3)
    assert_oracle_draws(task, "all", [0, 1, FAR, 2**62 - 1])


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K"), [(1, 3), (2, 3), (3, 4), (4, 5), (4, 8)])
def test_unique_instances_are_the_first_candidates_with_one_answer(M, K, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=7, answers="unique", permute=permute)
    assert_oracle_draws(task, "train", [*range(23), FAR])


def test_the_first_thousand_instances_never_change():
    # SHA-256 of all arrays, one after the other; computed with the oracle. Only a new
    # version of the benchmark may have others.
    digests = [fingerprint(SRAVEN().sample(split, 0, 1_009)) for split in ("train", "test", "ood")]
    assert [digest[:16] for digest in digests] == ["e92147244089cba8", "3eca810c53d1c559", "96dc5351ee9838be"]


def test_arrays_have_their_documented_shapes_and_types():
    batch = SRAVEN(M=5, K=7).sample("ood", 3, 11)
    assert {name: (array.shape, array.dtype) for name, array in batch._asdict().items()} == {
        "context": ((11, 8, 5), np.uint8),
        "target": ((11, 5), np.uint8),
        "rules": ((11, 5), np.uint8),
        "permutations": ((11, 3, 5), np.uint8),
        "combination": ((11,), np.int32),
    }
    assert all(array.flags.c_contiguous and array.flags.writeable for array in batch)


@pytest.mark.parametrize("answers", ["any", "unique"])
def test_no_instances_are_empty_arrays(answers):
    task = SRAVEN(M=5, K=7, answers=answers)
    for batch in (task.sample("train", 3, 0), task.take("train", [])):
        assert batch.context.shape == (0, 8, 5)
        assert batch.combination.shape == (0,)


# Random access ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["any", "unique"])
def sraven(request):
    """A task of each policy."""
    return SRAVEN(M=3, K=7, holdout=0.3, seed=5, answers=request.param)


@pytest.mark.parametrize("start", [0, 1, FAR - 7, 2**62 - 20_011])
def test_any_chunking_gives_the_same_bytes(sraven, start):
    whole = sraven.sample("train", start, 20_011)  # more than two chunks of a thread
    for begin, count in [(0, 1), (0, 8_191), (8_190, 5), (8_192, 8_193), (20_010, 1)]:
        part = sraven.sample("train", start + begin, count)
        assert same(part, rows(whole, slice(begin, begin + count)))


@pytest.mark.parametrize("threads", [1, 2, 3, 7, None])
def test_any_number_of_threads_gives_the_same_bytes(sraven, threads):
    assert same(sraven.sample("ood", 5, 30_011, threads=threads), sraven.sample("ood", 5, 30_011, threads=1))


def test_take_gives_the_rows_of_sample_in_any_order(sraven):
    whole = sraven.sample("test", FAR, 103)
    order = np.random.default_rng(0).integers(0, 103, 211)
    assert same(sraven.take("test", FAR + order), rows(whole, order))


@pytest.mark.parametrize("indices", [[5, 3], (5, 3), np.array([5, 3], np.uint8), np.array([5, 3], np.uint64)])
def test_take_accepts_any_integers(sraven, indices):
    assert same(sraven.take("test", indices), rows(sraven.sample("test", 0, 6), [5, 3]))


def test_sample_writes_into_a_given_batch(sraven):
    out = sraven.empty_batch(17)
    assert sraven.sample("train", 3, 17, out=out) is out
    assert same(out, sraven.sample("train", 3, 17))


def test_a_new_process_gives_the_same_bytes(sraven):
    program = (
        "import hashlib; from sraven import SRAVEN;"
        f"batch = {sraven!r}.sample('ood', {FAR}, 10_007);"
        "print(hashlib.sha256(b''.join(array.tobytes() for array in batch)).hexdigest())"
    )
    root = Path(task_module.__file__).parents[1]
    environment = {**os.environ, "PYTHONHASHSEED": "17", "PYTHONPATH": str(root)}
    output = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == fingerprint(sraven.sample("ood", FAR, 10_007))


def test_streams_share_no_instances():
    # Not even shifted ones: with Random(seed + index), two seeds would share all but one.
    base = {"M": 4, "K": 16}
    changes = [{}, {"seed": 1}, {"holdout": 0.5}, {"answers": "unique"}]
    tasks = [SRAVEN(**base, **change) for change in changes]
    drawn = [
        task.sample(split, 0, 1_009).context for task in tasks for split in ("train", "test", "ood", "all")
    ]
    assert len({context.tobytes() for contexts in drawn for context in contexts}) == 16 * 1_009


# Policies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K"), [(2, 3), (3, 4), (4, 4), (4, 5), (4, 8)])
def test_unique_instances_have_exactly_one_answer_and_it_is_the_target(M, K, permute):
    task = SRAVEN(M=M, K=K, answers="unique", permute=permute)
    batch = task.sample("train", 0, 53)
    for context, target in zip(batch.context.tolist(), batch.target.tolist(), strict=True):
        assert oracle.answers(context, K, permute) == {tuple(target)}


def test_policy_any_keeps_ambiguous_instances():
    batch = SRAVEN(M=4, K=4).sample("train", 0, 1_009)
    assert (count_answers(batch.context, 4) > 1).mean() > 0.5


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


def test_policy_any_rejects_nothing():
    task = SRAVEN(M=3, K=4)
    rejected = task.fill("train", np.arange(103, dtype=np.uint64), task.empty_batch(103), 2)
    assert rejected.shape == (120,)
    assert rejected.sum() == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_rejections_do_not_depend_on_threads(threads):
    task = SRAVEN(M=3, K=5, answers="unique")
    indices = np.arange(20_011, dtype=np.uint64)
    rejected = task.fill("train", indices, task.empty_batch(20_011), threads)
    assert np.array_equal(rejected, task.fill("train", indices, task.empty_batch(20_011), 2))


@pytest.mark.parametrize(("M", "K"), [(8, 3), (10, 3), (12, 3)])
def test_hopeless_unique_tasks_are_refused(monkeypatch, M, K):
    monkeypatch.setattr(task_module, "_ATTEMPT_LIMIT", 3)
    with pytest.raises(CapacityError) as raised:
        SRAVEN(M=M, K=K, holdout=0, answers="unique").sample("train", 0, 1)
    for part in ("3 draws in a row", f"M={M}, K={K}", "use a larger K or answers='any'"):
        assert part in str(raised.value)


def test_an_error_in_one_of_many_threads_is_raised(monkeypatch):
    monkeypatch.setattr(task_module, "_ATTEMPT_LIMIT", 1)
    with pytest.raises(CapacityError):
        SRAVEN(M=4, K=4, answers="unique").sample("train", 0, 20_011, threads=2)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize("M", range(1, 13))
def test_target_is_among_the_answers(M, permute):
    batch = SRAVEN(M=M, K=8, holdout=0, permute=permute).sample("train", 0, 211)
    assert is_answer(batch.context, batch.target, 8, permute=permute).all()


# Configurations -----------------------------------------------------------------------------------


def test_defaults_are_the_papers_task():
    assert config(SRAVEN()) == {
        "M": 4,
        "K": 8,
        "holdout": 0.25,
        "seed": 0,
        "answers": "any",
        "permute": True,
        "version": "1",
    }


def test_numpy_numbers_make_the_same_task():
    task = SRAVEN(
        M=np.int64(3), K=np.uint8(7), holdout=np.float64(0.25), seed=np.int32(5), permute=np.bool_(False)
    )
    plain = SRAVEN(M=3, K=7, holdout=0.25, seed=5, permute=False)
    assert task == plain
    assert task.config == plain.config
    assert {type(value) for value in config(task).values()} == {int, float, str, bool}
    assert same(task.sample("train", 0, 11), plain.sample("train", 0, 11))


def test_an_integer_holdout_is_the_same_as_a_float():
    assert SRAVEN(holdout=0).config == SRAVEN(holdout=0.0).config


def test_a_negative_zero_is_no_holdout_of_its_own():
    assert same(SRAVEN(holdout=-0.0).sample("train", 0, 5), SRAVEN(holdout=0).sample("train", 0, 5))


def test_a_task_can_not_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SRAVEN().M = 5


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


# What was given, what is allowed.
@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"M": 0}, ("M=0", "from 1 to 12")),
        ({"M": 13}, ("M=13", "from 1 to 12")),
        ({"M": 4.0}, ("M=4.0", "an integer")),
        ({"M": True}, ("M=True", "an integer")),
        ({"K": 2}, ("K=2", "from 3 to 256", "distribute three needs three symbols")),
        ({"K": 257}, ("K=257", "from 3 to 256")),
        ({"K": "8"}, ("K='8'", "an integer")),
        ({"seed": -1}, ("seed=-1", "from 0")),
        ({"seed": 2**63}, ("seed=9223372036854775808", "from 0")),
        ({"seed": None}, ("seed=None", "an integer")),
        ({"answers": "one"}, ("answers='one'", "'any', 'unique'")),
        ({"permute": 1}, ("permute=1", "True or False")),
    ],
)
def test_bad_configurations_are_refused(fields, parts):
    with pytest.raises(ConfigurationError) as raised:
        SRAVEN(**fields)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("split", "start", "count", "parts"),
    [
        ("valid", 0, 1, ("split='valid'", "train, test, ood, all")),
        ("train", -1, 1, ("start=-1", "from 0")),
        ("train", 0.0, 1, ("start=0.0", "an integer")),
        ("train", 2**62 + 1, 1, ("start=4611686018427387905",)),
        ("train", 0, -1, ("count=-1", "from 0")),
        ("train", 2**62 - 3, 5, ("count=5", "from 0 to 3")),
        ("train", 0, "1", ("count='1'", "an integer")),
    ],
)
def test_bad_ranges_are_refused(split, start, count, parts):
    with pytest.raises(ConfigurationError) as raised:
        SRAVEN().sample(split, start, count)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize("indices", [[[1, 2]], 3, [0.5], ["1"], [True], [-1], [0, 2**62 + 1]])
def test_bad_indices_are_refused(indices):
    with pytest.raises(ConfigurationError, match=r"ind(ices|ex)"):
        SRAVEN().take("train", indices)


def test_a_batch_of_another_task_is_not_written_into():
    with pytest.raises(ConfigurationError, match="out isn't a batch of 5 instances"):
        SRAVEN(M=4).sample("train", 0, 5, out=SRAVEN(M=3).empty_batch(5))
