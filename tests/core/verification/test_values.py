"""Parquet files of another version of the writer: their values are compared, whatever their bytes are."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from fuzzylogic import FuzzyLogic
from helpers.example import SIZES
from helpers.parquet_forgery import page, replace_pages
from helpers.resealing import name_another_writer, reseal, write_rows
from sraven import to_numpy
from sraven.core.dataset.write import write_dataset
from sraven.core.tasks.families import rows_of
from sraven.core.tasks.table import arrow_schema
from sraven.core.verification.shards import compare_values
from sraven.core.verification.verify import verify_dataset

OOD = "M3-K7/ood-00000-of-00001.parquet"


def rewrite(directory, task, **options):
    """Write the files as a writer with other habits than ours does."""
    for path in directory.glob("*/*.parquet"):
        table = pq.read_table(path).cast(arrow_schema(rows_of(task).columns))
        pq.write_table(table, path, **{"compression": "zstd", **options})


WAYS = {
    "as they are": {},
    "compression": {"compression": "snappy"},
    "pages": {"data_page_size": 700, "data_page_version": "2.0"},
    "groups": {"row_group_size": 50},
    "dictionaries": {"use_dictionary": False},
}


@pytest.mark.parametrize("way", WAYS)
def test_what_other_versions_write_is_right_by_its_values(copy, task, way):
    rewrite(copy, task, **WAYS[way])
    reseal(copy, task, name_another_writer)
    report = verify_dataset(copy)
    assert (report.faults, report.files) == ([], {"bytes": 0, "values": 3})
    assert report.checked == SIZES


def test_other_bytes_of_the_installed_version_are_refused(copy, task):
    rewrite(copy, task, **WAYS["pages"])
    reseal(copy, task)
    assert any(fault.startswith(f"{OOD}: its bytes aren't those") for fault in verify_dataset(copy).faults)


def test_floats_of_other_versions_are_right_by_their_values(tmp_path):
    task = FuzzyLogic(N=3)
    write_dataset(task, {"train": 90, "ood": 40}, tmp_path / "data")
    rewrite(tmp_path / "data", task)
    reseal(tmp_path / "data", task, name_another_writer)
    report = verify_dataset(tmp_path / "data")
    assert (report.faults, report.files) == ([], {"bytes": 0, "values": 2})


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
        (change("permutations", 41, lambda v: v[41] + 1), "permutations are none"),
        (change("context", 3, lambda v: 7), "a symbol is out of range (rows: 1; first index: 0)"),
        (change("target", 9, lambda v: (v[9] + 1) % 7), "a row doesn't follow its rule (rows: 1; first"),
    ],
)
def test_changed_value_is_found_though_all_checksums_are_forged(copy, task, changed, message):
    write_rows(copy / OOD, changed(to_numpy(pq.read_table(copy / OOD))), task)
    reseal(copy, task, name_another_writer)
    found = verify_dataset(copy).faults
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
    drawn = rows_of(task).encode("ood", 0, 50, 1).columns
    zero, negative = ({**drawn, "targets": sign * np.zeros_like(drawn["targets"])} for sign in (1.0, -1.0))
    assert compare_values(rows_of(task), "ood", zero, zero) == []
    faults = compare_values(rows_of(task), "ood", negative, zero)
    assert "targets differs from the generator's (rows: 50; first index: 0)" in faults
