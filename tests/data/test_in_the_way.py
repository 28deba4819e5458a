"""Other files in a dataset's place: only our own are replaced, and only by force."""

import json
from dataclasses import replace
from unittest.mock import patch

import pytest
from datasets import load_dataset

from helpers.example import SIZES, all_bytes
from helpers.killing import Killed, stopped_at
from helpers.refusals import assert_refused
from helpers.resealing import flipped
from sraven import SRAVEN, CapacityError, OutputError
from sraven.core import digests
from sraven.data import write as dataset_module
from sraven.data.directory import DatasetDirectory, Journal
from sraven.data.write import write_dataset


def refused(match, *arguments, **options):
    assert_refused(match, write_dataset, *arguments, error=OutputError, **options)


def test_finished_dataset_is_left_alone_unless_it_lost_a_file(task, copy):
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*")}
    write_dataset(task, SIZES, copy)
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*")} == before
    next(copy.rglob("ood-*")).unlink()
    refused("damaged", task, SIZES, copy)


@pytest.mark.parametrize(
    ("change", "sizes", "file_format"),
    [({"seed": 6}, SIZES, "parquet"), ({}, {**SIZES, "ood": 1}, "parquet"), ({}, SIZES, "arrow")],
)
def test_another_dataset_is_replaced_only_by_force(task, copy, tmp_path, change, sizes, file_format):
    before, other = all_bytes(copy), replace(task, **change)
    refused("--force", other, sizes, copy, file_format=file_format)
    assert all_bytes(copy) == before
    write_dataset(other, sizes, copy, file_format=file_format, force=True)
    write_dataset(other, sizes, tmp_path / "fresh", file_format=file_format)
    assert all_bytes(copy) == all_bytes(tmp_path / "fresh")


def test_unfinished_dataset_of_another_configuration_is_refused(task, tmp_path):
    out, other = tmp_path / "raven", SRAVEN(M=2, K=5, holdout=0.3)
    stopped_at(DatasetDirectory, "publish", lambda: write_dataset(other, {"train": 100}, out))
    refused("unfinished", task, SIZES, out)
    write_dataset(task, SIZES, out, force=True)


@pytest.mark.parametrize("name", [".sraven-partial", ".partial", "M3-K7", "README.md"])
def test_names_like_ours_in_a_foreign_directory_are_left_alone(task, tmp_path, name):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear reader")
    (tmp_path / name).mkdir()
    (tmp_path / name / "b.txt").write_text("yours")
    before = all_bytes(tmp_path)
    for force in (False, True):
        refused("choose another directory", task, SIZES, tmp_path, force=force)
    assert all_bytes(tmp_path) == before


def test_foreign_folder_beside_our_dataset_is_left_alone(task, tmp_path):
    write_dataset(SRAVEN(M=2, K=5, holdout=0.3), {"train": 100}, tmp_path / "raven")
    (tmp_path / "raven" / "M3-K7").mkdir()
    (tmp_path / "raven" / "M3-K7" / "notes.txt").write_text("mine")
    refused("isn't part of its dataset", task, SIZES, tmp_path / "raven", force=True)
    assert (tmp_path / "raven" / "M3-K7" / "notes.txt").read_text() == "mine"


def test_capacity_that_is_exceeded_creates_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("sraven.task._ATTEMPT_LIMIT", 20)
    with pytest.raises(CapacityError):
        write_dataset(SRAVEN(M=8, K=3, answers="unique"), {"train": 10}, tmp_path / "raven")
    assert not (tmp_path / "raven").exists()


