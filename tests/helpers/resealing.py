"""Datasets that were tampered with, and whose checksums, card and Croissant file fit again."""

import json

from sraven.core.errors import ConfigurationError
from sraven.data.card import describing_files
from sraven.data.formats import FORMATS
from sraven.data.verify import verify_dataset
from sraven.files.files import sha256_of_file, write_json, write_text
from sraven.files.table import arrow_schema, to_table

OTHER = "21.0.0"
"""A version of PyArrow that isn't installed."""


def name_another_writer(manifest):
    """Have a manifest say that another version of PyArrow wrote the files."""
    manifest["pyarrow"] = OTHER


def reseal(directory, task, change=lambda manifest: None):
    """Make the manifest fit the files, change it, and make card and Croissant file from it."""
    manifest = json.loads((directory / "manifest.json").read_text())
    for split in manifest["splits"].values():
        for shard in split["shards"]:
            path = directory / shard["path"]
            shard |= {"num_bytes": path.stat().st_size, "sha256": sha256_of_file(path)}
    change(manifest)
    for name, text in describing_files(task, manifest).items():
        write_text(directory / name, text)
    write_json(directory / "manifest.json", manifest)


def faults(directory):
    """Return the faults of a dataset, or that of a manifest which makes it none."""
    try:
        return verify_dataset(directory).faults
    except ConfigurationError as error:
        return [str(error)]


def flipped(data, place=None):
    """Return bytes with a bit of one of them changed, of the middle one unless its place is given."""
    changed = bytearray(data)
    changed[len(data) // 2 if place is None else place] ^= 1
    return bytes(changed)


def write_rows(path, arrays, task):
    """Write a shard as the writer does."""
    with FORMATS["parquet"](path, arrow_schema(task.columns)) as writer:
        writer.write_table(to_table(arrays, task.columns))
