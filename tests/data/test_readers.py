"""Readers of a dataset get what the generator gives, or `sraven verify` says that something is wrong.

Each tampering is planted in a directory whose checksums, card and Croissant file are made to fit again.
If it is there to mislead a reader, the reader is tried, so that the test is about something.
"""

import json
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from helpers.parquet_forgery import change_metadata, put_together, take_apart
from helpers.resealing import faults, name_another_writer, reseal, write_rows
from sraven import to_numpy
from sraven.data.verify import verify_dataset
from sraven.data.write import write_dataset
from sraven.files.table import arrow_schema

FOLDER = "M3-K7"
OOD, TEST = f"{FOLDER}/ood-00000-of-00001.parquet", f"{FOLDER}/test-00000-of-00001.parquet"
INDEX, TARGET, RULES = 0, 2, 3
FEW, SIZES = 9, {"test": 180, "ood": 150}
FILTER = [("index", "<", FEW)]


@pytest.fixture(scope="module")
def dataset_directory(task, tmp_path_factory):
    """A smaller dataset than usual, of which `copy` makes copies."""
    out = tmp_path_factory.mktemp("read") / "raven"
    write_dataset(task, SIZES, out)
    return out


# Readers: each returns the columns of split ood as lists, all rows or a few by a filter


def files_of(directory):
    return sorted(str(path) for path in (directory / FOLDER).glob("ood-*"))


def by_datasets(directory, few):
    options = {"filters": FILTER} if few else {}
    rows = load_dataset(str(directory), split="ood", verification_mode="no_checks", **options)
    return rows.with_format("arrow")[:].to_pydict()


def by_streaming(directory, few):
    rows = load_dataset(str(directory), split="ood", streaming=True, **({"filters": FILTER} if few else {}))
    return pa.Table.from_pylist(list(rows)).to_pydict()


def by_pyarrow(directory, few):
    return pq.read_table(files_of(directory), filters=FILTER if few else None).to_pydict()


def by_pandas(directory, few):
    import pandas as pd

    return pd.read_parquet(files_of(directory), filters=FILTER if few else None).to_dict("list")


def by_polars(directory, few):
    import polars as pl

    rows = pl.scan_parquet(files_of(directory))
    return (rows.filter(pl.col("index") < FEW) if few else rows).collect().to_dict(as_series=False)


def by_duckdb(directory, few):
    query = "SELECT * FROM read_parquet(?)" + (f" WHERE index < {FEW}" if few else "")
    import duckdb

    with duckdb.connect() as connection:
        return connection.sql(query, params=[files_of(directory)]).to_arrow_table().to_pydict()


READERS = {
    "datasets": by_datasets,
    "datasets, streaming": by_streaming,
    "pyarrow": by_pyarrow,
    "pandas": by_pandas,
    "polars": by_polars,
    "duckdb": by_duckdb,
}


def reads_the_generators(reader, directory, task, few=False):
    """Return whether a reader gets the generator's rows, if it gets any."""
    expected = task.rows.encode("ood", 0, FEW if few else SIZES["ood"], 1).columns
    try:
        found = READERS[reader](directory, few)
    except Exception:  # whatever a reader raises on a broken file
        return False
    return found.keys() == expected.keys() and all(
        np.array_equal(np.array([*map(np.ravel, found[name])]).reshape(-1), values.reshape(-1))
        for name, values in expected.items()
    )


@pytest.mark.parametrize("few", [False, True], ids=["all", "filtered"])
@pytest.mark.parametrize("reader", READERS)
def test_readers_of_a_right_dataset_get_what_the_generator_gives(dataset_directory, task, reader, few):
    assert reads_the_generators(reader, dataset_directory, task, few)


# Tamperings of files


def redirect(copy, task):
    """Have datasets load zeroed targets."""
    arrays = to_numpy(pq.read_table(copy / OOD))
    (copy / "elsewhere").mkdir()
    write_rows(copy / "elsewhere" / "ood.parquet", arrays | {"target": 0 * arrays["target"]}, task)
    files = [{"split": "ood", "path": "elsewhere/ood.parquet"}]
    text = {"configs": [{"config_name": FOLDER, "default": True, "data_files": files}]}
    (copy / ".huggingface.yaml").write_text(json.dumps(text))


