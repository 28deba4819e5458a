"""Parquet files of predictions: any way of writing them, and no other tables, types or numbers."""

import re
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from helpers.parquet_forgery import (
    change_metadata,
    levels,
    page,
    put_together,
    replace_pages,
    run,
    take_apart,
)
from helpers.submissions import lists, parquet, predictions_file
from helpers.untrusted import NUMBER, PANEL, PANELS, RIGHT, decoded, refusal
from sraven import SubmissionError
from sraven.files.untrusted import decode_predictions, most_bytes


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


BILLION = 10**9
COUNT = np.arange(20)
WIDE = np.zeros((20, 3), np.uint8)
FAULTS = {
    "index of 32 bits": (table(COUNT.astype(np.int32), lists(WIDE)), "has index of type int32; expected"),
    "symbols of 16 bits": (table(COUNT, lists(WIDE.astype(np.uint16))), "has prediction of type"),
    "longer lists": (table(COUNT, lists(np.zeros((20, 4), np.uint8))), "[4]; expected fixed-size list of 3"),
    "lists of any length": (table(COUNT, pa.array(WIDE.tolist(), pa.list_(pa.uint8()))), "of type list<elem"),
    "numbers": (table(COUNT, COUNT.astype(np.uint8)), "has prediction of type uint8; expected fixed-size"),
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
    "bytes of a column": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 6], BILLION)), "bytes of data; expected"),
    "less than no rows": (change_metadata(RIGHT, ([3], -5)), "declares -5 rows, and 20 in its row groups"),
    "fewer rows than there are": (change_metadata(RIGHT, ([3], 3)), "declares 3 rows, and 20 in its row "),
    "many row groups": (predictions_file(np.zeros((257, 3), np.uint8), row_group_size=1), "257 row groups; "),
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


# Files that lie: refused, in bounded memory


def with_nested_schema(depth):
    """Return a file whose schema has groups in groups."""
    body, metadata = take_apart(RIGHT)
    root, index, *_ = metadata[2][1][1]
    groups = [{3: (5, 1), 4: (8, b"g"), 5: (5, 1)} for _ in range(depth)]
    metadata[2] = (9, (12, [root, index, *groups, {1: (5, 1), 3: (5, 1), 4: (8, b"leaf")}]))
    metadata.pop(7)
    return put_together(body, metadata)


def long_run(count):
    """Return a file whose index column has a dictionary and says one of its values many times."""
    return replace_pages(
        RIGHT,
        0,
        page(2, struct.pack("<q", 0), 1),
        page(0, levels(run(count, 1)) + b"\1" + run(count, 0), count, encoding=8),
        count,
    )


def long_list(count):
    """Return a file whose first prediction has many symbols."""
    repeated = levels(run(1, 0), run(count - 1, 1))
    return replace_pages(
        RIGHT,
        1,
        page(2, struct.pack("<i", 0), 1),
        page(0, repeated + levels(run(count, 3)) + b"\1" + run(count, 0), count, encoding=8),
        count,
    )


def large_page(size, codec):
    """Return a file with a page that says to become so many bytes."""
    return replace_pages(RIGHT, 0, b"", page(0, bytes(100), 20, uncompressed=size), 20, codec)


MEMORY = "needs more memory to decode than such a file should"
BOMBS = {
    "rows in the metadata": (change_metadata(RIGHT, ([3], BILLION)), "declares 1,000,000,000 rows"),
    "rows of the group": (change_metadata(RIGHT, ([4, 0, 3], BILLION)), "declares 20 rows, and"),
    "a run of values": (change_metadata(long_run(BILLION), ([4, 0, 3], BILLION)), "in its row groups"),
    "a list of many symbols": (long_list(10**7), ""),
    "a page of 2 GB, Zstandard": (large_page(2**31 - 1, 6), MEMORY),
    "a page of 2 GB, gzip": (large_page(2**31 - 1, 2), MEMORY),
    "a page of less than nothing": (large_page(-1, 6), ""),
    "values of the dictionary": (replace_pages(RIGHT, 0, page(2, bytes(8), 2**31 - 1), b"", 20), ""),
    "pages beyond the file": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 11], BILLION)), ""),
    "a column of 2 GB": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 7], 2**31 - 1)), ""),
    "pages before the file": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 11], -1)), ""),
    "groups in groups": (with_nested_schema(50_000), ""),
    "metadata beyond the file": (RIGHT[:-8] + struct.pack("<I", 2**32 - 1) + b"PAR1", ""),
    "the end cut off": (RIGHT[:-20], ""),
    "a file of Arrow": (b"ARROW1\0\0" + bytes(50) + b"ARROW1", ""),
}


@pytest.mark.parametrize(("data", "message"), BOMBS.values(), ids=BOMBS)
def test_files_that_lie_are_refused(data, message):
    assert len(data) < most_bytes(20, PANEL)
    found = refusal(decode_predictions, {"p/x.parquet": (data, 20)}, PANEL)
    assert found.startswith("p/x.parquet: ") and message in found


def test_values_beyond_the_declared_rows_change_nothing():
    """The group says that it has twenty rows; what its page has besides isn't read, or is refused."""
    try:
        index, panels = decode_predictions({"x": (long_run(BILLION), 20)}, PANEL)["x"]
    except SubmissionError:
        return
    assert index.tolist() == [0] * 20 and np.array_equal(panels, PANELS)


def test_file_on_which_the_decoder_aborts_is_a_refusal():
    """A level histogram that doesn't fit the schema is a C++ exception that pyarrow 26 doesn't catch."""
    data = change_metadata(RIGHT, ([2, 1, 3], 0))
    try:
        index, _ = decode_predictions({"x": (data, 20)}, PANEL)["x"]
    except SubmissionError as error:
        index = np.zeros(len(str(error).splitlines()))
    assert len(index) in (1, 20)
