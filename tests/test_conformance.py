"""Conformance of every task of the benchmark, the toy of the tests included."""

import json
from dataclasses import FrozenInstanceError, fields, replace
from importlib import import_module
from itertools import combinations, pairwise

import numpy as np
import pytest
from datasets import load_dataset

from helpers.batches import same
from helpers.checkout import REPOSITORY
from helpers.example import all_bytes
from helpers.python import python
from helpers.refusals import assert_refused
from helpers.third_family import ENTRY, registered
from sraven.core.digests import block_digest
from sraven.core.families import find_family, generating_families, make_task
from sraven.core.spec import canonical_json, digest
from sraven.core.versions import current_version
from sraven.data.verify import verify_dataset
from sraven.data.write import write_dataset
from sraven.files.table import to_arrays

with registered():
    EXAMPLES = {
        name: make_task({"task": family, "version": current_version(), **config})
        for family in generating_families()
        for name, config in find_family(family).examples.items()
    }


@pytest.fixture(autouse=True)
def _toy():
    with registered():
        yield


@pytest.fixture(params=EXAMPLES)
def task(request):
    return EXAMPLES[request.param]


def test_every_task_has_an_example():
    assert {example.name for example in EXAMPLES.values()} == set(generating_families())


# Random access


def test_counts_and_indices_may_be_any_integers(task):
    """NumPy's small ones wrap where they are added up."""
    for start, count in ((np.uint8(255), 2), (254, np.uint8(3)), (np.int8(127), np.int64(4))):
        assert same(task.sample("train", start, count), task.sample("train", int(start), int(count)))
    assert len(task.split("train", np.uint8(255))[np.uint8(250) :]) == 5


def test_an_equal_task_gives_the_same(task):
    other = replace(task)
    assert other == task and hash(other) == hash(task)
    for split in (*task.splits, "all"):
        assert same(other.sample(split, 17, 101), task.sample(split, 17, 101))
    with pytest.raises(FrozenInstanceError):
        task.seed = 7


@pytest.mark.parametrize("start", [0, 1, 63, 2**40, 2**61])
def test_a_range_is_the_same_in_any_chunks(task, start):
    whole = task.sample("ood", start, 200)
    for cuts in ([0, 200], [0, 1, 64, 65, 130, 200], [0, 199, 200]):
        chunks = [task.sample("ood", start + a, b - a) for a, b in pairwise(cuts)]
        assert same(whole, type(whole)(*map(np.concatenate, zip(*chunks, strict=True))))


def test_any_number_of_threads_gives_the_same(task):
    count = 3 * 8192 + 1
    assert same(task.sample("train", 5, count, threads=1), task.sample("train", 5, count, threads=3))
    for threads in (0, -3, 1.5, "2"):
        assert_refused("threads=", task.sample, "train", 0, 1, threads=threads)


def test_taking_is_sampling_in_another_order_and_so_is_writing_into_a_batch(task):
    order = [99, 3, 3, 0, 41]
    for indices in (order, tuple(order), np.array(order, np.uint8), np.array(order, np.uint64)):
        assert same(task.take("test", indices), task.sample("test", 0, 100)[order])
    out = task.empty_batch(77)
    assert task.sample("test", 9, 77, out=out) is out
    assert same(out, task.sample("test", 9, 77))


ELSEWHERE = f"""
import json, sys
from sraven.core.families import FAMILIES, make_task
from sraven.core.digests import block_digest
sys.path.append({str(REPOSITORY / "tests")!r})
FAMILIES["sums"] = {ENTRY!r}
for config in json.loads(sys.argv[1]):
    task = make_task(config)
    print(block_digest(task.rows.encode("ood", 123, 456, 1).columns, task.columns))
"""


def test_another_process_gives_the_same():
    result = python("-c", ELSEWHERE, json.dumps([task.config for task in EXAMPLES.values()]), cwd=REPOSITORY)
    assert result.stdout.split() == [
        block_digest(task.rows.encode("ood", 123, 456, 1).columns, task.columns) for task in EXAMPLES.values()
    ]


def test_arrays_are_contiguous_and_of_the_columns_types(task):
    for count in (0, 13):
        batch = task.sample("train", 0, count)._asdict()
        for column in task.columns:
            if not column.derived:
                array = batch[column.name]
                assert array.flags.c_contiguous
                assert (array.dtype.name, array.shape) == (column.dtype, (count, *column.shape))


# Splits and seeds


def test_streams_of_splits_and_seeds_differ(task):
    name = task.rows.instance_columns[0]
    seeds = [replace(task, seed=seed) for seed in (task.seed, task.seed + 1)]
    parts = [getattr(other.sample(split, 0, 201), name) for other in seeds for split in task.splits]
    for one, other in combinations([{instance.tobytes() for instance in part} for part in parts], 2):
        assert len(one & other) < 20  # small tasks repeat an instance now and then
    shifted = (parts[0][1:] != parts[3][:-1]).reshape(200, -1).any(axis=1)
    assert shifted.mean() > 0.9  # as they would be, were seeds added to indices


