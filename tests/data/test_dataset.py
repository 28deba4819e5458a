"""A dataset directory: what is in it, and how it loads."""

import json
import re
import shutil
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from datasets import Dataset, List, Value, load_dataset

from fuzzylogic import FuzzyLogic
from helpers.example import SIZES, all_bytes
from helpers.refusals import assert_refused
from helpers.resealing import reseal
from sraven import SRAVEN, OutputError, count_answers, to_numpy
from sraven.core import digests
from sraven.core.digests import block_digest
from sraven.core.spec import canonical_json, digest
from sraven.data.manifest import list_shards, read_manifest
from sraven.data.verify import verify_dataset
from sraven.data.write import estimate_bytes, plan_dataset, write_dataset


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


def test_the_inner_folder_loads_all_splits(dataset_directory):
    loaded = load_dataset(str(dataset_directory / "M3-K7"))
    assert {split: loaded[split].num_rows for split in loaded} == SIZES


def test_a_directory_of_layout_1_is_right_and_is_left_or_finished_as_it_is(task, tmp_path):
    def make_old(manifest):
        manifest["layout"] = 1

    out = tmp_path / "raven"
    write_dataset(task, SIZES, out)
    (out / "M3-K7" / "README.md").unlink()
    reseal(out, task, make_old)
    before = all_bytes(out)
    assert verify_dataset(out).faults == [] and load_dataset(str(out), split="ood").num_rows == SIZES["ood"]
    write_dataset(task, SIZES, out)
    assert all_bytes(out) == before
    write_dataset(task, SIZES, out, force=True)
    assert read_manifest(out)["layout"] == 2


def test_shards_of_another_size_hold_the_same_dataset(tmp_path, task, monkeypatch):
    monkeypatch.setattr(digests, "MOST_INSTANCES", 256)
    sizes = {"train": 300}
    usual = write_dataset(task, sizes, tmp_path / "usual")
    small = write_dataset(task, sizes, tmp_path / "small", shard_size=256)
    assert small["splits"]["train"]["digest"] == usual["splits"]["train"]["digest"]
    assert "shard_size" not in usual and verify_dataset(tmp_path / "small").files["bytes"] == 2
    assert load_dataset(str(tmp_path / "small"), split="train", streaming=True).num_shards == 2
    assert_refused("256, 512", write_dataset, task, sizes, tmp_path / "odd", shard_size=1000)
    assert_refused("another dataset", write_dataset, task, sizes, tmp_path / "small", error=OutputError)


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
    whole = load_dataset(str(dataset_directory))
    assert_refused("one split", to_numpy, whole)
    loaded = whole["ood"]
    empty = to_numpy(loaded.select([]))
    assert empty["context"].shape == (0, 8, 3) and empty["permutations"].shape == (0, 3, 3)
    named = to_numpy(loaded.map(lambda row: {"name": f"puzzle {row['index']}"}))
    assert named["name"][7] == "puzzle 7"


def test_blocks_shrink_with_the_size_of_an_instance():
    assert digests.block_size(SRAVEN(M=12).columns) == 65_536
    large = FuzzyLogic(L=16, K=2, N=4096, holdout=0, unseen_terms=0)
    assert digests.block_size(large.columns) * digests.instance_bytes(large.columns) <= 1 << 24


# The dataset card and the Croissant file


# mlcroissant's own dependencies warn of what they will drop.
lenient = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@lenient
def test_croissant_file_names_every_type_that_columns_have_and_the_format(tmp_path):
    import mlcroissant

    task = FuzzyLogic(L=9, K=1, N=3, holdout=0)  # has more terms than uint8 can number
    write_dataset(task, {"train": 30}, tmp_path / "fuzzy", file_format="arrow")
    content = json.loads((tmp_path / "fuzzy" / "croissant.json").read_text())
    types = {
        field["name"]: field["dataType"] for records in content["recordSet"] for field in records["field"]
    }
    assert types["terms"] == "cr:UInt16" and task.columns[3].dtype == "uint16"
    kinds = {each["encodingFormat"] for each in content["distribution"]}
    assert kinds == {"application/vnd.apache.arrow.stream"}
    issues = mlcroissant.Dataset(jsonld=tmp_path / "fuzzy" / "croissant.json").metadata.ctx.issues
    assert not issues.errors and not issues.warnings


@lenient
def test_croissant_records_are_the_rows(task, dataset_directory):
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=dataset_directory / "croissant.json")
    records = iter(dataset.records("ood"))
    batch = task.sample("ood", 0, 3)
    for n in range(3):
        record = next(records)
        assert record["ood/index"] == n
        assert list(record["ood/context"]) == batch.context[n].reshape(-1).tolist()


def test_croissant_file_says_what_reviewers_ask(dataset_directory):
    content = json.loads((dataset_directory / "croissant.json").read_text())
    assert content["rai:hasSyntheticData"] is True
    asked = "Limitations Biases UseCases SocialImpact Collection"
    for name in ("personalSensitiveInformation", *(f"data{each}" for each in asked.split())):
        assert len(content[f"rai:{name}"]) > 20


def test_card_states_configuration_counts_and_ambiguity(task, dataset_directory):
    card = (dataset_directory / "README.md").read_text()
    manifest = json.loads((dataset_directory / "manifest.json").read_text())
    [config] = yaml.safe_load(card.split("---\n")[1])["configs"]
    assert config["description"] == f"sha256:{digest(manifest)}"
    assert canonical_json(task.config) in card
    combinations = comb(8 + task.M - 1, task.M)
    held_out = int(task.holdout * combinations)
    assert f"Of the {combinations} multisets of {task.M} rules" in card
    assert f"share {combinations - held_out};" in card and f"from the other {held_out}, none" in card
    for name, split in manifest["splits"].items():
        n, unique = split["num_examples"], sum(split["tallies"]["unique"])
        assert f"| `{name}` | {n:,} | {n - unique:,} | {(n - unique) / n:.2%} | 1.000 |" in card
        assert split["digest"] in card


def test_card_of_unique_instances_states_acceptance_by_multiset(tmp_path):
    task, sizes = SRAVEN(M=3, K=5, holdout=0.3, answers="unique"), {"train": 4_000, "ood": 400}
    splits = write_dataset(task, sizes, tmp_path / "raven")["splits"].values()
    card = (tmp_path / "raven" / "README.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| [\d ]+ \| [\d,]+ \| ([\d.]+) \|$", card, re.MULTILINE))
    assert len(rows) == 120  # all multisets of three rules
    for row, rate in rows.items():
        proposals = sum(split["tallies"]["proposals"][int(row)] for split in splits)
        unique = sum(split["tallies"]["unique"][int(row)] for split in splits)
        assert rate == f"{unique / proposals:.4f}"


def test_what_has_no_room_is_refused_before_anything_is_created(tmp_path, monkeypatch):
    out, sizes = tmp_path / "data", {"train": 20_000, "test": 500}
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10_000))
    with pytest.raises(OutputError, match=r"data would take about 0.0 GB more, and 0.0 GB are free; write"):
        write_dataset(SRAVEN(M=2), sizes, out)
    assert not out.exists()
    monkeypatch.undo()
    write_dataset(SRAVEN(M=2), sizes, out)
    written = sum(path.stat().st_size for path in out.rglob("*.parquet"))
    plan = plan_dataset(SRAVEN(M=2), sizes, "parquet")
    assert written == pytest.approx(estimate_bytes(SRAVEN(M=2), list_shards(SRAVEN(M=2), plan)), rel=0.2)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    write_dataset(SRAVEN(M=2), sizes, out)  # it is there already
