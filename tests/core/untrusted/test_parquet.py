"""Parquet files of predictions: any way of writing them, and no other tables, types or numbers."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.submissions import lists, parquet, predictions_file
from helpers.untrusted import NUMBER, PANELS, decoded


@given(
    st.permutations(range(20)).flatmap(lambda order: st.integers(0, 20).map(lambda count: order[:count])),
    st.sampled_from(["none", "snappy", "gzip", "brotli", "lz4", "zstd"]),
    st.integers(1, 25),
    st.sampled_from(["1.0", "2.0"]),
    st.booleans(),
)
def test_any_way_of_writing_them_gives_the_same_predictions(order, compression, group, version, dictionary):
    options = {
        "compression": compression,
        "row_group_size": group,
        "data_page_version": version,
        "use_dictionary": dictionary,
    }
    index, panels = decoded(predictions_file(PANELS[order], order, **options))
    assert index.dtype == np.int64 and index.tolist() == list(order)
    assert panels.dtype == np.uint8 and np.array_equal(panels.reshape(-1, 3), PANELS[order])
    numbers = PANELS[:, 0].astype(np.float32) / 3
    index, found = decoded(predictions_file(numbers[order], order, **options), NUMBER)
    assert index.tolist() == list(order) and found.dtype == np.float32
    assert np.array_equal(found, numbers[order])


def table(index, prediction, **rest):
    return parquet({"index": index, "prediction": prediction, **rest})


COUNT = np.arange(20)
WIDE = np.zeros((20, 3), np.uint8)
FAULTS = {
    "index of 32 bits": (table(COUNT.astype(np.int32), lists(WIDE)), "has index of type int32; expected"),
    "unsigned index": (table(COUNT.astype(np.uint64), lists(WIDE)), "has index of type uint64"),
    "float index": (table(COUNT.astype(float), lists(WIDE)), "has index of type double"),
    "text index": (table(pa.array(["a"] * 20), lists(WIDE)), "has index of type string"),
    "symbols of 16 bits": (table(COUNT, lists(WIDE.astype(np.uint16))), "has prediction of type"),
    "signed symbols": (table(COUNT, lists(WIDE.astype(np.int8))), "expected fixed-size list of 3 uint8"),
    "float symbols": (table(COUNT, lists(WIDE.astype(np.float32))), "expected fixed-size list of 3 uint8"),
    "true or false": (table(COUNT, lists(WIDE.astype(bool))), "expected fixed-size list of 3 uint8"),
    "longer lists": (table(COUNT, lists(np.zeros((20, 4), np.uint8))), "[4]; expected fixed-size list of 3"),
    "lists of any length": (
        table(COUNT, pa.array(WIDE.tolist(), pa.list_(pa.uint8()))),
        "has prediction of type list<element: uint8>",
    ),
    "large lists": (table(COUNT, pa.array(WIDE.tolist(), pa.large_list(pa.uint8()))), "of type large_list<"),
    "lists of lists": (table(COUNT, pa.array([[[1]]] * 20)), "has prediction of type list<"),
    "structs": (table(COUNT, pa.array([{"a": 1}] * 20)), "has prediction of type struct<"),
    "numbers": (table(COUNT, COUNT.astype(np.uint8)), "has prediction of type uint8; expected fixed-size"),
    "text": (table(COUNT, pa.array(["[1, 2, 3]"] * 20)), "has prediction of type string"),
    "a dictionary": (table(COUNT, pa.array(["a"] * 20).dictionary_encode()), "of type dictionary<"),
    "other names": (parquet({"i": COUNT, "p": lists(WIDE)}), "has the columns 'i', 'p'; expected index"),
    "other order": (parquet({"prediction": lists(WIDE), "index": COUNT}), "has the columns 'prediction'"),
    "one column": (parquet({"index": COUNT}), "has the columns 'index'; expected index, prediction"),
    "no column": (parquet({}), "has the columns ; expected index, prediction"),
    "extra column": (table(COUNT, lists(WIDE), label=lists(WIDE)), "columns 'index', 'prediction', 'label'"),
    "hundred columns": (parquet({f"\x1b{n}": COUNT for n in range(100)}), "'\\x1b0', '\\x1b1'"),
    "a row more": (predictions_file(np.zeros((21, 3), np.uint8)), "declares 21 rows; the split has 20"),
    "no index": (table(pa.array([1, 2, None]), lists(WIDE[:3])), "row 2: index is missing"),
    "no prediction": (
        table(COUNT[:2], pa.array([[1, 2, 3], None], pa.list_(pa.uint8(), 3))),
        "row 1: prediction is missing",
    ),
    "a symbol missing": (
        table(COUNT[:2], pa.array([[1, 2, 3], [1, None, 3]], pa.list_(pa.uint8(), 3))),
        "has a prediction with missing entries",
    ),
    "many row groups": (
        predictions_file(np.zeros((257, 3), np.uint8), row_group_size=1),
        "has 257 row groups; expected 256 or fewer",
    ),
}


@pytest.mark.parametrize(("data", "message"), FAULTS.values(), ids=FAULTS)
def test_other_tables_are_refused(data, message):
    rows = 300 if "row groups" in message else 20
    with pytest.raises(ValueError, match=re.escape(message)):
        decoded(data, rows=rows)


@pytest.mark.parametrize("numbers", [np.float64, np.float16, np.int32])
def test_other_numbers_are_refused(numbers):
    with pytest.raises(ValueError, match=r"has prediction of type .*; expected float32"):
        decoded(predictions_file(COUNT.astype(numbers)), NUMBER)