def test_held_out_combinations_never_occur_in_train(task):
    train, ood = (set(task.combination_indices(split).tolist()) for split in ("train", "ood"))
    assert not train & ood
    for split in task.splits:
        allowed = set(task.combination_indices(split).tolist())
        assert set(task.sample(split, 0, 2_000).combination.tolist()) <= allowed
        assert split.startswith("ood") != (allowed <= train)


def test_combination_is_an_index_into_all_combinations(task):
    numbers = task.combination_indices("all")
    assert np.array_equal(numbers, np.arange(len(numbers)))
    for split in task.splits:
        rows = task.combinations("all")[task.combination_indices(split)]
        assert np.array_equal(rows, task.combinations(split))


# Configuration


def test_configuration_round_trips_through_json(task):
    config = json.loads(canonical_json(task.config))
    assert make_task(config) == task
    assert digest(config) == digest(task.config)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dev", 0, 1), "split='dev': .*train, test, ood"),
        (("train", -1, 1), "start=-1: .* 0 "),
        (("train", 0, -1), "count=-1: .* 0 "),
        (("train", 0.5, 1), "start=0.5: .*integer"),
        (("train", 0, "1"), "count='1': .*integer"),
        (("train", 2**62, 1), "count=1: .* 0 .* 0"),
        (("train", 0, 2**45), f"count={2**45:,} has no room in memory"),
        (("train", 0, 2**58), f"count={2**58:,} has no room in memory"),
        (("train", 0, 2**62), f"count={2**62:,} has no room in memory"),  # more than an array may have
    ],
)
def test_bad_ranges_are_refused(task, arguments, message):
    assert_refused(message, task.sample, *arguments)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([[1, 2]], r"shape \[1, 2\]"),
        ([0.5], "float64"),
        (["1"], "indices"),
        ([True], "indices"),
        ([3, -1], "the least index=-1"),
        ([0, 2**62 + 1], "the greatest index"),
    ],
)
def test_bad_indices_are_refused(task, indices, message):
    assert_refused(message, task.take, "train", indices)


def test_batches_that_do_not_fit_are_refused(task):
    frozen = task.empty_batch(10)
    next(iter(frozen)).flags.writeable = False
    for out, message in (
        (task.empty_batch(11), "out isn't a batch of 10"),
        (tuple(task.empty_batch(10)), "out isn't a batch"),
        (frozen, "read-only"),
    ):
        assert_refused(message, task.sample, "train", 0, 10, out=out)


BAD = {int: (-1, 1.0, "4", True, None), float: (-0.1, 1.0, "half"), str: ("nothing", 1), bool: ("yes", 2)}
"""No values of a field, by the type of its value."""


def test_bad_configurations_are_refused_by_name(task):
    assert {"seed", "version", "holdout"} <= {field.name for field in fields(task)}
    for field in fields(task):
        for value in BAD[type(getattr(task, field.name))]:
            assert_refused(f"{field.name}=", replace, task, **{field.name: value})


# Datasets


def as_arrays(task, rows):
    """Return rows as arrays: as the core reads them, and by the function of the family's package, if any."""
    arrays = to_arrays(rows)
    yield {column.name: arrays[column.name].reshape(-1, *column.shape) for column in task.columns}
    package = import_module(find_family(task.name).package)
    if hasattr(package, "to_numpy"):
        yield package.to_numpy(rows)


def test_exported_rows_are_the_generators(task, tmp_path):
    sizes = {split: 100 + 11 * place for place, split in enumerate(task.splits)}
    write_dataset(task, sizes, tmp_path / "data")
    loaded = load_dataset(str(tmp_path / "data"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == sizes
    for split, size in sizes.items():
        for arrays in as_arrays(task, loaded[split]):
            assert set(arrays) == {column.name for column in task.columns}
            for name, array in task.sample(split, 0, size)._asdict().items():
                assert arrays[name].dtype == array.dtype
                assert np.array_equal(arrays[name], array), name


@pytest.mark.parametrize("file_format", ["parquet", "arrow"])
def test_exported_datasets_verify_and_are_the_same_bytes_again(task, tmp_path, file_format):
    sizes = dict.fromkeys(task.splits, 150)
    for name, threads in (("a", 1), ("b", 3)):
        write_dataset(task, sizes, tmp_path / name, file_format=file_format, threads=threads)
    assert verify_dataset(tmp_path / "a").faults == []
    assert all_bytes(tmp_path / "a") == all_bytes(tmp_path / "b")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_croissant_file_is_valid(task, tmp_path, caplog):
    mlcroissant = pytest.importorskip("mlcroissant")
    write_dataset(task, {"train": 300, "ood": 200}, tmp_path / "data")
    issues = mlcroissant.Dataset(jsonld=tmp_path / "data" / "croissant.json").metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    assert not [record for record in caplog.records if "@context" in record.message]
