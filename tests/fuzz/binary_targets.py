"""Predictions and datasets, attacked."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from fuzz.changes import change_json, change_parquet
from fuzz.checks import refused, run_command
from fuzz.harness import FindingError
from helpers.command import sraven

ROWS, WIDTH = 20, 3

# Predictions

COLUMNS = {b"p": ("uint8", WIDTH), b"n": ("float32", 0), b"d": ("float64", WIDTH)}
"""What a file of predictions has, by the byte before it."""


def parquet_seeds():
    from helpers.parquet_forgery import levels, page, replace_pages, run
    from helpers.submissions import predictions_file

    panels = np.arange(ROWS * WIDTH, dtype=np.uint8).reshape(ROWS, WIDTH) % 5
    options: tuple[dict[str, Any], ...] = (
        {},
        {"compression": "zstd", "use_dictionary": False},
        {"compression": "none", "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False},
        {"compression": "gzip", "row_group_size": 7},
        {"use_dictionary": False, "column_encoding": {"index": "DELTA_BINARY_PACKED"}},
    )
    made = [b"p" + predictions_file(panels, **chosen) for chosen in options]
    repeated = levels(run(1, 0), run(29, 1)) + levels(run(30, 3)) + b"\1" + run(30, 0)
    pages = page(2, bytes(4), 1), page(0, repeated, 30, encoding=8)
    made.append(b"p" + replace_pages(made[0][1:], 1, *pages, 30))
    made += [b"n" + predictions_file(panels[:, 0].astype(np.float32), **chosen) for chosen in options[:3]]
    return [*made, b"d" + predictions_file(panels / 3)]


def change_predictions(data, choose):
    return data[:1] + change_parquet(data[1:], choose)


def run_parquet(data, folder):
    from helpers.submissions import predictions_file
    from sraven.core.untrusted.decode import decode

    dtype, width = COLUMNS[data[:1]]
    columns = [("index", "int64", 0), ("prediction", dtype, width)]
    try:
        index, values = decode(data[1:], ROWS, columns)
    except FindingError:
        raise
    except (Exception, MemoryError) as error:  # the process that decodes says so, too
        return f"{type(error).__name__} {error!s:.300}"
    if index.dtype != np.int64 or values.dtype != dtype or len(index) > ROWS:
        raise FindingError(f"gives {index.dtype} [{len(index)}], {values.dtype}")
    if len(values) != len(index) * max(1, width):
        raise FindingError(f"gives {len(index)} indices and {len(values)} values")
    whole = values.reshape(-1, width) if width else values
    again = decode(predictions_file(whole, index), ROWS, columns)
    if again[0].tobytes() != index.tobytes() or again[1].tobytes() != values.tobytes():
        raise FindingError("reads otherwise when it is written again")
    return "accepted"


# Datasets

_OF_DATASET = ("--M", "3", "--K", "5", "--train", "40", "--test", "8", "--ood", "8")


@cache
def dataset():
    """Return a small dataset, made once; it goes with the process that asked first."""
    folder = Path(tempfile.mkdtemp(prefix="sraven-fuzz-dataset-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sraven("generate", *_OF_DATASET, "--out", folder / "data")
    sraven("verify", folder / "data")
    return folder / "data"


def dataset_seeds(name):
    return lambda: [(dataset() / name).read_bytes()]


def run_dataset(name):
    """Return what verifies a dataset in which a file is another."""

    def run(data, folder):
        copy = folder / "data"
        if not copy.is_dir():
            shutil.copytree(dataset(), copy)
        (copy / name).write_bytes(data)
        kind = run_command("verify", copy, "--threads", "1")
        if kind.startswith("0") and data != (dataset() / name).read_bytes():
            raise FindingError("says that all is right")
        return kind

    return run


def run_remote(data, folder):
    """Take a manifest as that of a dataset on the Hub: its files are made anew from it, or it is refused."""
    from sraven.data.hub.remote import _expected

    (folder / "manifest.json").write_bytes(data)
    expected, message = refused(_expected, folder)
    if expected and expected[1]["manifest.json"].size != len(data):
        raise FindingError("takes a manifest that isn't the one of its files")
    return message or "accepted"


# Parts


@cache
def part():
    """Return the only part of the small dataset, made once beside it."""
    folder = dataset().parent / "part"
    sraven("generate", *_OF_DATASET, "--part", "1/1", "--out", folder)
    return folder


def journal_seeds():
    return [(part() / ".sraven-partial" / "journal.jsonl").read_bytes()]


def change_line(data, choose):
    """Change a line of JSON Lines as JSON; now and then bytes anywhere."""
    lines = data.split(b"\n")
    number = choose.randrange(len(lines))
    lines[number] = change_json(lines[number], choose)
    return b"\n".join(lines)


def run_journal(data, folder):
    """Merge a part with another journal: into a dataset that holds, or it is refused."""
    copy, merged = folder / "part", folder / f"merged-{uuid4()}"
    if not copy.is_dir():
        shutil.copytree(part(), copy)
    (copy / ".sraven-partial" / "journal.jsonl").write_bytes(data)
    kind = run_command("merge", copy, "--out", merged)
    if kind.startswith("0") and sraven("verify", merged)[0]:
        raise FindingError("makes a dataset of it that isn't right")
    return kind
