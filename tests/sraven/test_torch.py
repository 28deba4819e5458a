"""Data sets for PyTorch's loaders, and the sequences that they give."""

import jax.numpy as jnp
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch isn't installed: pip install '.[torch]' in a checkout")

from torch.utils.data import DataLoader, DistributedSampler

import fuzzylogic.torch
import sraven.torch
from baselines.encode import encode_fuzzylogic, encode_sraven
from fuzzylogic import FuzzyLogic
from helpers.refusals import assert_refused
from sraven import SRAVEN
from sraven.torch import BatchStream, as_tensors, sequences

TASK = SRAVEN(M=3, K=7)

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),  # on a machine of few processors
    # Beside JAX, which the workers don't use:
    pytest.mark.filterwarnings("ignore:.*_at_fork:pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:This process"),  # the same, as Python says it from 3.12 on
]


def indices_of(loader):
    return [int(index) for batch in loader for index in batch["index"]]


def same(batch, expected):
    return all(np.array_equal(batch[name].numpy(), array) for name, array in expected._asdict().items())


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gets_whole_batches_of_a_split(workers):
    batches = list(DataLoader(TASK.split("train", 100), batch_size=32, num_workers=workers))
    assert [len(batch["context"]) for batch in batches] == [32, 32, 32, 4]
    assert (batches[0]["context"].dtype, batches[0]["index"].dtype) == (torch.uint8, torch.int64)
    assert all(same(batch, TASK.take("train", batch["index"].numpy())) for batch in batches)


def test_samplers_choose_the_instances_of_a_split():
    data = TASK.split("train", 60)[10:]
    shuffled = DataLoader(data, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(0))
    seen = indices_of(shuffled)
    assert sorted(seen) == list(range(10, 60)) and seen != sorted(seen)
    samplers = [DistributedSampler(data, 2, rank) for rank in (0, 1)]
    first, second = (indices_of(DataLoader(data, batch_size=5, sampler=sampler)) for sampler in samplers)
    assert len(first) == len(second) and sorted(first + second) == list(range(10, 60))


def test_tensors_may_be_written_to():
    batch = next(iter(BatchStream(TASK, "train", 4, stop=1)))
    batch["context"] += 1  # no warning, which would be an error here


@pytest.mark.parametrize(
    ("workers", "start", "rank", "ranks"),
    [(0, 0, 0, 1), (1, 0, 0, 1), (3, 0, 0, 1), (0, 4, 0, 1), (0, 0, 0, 2), (3, 2, 1, 2)],
)
def test_ranks_share_the_batches_from_any_on_for_any_number_of_workers(workers, start, rank, ranks):
    stream = BatchStream(TASK, "train", 16, start=start, stop=7, rank=rank, ranks=ranks)
    batches = list(DataLoader(stream, batch_size=None, num_workers=workers))
    assert len(batches) == len(stream) == 7 - start
    for place, batch in enumerate(batches, start):
        assert same(batch, TASK.sample("train", 16 * (place * ranks + rank), 16))


def test_a_stream_without_an_end_has_no_length():
    stream = BatchStream(TASK, "train", 8)
    assert [len(batch["target"]) for batch, _ in zip(stream, range(3), strict=False)] == [8, 8, 8]
    with pytest.raises(TypeError, match="no end"):
        len(stream)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "dev"}, "split='dev'"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"start": -1}, "start=-1"),
        ({"start": 3, "stop": 2}, "stop=2"),
        ({"rank": 2, "ranks": 2}, "rank=2"),
    ],
)
def test_what_a_stream_cant_be_is_refused(arguments, message):
    assert_refused(message, BatchStream, TASK, **{"split": "train", **arguments})


def test_sequences_are_those_of_the_baselines():
    batch = TASK.sample("train", 0, 20)
    tokens, target = sequences(TASK)(as_tensors(batch))
    expected = encode_sraven(TASK).tokens({"context": jnp.asarray(batch.context)})
    assert np.array_equal(tokens.numpy(), expected)
    assert np.array_equal(target.numpy(), batch.target)


def test_sequences_of_fuzzy_logic_are_those_of_the_baselines():
    task = FuzzyLogic()
    batch = task.sample("train", 0, 20)
    loader = DataLoader(
        fuzzylogic.torch.BatchStream(task, "train", 20, stop=1, view=fuzzylogic.torch.sequences),
        batch_size=None,
    )
    tokens, target = next(iter(loader))
    expected = encode_fuzzylogic(task).tokens({k: jnp.asarray(v) for k, v in batch._asdict().items()})
    assert np.array_equal(tokens.numpy(), expected)
    assert np.array_equal(target.numpy(), batch.targets[:, -1])
    flat = {
        "inputs": torch.from_numpy(batch.inputs.reshape(20, -1)),
        "targets": torch.from_numpy(batch.targets),
    }
    assert torch.equal(fuzzylogic.torch.sequences(flat)[0], tokens)  # rows as load_dataset has them
    assert sraven.torch.BatchStream is fuzzylogic.torch.BatchStream
