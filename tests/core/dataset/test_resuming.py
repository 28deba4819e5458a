"""A dataset is never half visible: a writer that stopped anywhere is resumed."""

import signal

import pytest
from datasets import load_dataset

from helpers.example import SIZES, all_bytes
from helpers.killing import stopped_at
from helpers.python import python
from sraven import SRAVEN
from sraven.core.dataset import write as dataset_module
from sraven.core.dataset.write import write_dataset
from sraven.core.tasks import digests

SOURCE, SHARDS = SRAVEN(M=3, K=7), {"train": 8_000, "ood": 3_000}


def write_and_die(out, shards):
    """Write a dataset in another process, which kills itself after so many shards; return how it ended."""
    code = f"""
import os, signal, threading
from sraven import SRAVEN
from sraven.core.dataset import write as dataset
from sraven.core.tasks import digests
left, add, one_by_one = {shards}, dataset.Journal.add, threading.Lock()

def add_or_die(self, entry):
    global left
    with one_by_one:
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        add(self, entry)
        left -= 1

digests.MOST_INSTANCES, dataset.Journal.add = 256, add_or_die
dataset.write_dataset(SRAVEN(M=3, K=7), {SHARDS}, {str(out)!r}, threads=2)
"""
    return python("-c", code).returncode


def test_killed_writer_leaves_nothing_that_loads_and_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "MOST_INSTANCES", 256)
    write_dataset(SOURCE, SHARDS, tmp_path / "uninterrupted", threads=2)
    out, shards = tmp_path / "raven", 7
    assert write_and_die(out, shards) == -signal.SIGKILL
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


def test_full_disk_is_reported_and_the_next_run_finishes(task, dataset_directory, tmp_path):
    full = OSError(28, "No space left on device")
    stopped_at(
        dataset_module, "move_into_place", lambda: write_dataset(task, SIZES, tmp_path / "raven"), full
    )
    assert not (tmp_path / "raven" / "manifest.json").exists()
    write_dataset(task, SIZES, tmp_path / "raven")
    assert all_bytes(tmp_path / "raven") == all_bytes(dataset_directory)


def damage_a_shard(staging):
    shard = next(staging.rglob("train-*.parquet"))
    damaged = bytearray(shard.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    shard.write_bytes(damaged)


def cut_the_journal(staging):
    journal = staging / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])


@pytest.mark.parametrize("damage", [damage_a_shard, cut_the_journal])
def test_what_is_damaged_is_written_again(task, dataset_directory, tmp_path, damage):
    damage(interrupted(task, tmp_path / "raven"))
    write_dataset(task, SIZES, tmp_path / "raven")
    assert all_bytes(tmp_path / "raven") == all_bytes(dataset_directory)


def test_forced_rewriting_resumes_too(task, tmp_path):
    out = tmp_path / "raven"
    write_dataset(SRAVEN(M=3, K=7, holdout=0.3, seed=6), SIZES, out)
    staging = interrupted(task, out, force=True)
    kept = {path.name: path.stat().st_mtime_ns for path in staging.rglob("*.parquet")}
    write_dataset(task, SIZES, out, force=True)
    assert {path.name: path.stat().st_mtime_ns for path in (out / "M3-K7").iterdir()} == kept
