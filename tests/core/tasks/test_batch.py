"""Batches: arrays under their names, counted and cut by instance; whatever worked before still does."""

import copy
import pickle

import jax
import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from sraven import SRAVEN, ConfigurationError
from sraven.core.tasks.batch import Instances

TASKS = {"sraven": SRAVEN(M=3, K=7, holdout=0.3), "fuzzylogic": FuzzyLogic(L=3, K=2, N=7, holdout=0.5)}


@pytest.fixture(params=TASKS)
def batch(request):
    return TASKS[request.param].sample("train", 0, 11)


def same(one, other):
    return type(one) is type(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_its_length_is_the_number_of_instances(batch):
    assert len(batch) == 11 != len(batch._fields)
    assert len(batch[:0]) == 0 and not batch[:0]


def test_slice_is_a_batch_that_shares_memory(batch):
    part = batch[3:7]
    assert type(part) is type(batch) and len(part) == 4
    for name, array in batch._asdict().items():
        assert np.shares_memory(getattr(part, name), array)
        assert np.array_equal(getattr(part, name), array[3:7])
        assert np.array_equal(getattr(batch[::-2], name), array[::-2])


def test_item_is_an_instance_that_shares_memory(batch):
    for row in (0, 5, -1, np.int64(2)):
        instance = batch[row]
        assert list(instance) == list(batch._fields)
        for name, array in batch._asdict().items():
            assert isinstance(instance[name], np.ndarray) and np.shares_memory(instance[name], array)
            assert np.array_equal(instance[name], array[row])
    for row in (11, -12):
        with pytest.raises(IndexError):
            _ = batch[row]


def test_chosen_instances_are_a_batch(batch):
    mask = np.arange(11) % 3 == 0
    for rows in ([4, 4, 0], np.array([4, 4, 0], np.uint8), mask, mask.tolist(), []):
        chosen = batch[rows]
        assert type(chosen) is type(batch)
        for name, array in batch._asdict().items():
            assert np.array_equal(
                getattr(chosen, name), array[np.array(rows, dtype=None if len(rows) else int)]
            )


@pytest.mark.parametrize("rows", ["target", True, 1.5, (0, 1), [[0]], [0.5], None])
def test_what_is_no_instance_is_refused(batch, rows):
    with pytest.raises(ConfigurationError, match=f"expected the number.*such as batch.{batch._fields[0]}"):
        _ = batch[rows]


def test_it_unpacks_into_its_arrays(batch):
    first, *others, last = batch
    assert first is getattr(batch, batch._fields[0]) and last is batch.combination
    assert len(others) == len(batch._fields) - 2
    assert [array.shape for array in tuple(batch)] == [array.shape for array in batch._asdict().values()]
    assert dict(zip(batch._fields, batch, strict=True)).keys() == batch._asdict().keys()


def test_it_is_made_of_arrays_and_of_others(batch):
    assert same(type(batch)(*batch), batch) and same(type(batch)(**batch._asdict()), batch)
    assert same(type(batch)._make(iter(batch)), batch)
    other = batch._replace(combination=batch.combination + 1)
    assert np.array_equal(other.combination, batch.combination + 1) and list(other)[:-1] == list(batch)[:-1]
    with pytest.raises(ValueError, match="colour: expected some of"):
        batch._replace(colour=batch.combination)
    for arrays, named in (((), {}), ((*batch, 1), {}), (tuple(batch), {"combination": 1})):
        with pytest.raises(TypeError, match="takes the arrays"):
            type(batch)(*arrays, **named)
    with pytest.raises(TypeError, match="takes the arrays"):
        type(batch)._make(list(batch)[1:])


@pytest.mark.parametrize("name", ["combination", "colour"])
def test_it_is_frozen(batch, name):
    with pytest.raises(AttributeError):
        setattr(batch, name, np.zeros(11))


def test_it_is_copied_and_pickled(batch):
    for found in (copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert same(found, batch)


def test_jax_takes_it_for_a_tree_of_arrays(batch):
    found = jax.tree.map(np.copy, batch)
    assert same(found, batch) and len(jax.tree.leaves(batch)) == len(batch._fields)
    total = jax.jit(lambda batch: batch.combination.sum() + len(batch))(batch)
    assert int(total) == batch.combination.sum() + 11


def test_its_repr_is_one_short_line(batch):
    assert repr(batch).startswith("Batch(") and "combination=int32[11]" in repr(batch)
    assert len(repr(batch)) < 150 and "\n" not in repr(batch)


def test_there_is_one_batch():
    for task in TASKS.values():
        kind = type(task.empty_batch(0))
        assert kind.__mro__[:3] == (kind, Instances, tuple) and kind.__doc__
        assert all(name in kind.__doc__ for name in kind._fields)
