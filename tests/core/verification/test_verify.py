"""`sraven verify` finds what was changed, wherever it was changed."""

import json
import shutil
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.example import SIZES, all_bytes
from helpers.resealing import reseal, write_rows
from sraven import SRAVEN, ConfigurationError, OutputError
from sraven.core.dataset.formats import FORMATS
from sraven.core.dataset.write import write_dataset
from sraven.core.system.files import write_json
from sraven.core.tasks.families import make_task
from sraven.core.tasks.table import from_table
from sraven.core.verification.leaks import fingerprints
from sraven.core.verification.verify import verify_dataset


@pytest.fixture
def copy(dataset_directory, tmp_path):
    """A copy of the finished dataset, to be damaged."""
    return shutil.copytree(dataset_directory, tmp_path / "copy")


def faults(directory):
    return verify_dataset(directory, make_task).faults


def test_right_dataset_has_no_fault(dataset_directory):
    seen = []
    report = verify_dataset(dataset_directory, make_task, progress=seen.append)
    assert report.faults == []
    assert report.checked == SIZES and sum(seen) == sum(SIZES.values())
    assert set(report.shared) == {"train, test", "train, ood", "test, ood"}


def test_right_arrow_dataset_has_no_fault(task, tmp_path):
    write_dataset(task, SIZES, tmp_path / "raven", file_format="arrow")
    assert faults(tmp_path / "raven") == []


@pytest.mark.parametrize(
    "name", ["README.md", "croissant.json", "manifest.json", "M3-K7/ood-00000-of-00001.parquet"]
)
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_flipped_bit_is_found(copy, name, place):
    path = copy / name
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)
    try:
        assert faults(copy)
    except (OutputError, ConfigurationError):
        assert name == "manifest.json"


def test_missing_and_truncated_files_are_found(copy):
    shard = copy / "M3-K7" / "test-00000-of-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-10])
    (copy / "M3-K7" / "ood-00000-of-00001.parquet").unlink()
    (copy / "croissant.json").unlink()
    found = "\n".join(faults(copy))
    assert "ood-00000-of-00001.parquet: the file is missing" in found
    assert "test-00000-of-00001.parquet: it isn't as PyArrow" in found and "no whole Parquet file" in found
    assert "croissant.json" in found


def replace_column(directory, task, split, name, change, forge):
    """Rewrite a shard with another column; if ``forge``, make checksums and texts fit again."""
    path = directory / task.config_name / f"{split}-00000-of-00001.parquet"
    arrays = from_table(pq.read_table(path), task.columns)
    values = arrays[name].copy().reshape(-1)
    change(values)
    arrays[name] = values.reshape(arrays[name].shape)
    write_rows(path, arrays, task)
    if forge:
        reseal(directory, task)


def add_one(values):
    values[41] += 1


def swap(values):
    values[[0, 1]] = values[[1, 0]]


def other_combination(values):
    values[5] = next(iter(set(range(values.max())) - set(values.tolist())))


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("num_answers", add_one, "num_answers isn't the number of answers (rows: 1; first index: 41)"),
        ("index", swap, "index isn't 0 to 502"),
        ("combination", other_combination, "combination isn't one of split ood"),
        ("rules", add_one, "rules differ from the combination"),
        ("permutations", add_one, "permutations are none"),
        (
            "context",
            lambda values: values.__setitem__(3, 7),
            "a symbol is out of range (rows: 1; first index: 0)",
        ),
        (
            "target",
            lambda values: values.__setitem__(9, (values[9] + 1) % 7),
            "a row doesn't follow its rule (rows: 1; first index: 3)",
        ),
    ],
)
def test_changed_value_is_found_even_if_all_checksums_are_forged(copy, task, column, change, message):
    replace_column(copy, task, "ood", column, change, forge=True)
    found = faults(copy)
    assert any(message in fault for fault in found), found


def test_values_of_another_seed_differ_from_the_generators(copy, task, tmp_path):
    other = SRAVEN(M=3, K=7, holdout=0.3, seed=6)
    batch = other.sample("all", 0, 50_000)
    known = np.isin(batch.combination, task.combination_indices("ood"))
    rows = np.flatnonzero(known)[: SIZES["ood"]]
    for name in ("context", "target", "rules", "permutations", "combination"):
        wanted = getattr(batch, name)[rows].reshape(-1)
        replace_column(
            copy,
            task,
            "ood",
            name,
            lambda values, wanted=wanted: values.__setitem__(slice(None), wanted),
            forge=True,
        )
    assert any("context differs from the generator's" in fault for fault in faults(copy))


