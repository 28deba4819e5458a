"""A dataset is never half visible: a writer that stopped anywhere is resumed."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset

from helpers.example import SIZES, all_bytes
from sraven import SRAVEN, to_numpy
from sraven.core.dataset import write as dataset_module
from sraven.core.dataset.write import write_dataset
from sraven.core.tasks import digests

SOURCE, SHARDS = SRAVEN(M=3, K=7), {"train": 40_000, "ood": 3_000}


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
    return subprocess.run([sys.executable, "-c", code], check=False).returncode


@pytest.fixture
def small_shards(monkeypatch):
    """Shards as the process writes them that dies."""
    monkeypatch.setattr(digests, "MOST_INSTANCES", 256)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "raven"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "MOST_INSTANCES", 256)
        write_dataset(SOURCE, SHARDS, out, threads=2)
    return all_bytes(out)


@pytest.mark.parametrize("shards_before_the_kill", [0, 1, 7, 20])
def test_killed_writer_leaves_nothing_that_loads_and_is_resumed(
    tmp_path, uninterrupted, small_shards, shards_before_the_kill
):
    out = tmp_path / "raven"
    assert write_and_die(out, shards_before_the_kill) == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    journal = (out / ".sraven-partial" / "journal.jsonl").read_bytes()
    assert len(journal.splitlines()) == 1 + shards_before_the_kill
    with pytest.raises(Exception, match=r"No data|doesn't contain any data"):
        load_dataset(str(out))
    kept = {path: path.stat().st_mtime_ns for path in (out / ".sraven-partial").rglob("*.parquet")}
    write_dataset(SOURCE, SHARDS, out, threads=2)
    assert all_bytes(out) == uninterrupted
    moved = {path.name: path.stat().st_mtime_ns for path in (out / "M3-K7").iterdir()}
    assert sum(moved[path.name] == changed for path, changed in kept.items()) >= shards_before_the_kill


@pytest.mark.parametrize("step", range(12))
def test_killed_at_any_step_of_publishing(task, dataset_directory, tmp_path, monkeypatch, step):
    """Fail at the n-th file operation, once in an empty directory and once over another dataset."""
    for name, before in (("new", None), ("replacing", SRAVEN(M=3, K=7, holdout=0.3, seed=6))):
        out = tmp_path / name
        if before:
            write_dataset(before, SIZES, out)
        calls = 0

        def fail_later(function, step=step):
            def wrapper(*arguments, **options):
                nonlocal calls
                calls += 1
                if calls > step:
                    raise KeyboardInterrupt
                return function(*arguments, **options)

            return wrapper

        with monkeypatch.context() as patch:
            for target in ("os.replace", "pathlib.Path.unlink", "shutil.rmtree"):
                module, attribute = target.rsplit(".", 1)
                owner = {"os": os, "pathlib.Path": Path, "shutil": shutil}[module]
                patch.setattr(owner, attribute, fail_later(getattr(owner, attribute)))
            with suppress(KeyboardInterrupt):
                write_dataset(task, SIZES, out, force=bool(before), threads=1)
        try:
            arrays = to_numpy(
                load_dataset(str(out), split="ood", cache_dir=str(tmp_path / f"cache-{name}-{step}"))
            )
        except Exception:  # nothing loads, which is right too
            arrays = None
        if arrays is not None:
            sources = [source for source in (task, before) if source]
            matches = [
                np.array_equal(arrays["context"], source.sample("ood", 0, SIZES["ood"]).context)
                for source in sources
            ]
            assert any(matches)
        write_dataset(task, SIZES, out, force=bool(before))
        assert all_bytes(out) == all_bytes(dataset_directory)


def test_full_disk_is_reported_and_the_next_run_finishes(task, dataset_directory, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(dataset_module, "move_into_place", full)
        with pytest.raises(OSError, match="No space left"):
            write_dataset(task, SIZES, tmp_path / "raven")
    assert not (tmp_path / "raven" / "manifest.json").exists()
    write_dataset(task, SIZES, tmp_path / "raven")
    assert all_bytes(tmp_path / "raven") == all_bytes(dataset_directory)


def test_damaged_shard_of_an_unfinished_dataset_is_written_again(
    task, dataset_directory, tmp_path, monkeypatch
):
    out = tmp_path / "raven"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dataset_module, "publish", interrupt)
        patch.setattr(dataset_module, "make_manifest", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_dataset(task, SIZES, out)
    shard = next((out / ".sraven-partial").rglob("train-*.parquet"))
    damaged = bytearray(shard.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    shard.write_bytes(damaged)
    write_dataset(task, SIZES, out)
    assert all_bytes(out) == all_bytes(dataset_directory)


def test_journal_that_was_cut_off_is_used_as_far_as_it_goes(task, dataset_directory, tmp_path, monkeypatch):
    out = tmp_path / "raven"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dataset_module, "make_manifest", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_dataset(task, SIZES, out)
    journal = out / ".sraven-partial" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    write_dataset(task, SIZES, out)
    assert all_bytes(out) == all_bytes(dataset_directory)


def test_forced_rewriting_resumes_too(task, tmp_path, monkeypatch):
    out = tmp_path / "raven"
    write_dataset(SRAVEN(M=3, K=7, holdout=0.3, seed=6), SIZES, out)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dataset_module, "make_manifest", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_dataset(task, SIZES, out, force=True)
    kept = {path.name: path.stat().st_mtime_ns for path in (out / ".sraven-partial").rglob("*.parquet")}
    write_dataset(task, SIZES, out, force=True)
    assert {path.name: path.stat().st_mtime_ns for path in (out / "M3-K7").iterdir()} == kept
