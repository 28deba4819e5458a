"""A dataset directory: what is in it, and how it loads."""

import numpy as np
import pytest
from datasets import Dataset, List, Value, load_dataset

from fuzzylogic import FuzzyLogic
from helpers.example import SIZES
from sraven import SRAVEN, ConfigurationError, count_answers, to_numpy
from sraven.core.dataset.write import write_dataset
from sraven.core.tasks import digests
from sraven.core.tasks.digests import block_digest


def expected(task, split, count):
    batch = task.sample(split, 0, count)
    answers = count_answers(batch.context, task.K, permute=task.permute)
    return {"index": np.arange(count), **batch._asdict(), "num_answers": answers}


def assert_same(arrays, wanted):
    assert set(arrays) == set(wanted)
    for name, array in wanted.items():
        assert np.array_equal(arrays[name], array), name


def test_loaded_features_are_those_of_the_card(dataset_directory):
    features = load_dataset(str(dataset_directory))["train"].features
    assert features == {
        "index": Value("int64"),
        "context": List(Value("uint8"), length=24),
        "target": List(Value("uint8"), length=3),
        "rules": List(Value("uint8"), length=3),
        "permutations": List(Value("uint8"), length=9),
        "combination": Value("int32"),
        "num_answers": Value("int64"),
    }


def test_another_seed_in_the_same_place_is_not_served_from_the_cache(tmp_path):
    out, cache = tmp_path / "raven", str(tmp_path / "cache")
    for seed in (1, 2):
        task = SRAVEN(M=3, K=7, holdout=0.3, seed=seed)
        write_dataset(task, {"train": 200}, out, force=True)
        arrays = to_numpy(load_dataset(str(out), split="train", cache_dir=cache))
        assert_same(arrays, expected(task, "train", 200))


def test_arrow_shards_map_into_memory(task, tmp_path):
    write_dataset(task, SIZES, tmp_path / "raven", file_format="arrow")
    mapped = Dataset.from_file(str(next((tmp_path / "raven").rglob("ood-*.arrow"))))
    wanted = expected(task, "ood", SIZES["ood"])
    assert_same(to_numpy(mapped), wanted)
    assert_same(to_numpy(load_dataset(str(tmp_path / "raven"), split="ood")), wanted)


def test_to_numpy_follows_shuffles_and_slices(task, dataset_directory):
    loaded = load_dataset(str(dataset_directory), split="train")
    wanted = expected(task, "train", SIZES["train"])
    shuffled = to_numpy(loaded.shuffle(seed=3))
    order = shuffled["index"]
    assert sorted(order) == list(range(SIZES["train"])) and list(order) != sorted(order)
    assert_same(shuffled, {name: array[order] for name, array in wanted.items()})
    part = to_numpy(loaded.select(range(17, 40)))
    assert_same(part, {name: array[17:40] for name, array in wanted.items()})


def test_to_numpy_refuses_a_dataset_dict(dataset_directory):
    with pytest.raises(ConfigurationError, match="one split"):
        to_numpy(load_dataset(str(dataset_directory)))


def test_to_numpy_shares_the_memory_of_a_table(dataset_directory):
    table = load_dataset(str(dataset_directory), split="ood").with_format("arrow")[:]
    assert table.column("context").num_chunks == 1
    context = to_numpy(table.select(["context"]))["context"]
    address = table.column("context").chunk(0).flatten().buffers()[1].address
    assert context.__array_interface__["data"][0] == address


def test_shards_and_blocks_of_a_larger_split(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "MOST_INSTANCES", 64)
    task = SRAVEN(M=2, K=5, holdout=0.3)
    manifest = write_dataset(task, {"train": 1_000, "ood": 256}, tmp_path / "raven")
    shards = manifest["splits"]["train"]["shards"]
    found = [(shard["start"], shard["num_examples"]) for shard in shards]
    assert found == [(0, 256), (256, 256), (512, 256), (768, 232)]
    assert shards[3]["path"] == "M2-K5/train-00003-of-00004.parquet"
    arrays = to_numpy(load_dataset(str(tmp_path / "raven"), split="train"))
    assert_same(arrays, expected(task, "train", 1_000))
    last = {name: array[960:] for name, array in expected(task, "train", 1_000).items()}
    assert shards[3]["blocks"][-1] == block_digest(last, task.columns)


def test_manifest_counts_what_the_policy_drew(tmp_path):
    task = SRAVEN(M=3, K=5, holdout=0.3, answers="unique")
    split = write_dataset(task, {"train": 2_000}, tmp_path / "raven")["splits"]["train"]
    proposals, instances, unique = (
        np.array(split["tallies"][name]) for name in ("proposals", "instances", "unique")
    )
    batch = task.empty_batch(2_000)
    rejected = task.fill("train", np.arange(2_000, dtype=np.uint64), batch, threads=None)
    assert np.array_equal(instances, np.bincount(batch.combination, minlength=len(instances)))
    assert np.array_equal(unique, instances) and np.array_equal(proposals, instances + rejected)
    assert rejected.sum() > 0


def test_empty_and_mapped_datasets_become_arrays(dataset_directory):
    loaded = load_dataset(str(dataset_directory), split="ood")
    empty = to_numpy(loaded.select([]))
    assert empty["context"].shape == (0, 8, 3) and empty["permutations"].shape == (0, 3, 3)
    named = to_numpy(loaded.map(lambda row: {"name": f"puzzle {row['index']}"}))
    assert named["name"][7] == "puzzle 7"


def test_blocks_shrink_with_the_size_of_an_instance():
    assert digests.block_size(SRAVEN(M=12).columns) == 65_536
    large = FuzzyLogic(L=16, K=2, N=4096, holdout=0, unseen_terms=0)
    assert digests.block_size(large.columns) * digests.instance_bytes(large.columns) <= 1 << 24
