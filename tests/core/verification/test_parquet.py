"""Parquet files of other versions of the writer are right, or they are refused."""

import random
import struct
from io import BytesIO

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzzylogic import FuzzyLogic
from helpers.parquet_forgery import (
    FALSE,
    I32,
    STRUCT,
    change_metadata,
    levels,
    page,
    put_together,
    replace_pages,
    run,
    take_apart,
    varint,
    write_struct,
)
from sraven import SRAVEN
from sraven.core.dataset.formats import FORMATS
from sraven.core.tasks.table import arrow_schema, to_table
from sraven.core.tasks.task import Encoded
from sraven.core.verification.parquet.pages import decode_runs
from sraven.core.verification.parquet.thrift import read_struct
from sraven.core.verification.shard_files import read_parquet
from sraven.core.verification.shards import compare_values

TASKS = {"sraven": SRAVEN(M=3, K=7), "fuzzylogic": FuzzyLogic(N=3)}
COUNTS = [3_000, 700]
OTHER = "21.0.0"
"""A version of PyArrow that isn't installed."""


def rows(task, counts=COUNTS):
    """Return row groups as arrays."""
    starts = np.cumsum([0, *counts])
    return [
        task.encode("ood", int(start), count, 1).columns for start, count in zip(starts, counts, strict=False)
    ]


def write(task, groups, **options):
    """Return a file as a writer with other habits than ours makes it, but of the same kind."""
    sink = pa.BufferOutputStream()
    settings = {"compression": "zstd", "write_page_index": True, **options}
    with pq.ParquetWriter(sink, arrow_schema(task.columns), **settings) as writer:
        for arrays in groups:
            writer.write_table(to_table(arrays, task.columns))
    return sign(sink.getvalue().to_pybytes())


def sign(data, version=OTHER):
    """Say that another version wrote a file."""
    return change_metadata(data, ([6], f"parquet-cpp-arrow version {version}".encode()))


def read(data, task, counts=COUNTS):
    return [*read_parquet(data, task.columns, counts, OTHER)]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(
    "options",
    [
        {"use_content_defined_chunking": True},
        {"data_page_size": 700},
        {"compression_level": 19},
        {"compression_level": -5},
        {"use_dictionary": False},
        {"dictionary_pagesize_limit": 900},
        {"write_batch_size": 17},
        {"use_dictionary": False, "use_byte_stream_split": ["targets.list.element"]},
    ],
    ids=str,
)
def test_what_other_versions_write_is_read(name, options):
    task = TASKS[name]
    if "use_byte_stream_split" in options and name != "fuzzylogic":
        options = {"column_encoding": {"num_answers": "BYTE_STREAM_SPLIT"}, "use_dictionary": False}
    groups = rows(task)
    found = read(write(task, groups, **options), task)
    for arrays, expected in zip(found, groups, strict=True):
        assert arrays.keys() == expected.keys()
        for column, values in expected.items():
            assert arrays[column].dtype == values.dtype
            np.testing.assert_array_equal(arrays[column], values)


@pytest.mark.parametrize("name", TASKS)
def test_flipped_bits_are_refused_or_read_alike(name):
    task, counts = TASKS[name], [40]
    sink = pa.BufferOutputStream()
    with FORMATS["parquet"](sink, arrow_schema(task.columns)) as writer:
        writer.write_table(to_table(rows(task, counts)[0], task.columns))
    data = sign(sink.getvalue().to_pybytes())
    read(data, task, counts)
    draw, refused = random.Random(5), 0
    for place in draw.sample(range(len(data)), 300):
        flipped = bytearray(data)
        flipped[place] ^= 1 << draw.randrange(8)
        try:
            (arrays,) = read(bytes(flipped), task, counts)
        except ValueError:
            refused += 1
            continue
        for few in (40, 9):
            found = pl.scan_parquet(BytesIO(flipped)).filter(pl.col("index") < few).collect()
            few_rows = arrays["index"] < few
            for column, values in arrays.items():
                np.testing.assert_array_equal(
                    found[column].to_numpy().reshape(-1), values[few_rows].reshape(-1), column
                )
    assert refused > 150  # the rest changes values, which verify compares, or only how they are packed


def zstd(payload):
    return pa.Codec("zstd").compress(payload, asbytes=True)


def with_target_pages(change):
    """Return a file of six rows whose column of targets has other pages."""
    task = TASKS["sraven"]
    (group,) = rows(task, [6])
    target = group["target"].reshape(-1).astype("<i4")
    whole = levels(*[run(1, 0) + run(2, 1)] * 6) + levels(run(18, 3)) + target.tobytes()
    data = write(task, [group], use_dictionary=False)
    dictionary, pages = change(whole, target)
    return replace_pages(data, 2, dictionary, pages, 18, codec=6)


def data_page(raw, **options):
    return page(0, zstd(raw), 18, uncompressed=len(raw), **options)


def looked_up(whole, target, entries):
    """Return a dictionary page and a data page that says zero to everything."""
    numbers = bytes([2]) + varint(18 << 1) + b"\0"
    body = whole[: -4 * 18] + numbers
    table = np.array(entries, "<i4").tobytes()
    packed, own = zstd(table), {1: (I32, len(entries)), 2: (I32, 0), 3: (FALSE, False)}
    header = {1: (I32, 2), 2: (I32, len(table)), 3: (I32, len(packed)), 7: (STRUCT, own)}
    return write_struct(header) + packed, data_page(body, encoding=8)