def add_a_shard(copy, task):
    """Have patterns such as the card's find more rows."""
    shutil.copy(copy / TEST, copy / FOLDER / "ood-00001-of-00001.parquet")


def swap_splits(copy, task):
    (copy / OOD).rename(copy / "kept")
    (copy / TEST).rename(copy / OOD)
    (copy / "kept").rename(copy / TEST)


def take_another_seed(copy, task):
    other = replace(task, seed=77)
    write_rows(copy / OOD, other.rows.encode("ood", 0, SIZES["ood"], 1).columns, task)


# Tamperings of one Parquet file: bytes to bytes


def chunk(column, *path):
    """Return where the metadata has a field of a column of the first row group."""
    return [4, 0, 1, column, *path]


def number(value):
    return value.to_bytes(8, "little")


def lie_in_statistics(data, table):
    """Say that no index is below 100: a reader with a filter skips the row group."""
    _, metadata = take_apart(data)
    found = metadata[4][1][1][0][1][1][1][INDEX][3][1][12][1]
    lowest = [(chunk(INDEX, 3, 12, field), number(100)) for field in (2, 6) if field in found]
    return change_metadata(data, *lowest)


def swap_by_pandas(data, table):
    """Have pandas take targets for rules."""
    names = table.column_names
    swapped = {"target": "rules", "rules": "target"}
    kind = {"pandas_type": "object", "numpy_type": "object", "metadata": None}
    columns = [{"name": swapped.get(name, name), "field_name": name, **kind} for name in names]
    text = {"index_columns": [], "column_indexes": [], "columns": columns, "pandas_version": "3.0.0"}
    return rewrite(table.replace_schema_metadata({"pandas": json.dumps(text)}))


def rewrite(table, **options):
    """Return a file as PyArrow writes one with other options than ours."""
    sink = pa.BufferOutputStream()
    settings = {"compression": "zstd", "write_page_index": True, "use_content_defined_chunking": True}
    pq.write_table(table, sink, **(settings | options))
    return sink.getvalue().to_pybytes()


def lead_pages_elsewhere(data, table):
    """Have the column of rules read what the targets are, statistics and all."""
    body, metadata = take_apart(data)
    columns = metadata[4][1][1][0][1][1][1]
    for field, content in columns[TARGET][3][1].items():
        if field != 3:
            columns[RULES][3][1][field] = content
    return put_together(body, metadata)


def drop_the_last_row(data, table):
    return rewrite(table.slice(0, len(table) - 1))


PARQUET = {
    "pandas": (swap_by_pandas, ["pandas"]),
    "pages of another column": (lead_pages_elsewhere, ["pyarrow", "polars", "duckdb"]),
    "fewer rows": (drop_the_last_row, ["pyarrow"]),
}


def plant(copy, task, tamper):
    """Tamper with the bytes of a file."""
    path = copy / OOD
    table = pq.read_table(path).cast(arrow_schema(task.columns))
    path.write_bytes(tamper(path.read_bytes(), table))


def test_statistics_are_right_in_files_of_the_installed_version_alone(copy, task):
    plant(copy, task, lie_in_statistics)
    reseal(copy, task)
    for reader in ("pyarrow", "polars", "duckdb", "pandas"):
        assert not reads_the_generators(reader, copy, task, few=True), reader
    assert faults(copy)
    reseal(copy, task, name_another_writer)  # what SECURITY.md says isn't defended against
    assert verify_dataset(copy).files == {"bytes": 0, "values": 2}


TAMPERINGS = {
    "redirection": (redirect, ["datasets", "datasets, streaming"]),
    "another shard": (add_a_shard, ["datasets", "pyarrow"]),
    "another split": (swap_splits, ["datasets", "pyarrow"]),
    "another seed": (take_another_seed, ["datasets", "pyarrow"]),
    **{name: (partial(plant, tamper=tamper), misled) for name, (tamper, misled) in PARQUET.items()},
}


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_tamperings_are_refused_whoever_wrote_the_files(copy, task, kind):
    tamper, misled = TAMPERINGS[kind]
    tamper(copy, task)
    for change in (lambda manifest: None, name_another_writer):
        reseal(copy, task, change)
        assert faults(copy)
    for reader in misled:
        assert not reads_the_generators(reader, copy, task), reader
