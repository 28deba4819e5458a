"""Splits as map-style data sets: what loaders of other libraries ask for, and the task's very instances."""

import copy
import pickle

import jax
import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from helpers import batches
from helpers.python import python
from helpers.refusals import assert_refused
from sraven import SRAVEN, ConfigurationError

TASKS = {
    "sraven": SRAVEN(M=3, K=7, holdout=0.3),
    "sraven-unique": SRAVEN(M=3, K=7, holdout=0.3, answers="unique"),
    "fuzzylogic": FuzzyLogic(L=3, K=2, N=7, holdout=0.5),
}


@pytest.fixture(params=TASKS)
def task(request):
    return TASKS[request.param]


def same(one, other):
    return type(one) is type(other) and batches.same(one, other)


def assert_is(instance, task, split, index):
    """Compare an instance of a view with the task's own."""
    batch = task.take(split, [index])
    assert list(instance) == ["index", *batch._fields] and instance["index"] == index
    for name, array in batch._asdict().items():
        assert instance[name].dtype == array.dtype and np.array_equal(instance[name], array[0]), name


def test_items_are_the_tasks_instances_and_a_far_end_costs_nothing(task):
    view = task.split("ood", 2**61)
    for place in (0, 7, 2**61 - 1, np.int64(3)):
        assert_is(view[place], task, "ood", int(place))
    assert_is(view[-1], task, "ood", 2**61 - 1)
    assert_is(view[-(2**61)], task, "ood", 0)
    assert len(view) == 2**61 and len(view[2**60 :]) == 2**60


def test_items_are_writable_arrays_of_their_own(task):
    view = task.split("train", 5)
    first, second = view[0], view[0]
    for name, array in first.items():
        assert isinstance(array, np.ndarray) and array.flags.writeable and array.flags.c_contiguous, name
        array[...] = 1
        assert not np.shares_memory(array, second[name])
    assert_is(second, task, "train", 0)
    several = view.__getitems__([0, 0, 1])
    several[0]["combination"][...] = 77
    assert_is(several[1], task, "train", 0)


def test_places_past_the_end_are_no_instances(task):
    view = task.split("test", 3)
    for place in (3, -4, 2**40):
        with pytest.raises(IndexError, match=f"instance {place}: there are 3"):
            _ = view[place]
    with pytest.raises(IndexError):
        view.__getitems__([0, 3])
    with pytest.raises(TypeError):
        _ = view["0"]
    with pytest.raises(IndexError):
        _ = task.split("test", 0)[0]


def test_iterating_gives_all_in_order_and_ends(task):
    view = task.split("test", 1_030)  # more than one block
    seen = list(view)
    assert [int(instance["index"]) for instance in seen] == list(range(1_030))
    for place in (0, 1_023, 1_024, 1_029):
        assert_is(seen[place], task, "test", place)
    assert list(task.split("test", 0)) == []


def test_slices_are_views_with_the_splits_indices(task):
    view = task.split("train", 100)
    part = view[90:10:-20]
    assert len(part) == 4 and [int(each["index"]) for each in part] == [90, 70, 50, 30]
    assert_is(part[1:][0], task, "train", 70)
    assert len(view[200:]) == 0 and view[:] == view and view[:10] == task.split("train", 10)
    assert same(view[10:60].batch(), task.sample("train", 10, 50))


def test_it_pickles_as_its_configuration(task):
    task.sample("train", 0, 10)
    view = task.split("train", 1_000_000)[::2]
    data = pickle.dumps(view)
    assert len(data) < 800
    again = pickle.loads(data)
    assert again == view and hash(again) == hash(view) and repr(again) == repr(view)
    assert_is(again[3], task, "train", 6)


def test_its_repr_makes_it_again(task):
    names = {"SRAVEN": SRAVEN, "FuzzyLogic": FuzzyLogic}
    view = task.split("train", 100)
    for each in (view, view[3:9], view[::-1], view[5:5], view[8:2:-3], task.split("ood", 0)):
        assert "\n" not in repr(each) and len(repr(each)) < 200
        again = eval(repr(each), names)
        assert list(again.indices) == list(each.indices) and again.task == task


def test_bad_requests_are_refused():
    task = SRAVEN(holdout=0)
    assert_refused(r"split='ood': .*train, test, all", task.split, "ood", 10)
    for size in (-1, 1.5, True, 2**63, "10"):
        assert_refused("size=", task.split, "train", size)


# Worker processes and the loader of another library; PyTorch's is in `tests/sraven/test_torch.py`


GRAIN = """
import grain.python as grain
import numpy as np
from absl import flags
from fuzzylogic import FuzzyLogic

flags.FLAGS(["loader"])
view = FuzzyLogic(L=3, K=2, N=7, holdout=0.5).split("train", 120)
assert isinstance(view, grain.RandomAccessDataSource)
if __name__ == "__main__":
    whole = grain.NoSharding()
    sampler = grain.IndexSampler(len(view), shard_options=whole, shuffle=True, seed=0, num_epochs=1)
    operations = [grain.Batch(20)]
    loader = grain.DataLoader(data_source=view, sampler=sampler, operations=operations, worker_count=2)
    batches = list(loader)
    index = np.concatenate([batch["index"] for batch in batches])
    inputs = np.concatenate([batch["inputs"] for batch in batches])
    print(sorted(index.tolist()) == list(range(120)), index.tolist() != list(range(120)),
          np.array_equal(inputs, view.task.take("train", index).inputs), inputs.dtype, inputs.shape)
    dataset = grain.MapDataset.source(view).shuffle(seed=1).batch(8)
    print(len(dataset), dataset[0]["targets"].shape)
"""


@pytest.mark.long
def test_grain_reads_it_with_several_workers(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(GRAIN)
    result = python(path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["True True True float32 (120, 7, 3)", "15 (8, 7)"]


# Batches: arrays under their names, counted and cut by instance


@pytest.fixture(params=["sraven", "fuzzylogic"])
def batch(request):
    return TASKS[request.param].sample("train", 0, 11)


THIRD = np.arange(11) % 3 == 0


@pytest.mark.parametrize(
    "rows",
    [
        *(slice(3, 7), slice(0, 0), slice(None, None, -2)),
        *([4, 4, 0], np.array([4, 4, 0], np.uint8), THIRD, THIRD.tolist(), []),
    ],
)
def test_some_instances_are_a_batch_and_slices_share_memory(batch, rows):
    part, is_slice = batch[rows], isinstance(rows, slice)
    chosen = np.arange(11)[rows if is_slice or len(rows) else slice(0)]
    assert type(part) is type(batch) and len(part) == len(chosen) and bool(part) == bool(len(chosen))
    for name, array in batch._asdict().items():
        assert np.array_equal(getattr(part, name), array[chosen])
        assert np.shares_memory(getattr(part, name), array) == (is_slice and len(chosen) > 0)


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


@pytest.mark.parametrize("rows", ["target", True, 1.5, (0, 1), [[0]], [0.5], None])
def test_what_is_no_instance_is_refused(batch, rows):
    with pytest.raises(ConfigurationError, match=f"expected the number.*such as batch.{batch._fields[0]}"):
        _ = batch[rows]


def test_it_unpacks_into_its_arrays(batch):
    first, *others, last = batch
    assert first is getattr(batch, batch._fields[0]) and last is batch.combination
    assert len(batch) == 11 != len(batch._fields) == len(others) + 2
    named = batch._asdict()
    assert list(named) == list(batch._fields) and same(type(batch)(*named.values()), batch)


def test_it_is_made_of_arrays_and_of_others(batch):
    assert same(type(batch)(**batch._asdict()), batch)
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