def test_home_is_not_taken_for_a_folder_named_tilde(task, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    write_dataset(task, {"train": 10}, "~/raven")
    assert [path.name for path in tmp_path.iterdir()] == ["raven"]


@pytest.mark.parametrize("force", [False, True])
def test_foreign_manifest_is_refused(task, tmp_path, force):
    (tmp_path / "manifest.json").write_text(json.dumps({"layout": 1, "config_name": "../.."}))
    refused("manifest", task, SIZES, tmp_path, force=force)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_file_in_the_way_is_refused(task, tmp_path):
    (tmp_path / "raven").write_text("")
    refused("is a file", task, SIZES, tmp_path / "raven")
    refused("can't be written", task, SIZES, tmp_path / "raven" / "below")


@pytest.mark.parametrize(
    ("sizes", "file_format", "message"),
    [
        ({"train": -1}, "parquet", "train=-1"),
        ({"train": 2**41}, "parquet", "expected an integer from 0"),
        ({"train": 1.5}, "parquet", "train=1.5"),
        ({"train": 0, "ood": 0}, "parquet", "at least one instance"),
        ({"dev": 5}, "parquet", "no dev split"),
        ({"train": 5}, "csv", "'parquet', 'arrow'"),
    ],
)
def test_bad_requests_create_nothing(task, tmp_path, sizes, file_format, message):
    assert_refused(message, write_dataset, task, sizes, tmp_path / "raven", file_format=file_format)
    assert not (tmp_path / "raven").exists()


def test_empty_split_is_not_written(task, tmp_path):
    manifest = write_dataset(task, {"train": 10, "test": 0, "ood": 0}, tmp_path / "raven")
    assert list(manifest["splits"]) == ["train"]
    assert list(load_dataset(str(tmp_path / "raven"))) == ["train"]


# A writer that stopped anywhere is resumed


SOURCE, SHARDS = SRAVEN(M=3, K=7), {"train": 8_000, "ood": 3_000}


def test_killed_writer_leaves_nothing_that_loads_and_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "MOST_INSTANCES", 256)
    write_dataset(SOURCE, SHARDS, tmp_path / "uninterrupted", threads=2)
    out, shards, add = tmp_path / "raven", 7, Journal.add

    def add_or_die(journal, entry):
        if len(journal.entries) == shards:
            raise Killed
        add(journal, entry)

    with patch.object(Journal, "add", add_or_die), pytest.raises(Killed):
        write_dataset(SOURCE, SHARDS, out, threads=2)
    assert not (out / "manifest.json").exists()
    journal = (out / ".sraven-partial" / "journal.jsonl").read_bytes()
    assert len(journal.splitlines()) == 1 + shards
    with pytest.raises(Exception, match=r"No data|doesn't contain any data"):
        load_dataset(str(out))
    kept = {path: path.stat().st_mtime_ns for path in (out / ".sraven-partial").rglob("*.parquet")}
    write_dataset(SOURCE, SHARDS, out, threads=2)
    assert all_bytes(out) == all_bytes(tmp_path / "uninterrupted")
    moved = {path.name: path.stat().st_mtime_ns for path in (out / "M3-K7").iterdir()}
    assert sum(moved[path.name] == changed for path, changed in kept.items()) >= shards


def interrupted(task, out, **options):
    """Write a dataset, and stop when all shards are there."""
    stopped_at(dataset_module, "make_manifest", lambda: write_dataset(task, SIZES, out, **options))
    return out / ".sraven-partial"


def test_what_is_damaged_is_written_again(task, dataset_directory, tmp_path):
    staging = interrupted(task, tmp_path / "raven")
    shard = next(staging.rglob("train-*.parquet"))
    shard.write_bytes(flipped(shard.read_bytes()))
    write_dataset(task, SIZES, tmp_path / "raven")
    assert all_bytes(tmp_path / "raven") == all_bytes(dataset_directory)


def test_forced_rewriting_resumes_too(task, tmp_path):
    out = tmp_path / "raven"
    write_dataset(replace(task, seed=6), SIZES, out)
    staging = interrupted(task, out, force=True)
    kept = {path.name: path.stat().st_mtime_ns for path in staging.rglob("*.parquet")}
    write_dataset(task, SIZES, out, force=True)
    assert {path.name: path.stat().st_mtime_ns for path in out.rglob("*.parquet")} == kept
