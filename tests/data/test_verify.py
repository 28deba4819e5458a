"""`sraven verify` finds what was changed, wherever it was changed."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from fuzzylogic import FuzzyLogic
from helpers.example import SIZES, all_bytes
from helpers.parquet_forgery import page, replace_pages
from helpers.resealing import flipped, name_another_writer, reseal
from sraven import SRAVEN, ConfigurationError, OutputError
from sraven.data.files import DOWNLOADED, check_text
from sraven.data.leaks import fingerprints
from sraven.data.shard_check import compare_values
from sraven.data.verify import verify_dataset
from sraven.data.write import write_dataset
from sraven.files.table import arrow_schema


def test_right_dataset_has_no_fault_and_stays_as_it_is(dataset_directory):
    before, seen = all_bytes(dataset_directory), []
    report = verify_dataset(dataset_directory, progress=seen.append)
    assert report.faults == [] and report.files == {"bytes": 3, "values": 0}
    assert report.checked == SIZES and sum(seen) == sum(SIZES.values())
    assert report.reviewed == {split: -(-size // 16) for split, size in SIZES.items()}
    assert set(report.shared) == {"train, test", "train, ood", "test, ood"}
    assert verify_dataset(dataset_directory, thorough=True).reviewed == SIZES
    assert all_bytes(dataset_directory) == before


@pytest.mark.parametrize(
    "name", ["README.md", "croissant.json", "manifest.json", "M3-K7/ood-00000-of-00001.parquet"]
)
def test_flipped_bit_is_found(copy, name):
    (copy / name).write_bytes(flipped((copy / name).read_bytes()))
    try:
        assert verify_dataset(copy).faults
    except (OutputError, ConfigurationError):
        assert name == "manifest.json"


def test_missing_and_truncated_files_are_found(copy):
    shard = copy / "M3-K7" / "test-00000-of-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-10])
    (copy / "M3-K7" / "ood-00000-of-00001.parquet").unlink()
    (copy / "croissant.json").unlink()
    found = "\n".join(verify_dataset(copy).faults)
    for fault in ("ood-00000-of-00001.parquet: the file is missing", "croissant.json: the file is missing"):
        assert fault in found
    assert "test-00000-of-00001.parquet: its bytes aren't those" in found


def test_what_a_download_leaves_is_named_as_what_it_is(copy):
    """And left out of account, if that is asked for."""
    (copy / ".cache" / "huggingface").mkdir(parents=True)
    (copy / ".DS_Store").touch()
    faults = verify_dataset(copy).faults
    assert len(faults) == 2 and all("is what a download leaves; --downloaded" in fault for fault in faults)
    assert verify_dataset(copy, ignored=DOWNLOADED).faults == []
    card = (copy / "README.md").read_text()
    (copy / "README.md").write_bytes(card.replace("\n", "\r\n").encode())
    [fault] = check_text(copy, "README.md", card, "the manifest makes")
    assert "its lines end in CRLF" in fault
    shard = next(copy.rglob("*test*.parquet"))
    shard.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    assert any("is a pointer of Git LFS" in fault for fault in verify_dataset(copy).faults)


def test_equal_instances_of_two_splits_are_counted(tmp_path):
    write_dataset(SRAVEN(M=1, K=3, holdout=0), {"train": 5_000, "test": 700}, tmp_path / "tiny")
    report = verify_dataset(tmp_path / "tiny")
    assert report.faults == []
    assert report.shared["train, test"] > 100  # with K=3 there are only so many instances


def test_fingerprints_are_those_of_fnv_1a():
    text = np.frombuffer(b"foobar", np.uint8)[None]
    assert fingerprints([text[:, :2], text[:, 2:]]).tolist() == [0x85944171F73967E8]


# A manifest that lies, with card and Croissant file to match


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (["splits", "train", "tallies", "unique"], lambda counts: [*counts[:-1], 7]),
        (["splits", "train", "num_examples"], lambda count: 10**6),
        (["splits", "ood"], None),
        (["splits", "ood", "shards", 0, "path"], lambda path: f"../elsewhere/{path}"),
        (["columns", 1, "meaning"], lambda meaning: "all the answers"),
    ],
)
def test_false_claims_of_a_manifest_are_found(copy, task, way, value):
    def change(manifest):
        for name in way[:-1]:
            manifest = manifest[name]
        old = manifest.pop(way[-1])
        if value:
            manifest[way[-1]] = value(old)

    reseal(copy, task, change)
    place = "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in way)[1:]
    found = verify_dataset(copy).faults
    assert any(place in fault for fault in found), found


# Files of another version of the writer: their values are compared


OOD = "M3-K7/ood-00000-of-00001.parquet"


def rewrite(directory, task, **options):
    """Write the files as a writer with other habits than ours does."""
    for path in directory.glob("*/*.parquet"):
        table = pq.read_table(path).cast(arrow_schema(task.rows.columns))
        pq.write_table(table, path, **{"compression": "zstd", **options})


OTHER_HABITS = {
    "compression": "snappy",
    "data_page_size": 700,
    "data_page_version": "2.0",
    "row_group_size": 50,
    "use_dictionary": False,
}


@pytest.mark.parametrize("options", [{}, OTHER_HABITS])
def test_what_other_versions_write_is_right_by_its_values(copy, task, options):
    rewrite(copy, task, **options)
    reseal(copy, task, name_another_writer)
    report = verify_dataset(copy)
    assert (report.faults, report.files) == ([], {"bytes": 0, "values": 3})
    assert report.checked == SIZES


def test_other_bytes_of_the_installed_version_are_refused(copy, task):
    rewrite(copy, task, data_page_size=700)
    reseal(copy, task)
    assert any(fault.startswith(f"{OOD}: its bytes aren't those") for fault in verify_dataset(copy).faults)


def change(column, place, value):
    """Return what changes a number of a column: to one that it is given."""

    def changed(arrays):
        values = arrays[column].copy().reshape(-1)
        values[place] = value(values)
        return arrays | {column: values.reshape(arrays[column].shape)}

    return changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (change("num_answers", 41, lambda v: v[41] + 1), "num_answers isn't the number of answers (rows: 1;"),
        (change("index", [0, 1], lambda v: v[[1, 0]]), "index isn't 0 to 502"),
        (change("combination", 5, lambda v: min({*range(v.max())} - {*v.tolist()})), "combination isn't"),
        (change("rules", 41, lambda v: v[41] + 1), "rules differ from the combination"),
        (change("permutations", 41, lambda v: v[41] + 1), "permutations don't list each feature once"),
        (change("context", 3, lambda v: 7), "a symbol is out of range (rows: 1; first index: 0)"),
        (change("target", 9, lambda v: (v[9] + 1) % 7), "a row doesn't follow its rule (rows: 1; first"),
    ],
)
def test_changed_values_are_named(task, changed, message):
    drawn = task.rows.encode("ood", 0, SIZES["ood"], 1).columns
    found = compare_values(task.rows, "ood", changed(drawn), drawn)
    assert any(message in fault for fault in found), found


def test_page_that_says_to_be_large_is_one_fault_and_no_crash(copy, task):
    data = replace_pages(
        (copy / OOD).read_bytes(), 0, b"", page(0, bytes(100), 503, uncompressed=2**31 - 1), 503, 6
    )
    (copy / OOD).write_bytes(data)
    reseal(copy, task, name_another_writer)
    (fault,) = (fault for fault in verify_dataset(copy).faults if fault.startswith(OOD))
    assert fault.isprintable() and "memory" in fault


def test_zeros_of_the_other_sign_are_other_values():
    task = FuzzyLogic(N=3)
    drawn = task.rows.encode("ood", 0, 50, 1).columns
    zero, negative = ({**drawn, "targets": sign * np.zeros_like(drawn["targets"])} for sign in (1.0, -1.0))
    assert compare_values(task.rows, "ood", zero, zero) == []
    faults = compare_values(task.rows, "ood", negative, zero)
    assert "targets differs from the generator's (rows: 50; first index: 0)" in faults
