"""Tasks: their instances, from the oracle, and random access to them."""

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
from helpers.batches import FAR, config, same
from sraven import SRAVEN
from sraven import task as task_module


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