def test_other_schema_is_found(copy):
    path = copy / "M3-K7" / "ood-00000-of-00001.parquet"
    table = pq.read_table(path)
    changed = table.set_column(0, "index", table.column("index").cast(pa.int32()))
    with FORMATS["parquet"](path, changed.schema) as writer:
        writer.write_table(changed)
    assert any("its schema or its metadata isn't" in fault for fault in faults(copy))


def test_link_in_place_of_a_shard_is_refused(copy):
    path = copy / "M3-K7" / "ood-00000-of-00001.parquet"
    path.rename(copy / "elsewhere")
    path.symlink_to(copy / "elsewhere")
    assert any("it is a link" in fault for fault in faults(copy))


def test_directory_without_manifest_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"no manifest\.json"):
        faults(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "chess"}, "task='chess'"),
        ({"version": "0"}, "version='0'"),
        ({"M": 99}, "M=99"),
        ({"depth": 1}, "configuration"),
    ],
)
def test_manifest_of_no_known_task_is_refused(copy, change, message):
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["config"] |= change
    write_json(copy / "manifest.json", manifest)
    with pytest.raises(ConfigurationError, match=message):
        faults(copy)


def test_equal_instances_of_two_splits_are_counted(tmp_path):
    write_dataset(SRAVEN(M=1, K=3, holdout=0), {"train": 5_000, "test": 700}, tmp_path / "tiny")
    report = verify_dataset(tmp_path / "tiny", make_task)
    assert report.faults == []
    assert report.shared["train, test"] > 100  # with K=3 there are only so many instances


def test_fingerprints_are_those_of_fnv_1a():
    text = np.frombuffer(b"foobar", np.uint8)[None]
    assert fingerprints([text[:, :2], text[:, 2:]]).tolist() == [0x85944171F73967E8]


def test_verifying_writes_nothing(copy):
    before = all_bytes(copy)
    faults(copy)
    assert all_bytes(copy) == before


# A manifest that lies, with card and Croissant file to match


def claim_no_ambiguity(manifest):
    for split in manifest["splits"].values():
        split["tallies"]["unique"] = split["tallies"]["instances"]


def claim_more_instances(manifest):
    manifest["splits"]["train"]["num_examples"] = 10**6


def drop_a_split(manifest):
    del manifest["splits"]["ood"]


def list_a_shard_twice(manifest):
    manifest["splits"]["ood"]["shards"] *= 2


def lead_elsewhere(manifest):
    shard = manifest["splits"]["ood"]["shards"][0]
    shard["path"] = "../elsewhere/" + shard["path"]


def claim_another_digest(manifest):
    manifest["splits"]["ood"]["digest"] = 64 * "0"


def rename_a_column(manifest):
    manifest["columns"][1]["meaning"] = "all the answers"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (claim_no_ambiguity, "splits.train.tallies.unique"),
        (claim_more_instances, "splits.train.num_examples"),
        (drop_a_split, "splits.ood"),
        (list_a_shard_twice, "splits.ood.shards"),
        (lead_elsewhere, "splits.ood.shards[0].path"),
        (claim_another_digest, "splits.ood.digest"),
        (rename_a_column, "columns[1].meaning"),
    ],
)
def test_false_claims_of_a_manifest_are_found(copy, task, change, place):
    reseal(copy, task, change)
    assert any(place in fault for fault in faults(copy)), faults(copy)


def test_files_that_the_manifest_does_not_list_are_found(copy):
    folder = copy / "M3-K7"
    shutil.copy(folder / "ood-00000-of-00001.parquet", folder / "train-00001-of-00001.parquet")
    assert faults(copy) == ["M3-K7/train-00001-of-00001.parquet: is no part of the dataset; remove it"]


def test_folder_that_is_a_link_is_refused(copy):
    (copy / "M3-K7").rename(copy.parent / "elsewhere")
    (copy / "M3-K7").symlink_to(copy.parent / "elsewhere")
    assert any("it is a link" in fault for fault in faults(copy))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "[" * 100_000, '{"layout": 1}', "null"],
)
def test_what_is_no_manifest_is_one_clear_error(copy, text):
    (copy / "manifest.json").write_text(text)
    with pytest.raises(OutputError, match="manifest"):
        faults(copy)


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": [1]},
        {"sizes": {"train": "x"}},
        {"sizes": {"dev": 5}},
        {"splits": []},
        {"splits": {"train": {"shards": [{}]}}},
        {"columns": 5},
        {"config": None},
        {"config": [1]},
        {"config": {"task": ["sraven"]}},
        {"file_format": []},
        {"file_format": "zip"},
        {"config_name": "../x"},
        {"pyarrow": 7},
    ],
)
def test_manifest_of_wrong_types_never_ends_in_a_traceback(copy, change):
    manifest = json.loads((copy / "manifest.json").read_text()) | change
    write_json(copy / "manifest.json", manifest)
    with suppress(OutputError, ConfigurationError):
        assert faults(copy)