PAGES = {
    "as they are": (lambda whole, target: (b"", data_page(whole)), "column target"),
    "wrapped": (
        lambda whole, target: (b"", data_page(whole[: -4 * 18] + (target + 256).tobytes())),
        "the statistics|beyond uint8",
    ),
    "longer": (lambda whole, target: (b"", data_page(whole + b"\0\0\0\0")), "isn't as long"),
    "missing value": (
        lambda whole, target: (
            b"",
            data_page(
                levels(*[run(1, 0) + run(2, 1)] * 6) + levels(run(17, 3), run(1, 2)) + target.tobytes()
            ),
        ),
        "levels of missing values",
    ),
    "other lists": (
        lambda whole, target: (
            b"",
            data_page(levels(run(1, 0), run(17, 1)) + levels(run(18, 3)) + target.tobytes()),
        ),
        "lists of other sizes",
    ),
    "runs too long": (
        lambda whole, target: (
            b"",
            data_page(levels(*[run(1, 0) + run(2, 1)] * 6, run(1, 0)) + whole[-4 * 18 - 6 :]),
        ),
        "runs that",
    ),
    "hidden frame": (
        lambda whole, target: (
            b"",
            page(
                0,
                zstd(whole) + b"\x50\x2a\x4d\x18" + struct.pack("<I", 900) + bytes(900),
                18,
                uncompressed=len(whole),
            ),
        ),
        "one Zstandard frame",
    ),
    "bomb": (
        lambda whole, target: (b"", page(0, zstd(bytes(1 << 20)), 18, uncompressed=1 << 20)),
        "larger than",
    ),
    "bomb that lies": (
        lambda whole, target: (b"", page(0, zstd(bytes(1 << 20)), 18, uncompressed=100)),
        "decompressed",
    ),
    "shorter than it says": (
        lambda whole, target: (b"", page(0, zstd(whole), 18, uncompressed=len(whole) + 1)),
        "decompressed",
    ),
    "dictionary too short": (lambda whole, target: looked_up(whole, target, []), "a header"),
    "words nobody asks for": (
        lambda whole, target: looked_up(whole, target, [1, 2, 3, 4]),
        "a dictionary of other",
    ),
}


@pytest.mark.parametrize("kind", PAGES)
def test_pages_that_the_writer_does_not_write_are_refused(kind):
    change, message = PAGES[kind]
    # Nothing else that describes the pages fits, so even the pages as they are end in an error, later.
    with pytest.raises(ValueError, match=message):
        read(with_target_pages(change), TASKS["sraven"], [6])


def test_bytes_that_nothing_leads_to_are_refused():
    task = TASKS["sraven"]
    body, metadata = take_apart(write(task, rows(task)))
    with pytest.raises(ValueError, match="belongs to nothing"):
        read(put_together(body + b"hidden", metadata), task)


@pytest.mark.parametrize(
    ("data", "bits", "count", "expected"),
    [
        ([5 << 1, 3], 2, 5, [3] * 5),
        ([3, 0b10001000, 0b11000110, 0b11111010], 3, 8, [0, 1, 2, 3, 4, 5, 6, 7]),  # Parquet's own example
        ([3, 0b00001001], 1, 4, [1, 0, 0, 1]),
        ([2 << 1, 1, 3, 0b01], 1, 10, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]),
        ([2 << 1, 1, 0x34, 0x12], 16, 0, None),
        ([1 << 1, 0x34, 0x12], 16, 1, [0x1234]),
        ([5 << 1, 3], 2, 4, None),
        ([5 << 1, 3], 2, 6, None),
        ([5 << 1, 4], 2, 5, None),
        ([5 << 1], 2, 5, None),
        ([3, 0b00011001], 1, 4, None),
        ([3], 1, 8, None),
        ([0, 0, 2 << 1, 1], 1, 2, None),
        ([0x84, 0x00, 1], 1, 2, None),
        ([0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 1], 1, 2, None),
        ([], 1, 1, None),
        ([], 1, 0, []),
        ([3 << 1], 0, 3, [0, 0, 0]),
    ],
)
def test_runs_are_decoded_to_the_letter(data, bits, count, expected):
    out = np.zeros(count, np.int64)
    assert decode_runs(np.array(data, np.uint8), bits, out) == (expected is not None)
    if expected is not None:
        assert out.tolist() == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",
        b"\x15\x80\x00\x00",  # a number with a leading zero
        b"\x05\x04\x02\x00",  # a number of a field in the long form
        b"\x15\x02\x05\x02\x04\x00",  # a field twice
        b"\x1c" * 30 + b"\x00" * 31,
        b"\x19\xf5\xff\xff\xff\xff\x0f\x00",  # a list of four thousand million
        b"\x18\xff\xff\xff\xff\x0f\x00",  # a text of four thousand million
        b"\x1e\x00\x00",
        b"\x15" + b"\xff" * 11 + b"\x00",
    ],
)
def test_metadata_in_another_form_is_refused(data):
    with pytest.raises(ValueError, match=r"it |a number"):
        read_struct(memoryview(data))


def test_zeros_of_the_other_sign_are_other_values():
    task = TASKS["fuzzylogic"]
    (drawn,) = rows(task, [50])
    zero, negative = ({**drawn, "targets": sign * np.zeros_like(drawn["targets"])} for sign in (1.0, -1.0))
    assert compare_values(task, "ood", zero, Encoded(zero, {})) == []
    faults = compare_values(task, "ood", negative, Encoded(zero, {}))
    assert "targets differs from the generator's (rows: 50; first index: 0)" in faults
