"""A dataset directory: what is in it, how it loads, and that it is never half visible."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from datasets import Dataset, List, Value, load_dataset

from fuzzylogic import FuzzyLogic
from helpers.example import SIZES, all_bytes
from sraven import SRAVEN, CapacityError, ConfigurationError, OutputError, count_answers, to_numpy
from sraven.core.dataset import directory
from sraven.core.dataset import write as dataset_module
from sraven.core.dataset.write import FORMATS, write_dataset
from sraven.core.tasks import digests
from sraven.core.tasks.digests import block_digest


def expected(task, split, count):
    batch = task.sample(split, 0, count)
    answers = count_answers(batch.context, task.K, permute=task.permute)
    return {"index": np.arange(count), **batch._asdict(), "num_answers": answers}


def assert_same(arrays, wanted):
    assert set(arrays) == set(wanted)
    for name, array in wanted.items():
        assert np.array_equal(arrays[name], array), name


# Loading


@pytest.mark.parametrize("split", SIZES)
def test_load_dataset_gives_the_generators_values(task, dataset_directory, split):
    loaded = load_dataset(str(dataset_directory), split=split)
    arrays = to_numpy(loaded)
    assert_same(arrays, expected(task, split, SIZES[split]))
    assert arrays["context"].dtype == np.uint8 and arrays["combination"].dtype == np.int32


@pytest.mark.parametrize("split", SIZES)
def test_streaming_gives_the_generators_values(task, dataset_directory, split):
    rows = list(load_dataset(str(dataset_directory), split=split, streaming=True))
    wanted = expected(task, split, SIZES[split])
    for name, array in wanted.items():
        assert [row[name] for row in rows] == array.reshape(len(rows), -1).squeeze().tolist(), name


def test_loaded_features_are_those_of_the_card(dataset_directory):
    features = load_dataset(str(dataset_directory))["train"].features
    assert features == {
        "index": Value("int64"),
        "context": List(Value("uint8"), length=24),
        "target": List(Value("uint8"), length=3),
        "rules": List(Value("uint8"), length=3),
        "permutations": List(Value("uint8"), length=9),
        "combination": Value("int32"),
        "num_answers": Value("int64"),
    }


def test_columns_can_be_chosen(dataset_directory):
    loaded = load_dataset(str(dataset_directory), split="ood", columns=["target", "index"])
    assert set(loaded.column_names) == {"target", "index"}


def test_one_split_loads_from_its_files_alone(dataset_directory):
    files = str(dataset_directory / "M3-K7" / "ood-*.parquet")
    assert len(load_dataset("parquet", data_files={"ood": files}, split="ood")) == SIZES["ood"]


def test_another_seed_in_the_same_place_is_not_served_from_the_cache(tmp_path):
    out, cache = tmp_path / "raven", str(tmp_path / "cache")
    for seed in (1, 2):
        task = SRAVEN(M=3, K=7, holdout=0.3, seed=seed)
        write_dataset(task, {"train": 200}, out, force=True)
        arrays = to_numpy(load_dataset(str(out), split="train", cache_dir=cache))
        assert_same(arrays, expected(task, "train", 200))


@pytest.mark.parametrize("answers", ["any", "unique"])
def test_arrow_shards_map_into_memory(tmp_path, answers):
    task = SRAVEN(M=3, K=7, holdout=0.3, answers=answers)
    write_dataset(task, SIZES, tmp_path / "raven", file_format="arrow")
    mapped = Dataset.from_file(str(next((tmp_path / "raven").rglob("ood-*.arrow"))))
    wanted = expected(task, "ood", SIZES["ood"])
    assert_same(to_numpy(mapped), wanted)
    assert_same(to_numpy(load_dataset(str(tmp_path / "raven"), split="ood")), wanted)


def test_to_numpy_follows_shuffles_and_slices(task, dataset_directory):
    loaded = load_dataset(str(dataset_directory), split="train")
    wanted = expected(task, "train", SIZES["train"])
    shuffled = to_numpy(loaded.shuffle(seed=3))
    order = shuffled["index"]
    assert sorted(order) == list(range(SIZES["train"])) and list(order) != sorted(order)
    assert_same(shuffled, {name: array[order] for name, array in wanted.items()})
    part = to_numpy(loaded.select(range(17, 40)))
    assert_same(part, {name: array[17:40] for name, array in wanted.items()})


def test_to_numpy_refuses_a_dataset_dict(dataset_directory):
    with pytest.raises(ConfigurationError, match="one split"):
        to_numpy(load_dataset(str(dataset_directory)))


def test_to_numpy_shares_the_memory_of_a_table(dataset_directory):
    table = load_dataset(str(dataset_directory), split="ood").with_format("arrow")[:]
    assert table.column("context").num_chunks == 1
    context = to_numpy(table.select(["context"]))["context"]
    address = table.column("context").chunk(0).flatten().buffers()[1].address
    assert context.__array_interface__["data"][0] == address


# Bytes


def test_any_number_of_threads_writes_the_same_bytes(task, dataset_directory, tmp_path, monkeypatch):
    for threads in (1, 3):
        write_dataset(task, SIZES, tmp_path / str(threads), threads=threads)
        assert all_bytes(tmp_path / str(threads)) == all_bytes(dataset_directory)


def test_shards_and_blocks_of_a_larger_split(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "MOST_INSTANCES", 64)
    task = SRAVEN(M=2, K=5, holdout=0.3)
    manifest = write_dataset(task, {"train": 1_000, "ood": 256}, tmp_path / "raven")
    shards = manifest["splits"]["train"]["shards"]
    assert [(shard["start"], shard["num_examples"]) for shard in shards] == [
        (0, 256),
        (256, 256),
        (512, 256),
        (768, 232),
    ]
    assert shards[3]["path"] == "M2-K5/train-00003-of-00004.parquet"
    arrays = to_numpy(load_dataset(str(tmp_path / "raven"), split="train"))
    assert_same(arrays, expected(task, "train", 1_000))
    last = {name: array[960:] for name, array in expected(task, "train", 1_000).items()}
    assert shards[3]["blocks"][-1] == block_digest(last, task.columns)


def test_manifest_counts_what_the_policy_drew(tmp_path):
    task = SRAVEN(M=3, K=5, holdout=0.3, answers="unique")
    split = write_dataset(task, {"train": 2_000}, tmp_path / "raven")["splits"]["train"]
    proposals, instances, unique = (
        np.array(split["tallies"][name]) for name in ("proposals", "instances", "unique")
    )
    batch = task.empty_batch(2_000)
    rejected = task.fill("train", np.arange(2_000, dtype=np.uint64), batch, threads=None)
    assert np.array_equal(instances, np.bincount(batch.combination, minlength=len(instances)))
    assert np.array_equal(unique, instances) and np.array_equal(proposals, instances + rejected)
    assert rejected.sum() > 0


# Resuming


def write(out, shards=None):
    """Write a dataset in another process, and wait for its end: it kills itself after so many shards."""
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
        left = left and left - 1

digests.MOST_INSTANCES, dataset.Journal.add = 256, add_or_die
dataset.write_dataset(SRAVEN(M=3, K=7), {{"train": 40_000, "ood": 3_000}}, {str(out)!r}, threads=2)
"""
    return subprocess.run([sys.executable, "-c", code], check=False).returncode


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "raven"
    assert write(out) == 0
    return all_bytes(out)


@pytest.mark.parametrize("shards_before_the_kill", [0, 1, 7, 20])
def test_killed_writer_leaves_nothing_that_loads_and_is_resumed(
    tmp_path, uninterrupted, shards_before_the_kill
):
    out = tmp_path / "raven"
    assert write(out, shards_before_the_kill) == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    journal = (out / ".sraven-partial" / "journal.jsonl").read_bytes()
    assert len(journal.splitlines()) == 1 + shards_before_the_kill
    with pytest.raises(Exception, match=r"No data|doesn't contain any data"):
        load_dataset(str(out))
    kept = {path: path.stat().st_mtime_ns for path in (out / ".sraven-partial").rglob("*.parquet")}
    assert write(out) == 0
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


# What is in the way


def test_finished_dataset_is_left_alone(task, tmp_path):
    out = tmp_path / "raven"
    write_dataset(task, SIZES, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    write_dataset(task, SIZES, out)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


@pytest.mark.parametrize(
    ("change", "sizes", "file_format"),
    [({"seed": 6}, SIZES, "parquet"), ({}, {**SIZES, "ood": 1}, "parquet"), ({}, SIZES, "arrow")],
)
def test_another_dataset_is_replaced_only_by_force(task, tmp_path, change, sizes, file_format):
    out = tmp_path / "raven"
    write_dataset(task, SIZES, out)
    before = all_bytes(out)
    other = SRAVEN(**{"M": 3, "K": 7, "holdout": 0.3, "seed": 5, **change})
    with pytest.raises(OutputError, match="--force"):
        write_dataset(other, sizes, out, file_format=file_format)
    assert all_bytes(out) == before
    write_dataset(other, sizes, out, file_format=file_format, force=True)
    write_dataset(other, sizes, tmp_path / "fresh", file_format=file_format)
    assert all_bytes(out) == all_bytes(tmp_path / "fresh")


def test_configuration_of_another_name_leaves_nothing_behind(task, tmp_path):
    out = tmp_path / "raven"
    write_dataset(SRAVEN(M=2, K=5, holdout=0.3), {"train": 100}, out)
    write_dataset(task, SIZES, out, force=True)
    assert sorted(path.name for path in out.iterdir()) == [
        "M3-K7",
        "README.md",
        "croissant.json",
        "manifest.json",
    ]


def test_unfinished_dataset_of_another_configuration_is_refused(task, tmp_path, monkeypatch):
    out = tmp_path / "raven"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dataset_module, "publish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_dataset(SRAVEN(M=2, K=5, holdout=0.3), {"train": 100}, out)
    with pytest.raises(OutputError, match="unfinished"):
        write_dataset(task, SIZES, out)
    write_dataset(task, SIZES, out, force=True)


def test_foreign_directory_is_refused_even_by_force(task, tmp_path):
    (tmp_path / "letter.txt").write_text("dear reader")
    for force in (False, True):
        with pytest.raises(OutputError, match="holds no dataset of this benchmark"):
            write_dataset(task, SIZES, tmp_path, force=force)
    assert all_bytes(tmp_path) == {"letter.txt": b"dear reader"}


@pytest.mark.parametrize("name", [".sraven-partial", ".partial", "M3-K7", "README.md"])
def test_names_like_ours_in_a_foreign_directory_are_left_alone(task, tmp_path, name):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear reader")
    (tmp_path / name).mkdir()
    (tmp_path / name / "b.txt").write_text("yours")
    before = all_bytes(tmp_path)
    for force in (False, True):
        with pytest.raises(OutputError, match="choose another directory"):
            write_dataset(task, SIZES, tmp_path, force=force)
    assert all_bytes(tmp_path) == before


def test_foreign_folder_beside_our_dataset_is_left_alone(task, tmp_path):
    write_dataset(SRAVEN(M=2, K=5, holdout=0.3), {"train": 100}, tmp_path / "raven")
    (tmp_path / "raven" / "M3-K7").mkdir()
    (tmp_path / "raven" / "M3-K7" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="isn't part of its dataset"):
        write_dataset(task, SIZES, tmp_path / "raven", force=True)
    assert (tmp_path / "raven" / "M3-K7" / "notes.txt").read_text() == "mine"


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


def test_two_writers_do_not_meet(task, tmp_path):
    out = tmp_path / "raven"
    lock = directory.prepare(out, dataset_module.make_plan(task, SIZES, "parquet"), force=False)
    with lock, pytest.raises(OutputError, match="being written by process"):
        write_dataset(task, SIZES, out)
    write_dataset(task, SIZES, out)


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


def test_empty_and_mapped_datasets_become_arrays(dataset_directory):
    loaded = load_dataset(str(dataset_directory), split="ood")
    empty = to_numpy(loaded.select([]))
    assert empty["context"].shape == (0, 8, 3) and empty["permutations"].shape == (0, 3, 3)
    named = to_numpy(loaded.map(lambda row: {"name": f"puzzle {row['index']}"}))
    assert named["name"][7] == "puzzle 7"


def test_blocks_shrink_with_the_size_of_an_instance():
    assert digests.block_size(SRAVEN(M=12).columns) == 65_536
    large = FuzzyLogic(L=16, K=2, N=4096, holdout=0, unseen_terms=0)
    assert digests.block_size(large.columns) * digests.instance_bytes(large.columns) <= 1 << 24


def test_foreign_manifest_is_refused(task, tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps({"layout": 1, "config_name": "../.."}))
    for force in (False, True):
        with pytest.raises(OutputError, match="manifest"):
            write_dataset(task, SIZES, tmp_path, force=force)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_file_in_the_way_is_refused(task, tmp_path):
    (tmp_path / "raven").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        write_dataset(task, SIZES, tmp_path / "raven")
    with pytest.raises(OutputError, match="can't be written"):
        write_dataset(task, SIZES, tmp_path / "raven" / "below")


def test_finished_dataset_that_lost_a_file_is_reported(task, tmp_path):
    write_dataset(task, SIZES, tmp_path / "raven")
    next((tmp_path / "raven").rglob("ood-*")).unlink()
    with pytest.raises(OutputError, match="damaged"):
        write_dataset(task, SIZES, tmp_path / "raven")


@pytest.mark.parametrize(
    ("sizes", "file_format", "message"),
    [
        ({"train": -1}, "parquet", "train=-1"),
        ({"train": 2**41}, "parquet", "expected a size from 0"),
        ({"train": 1.5}, "parquet", "train=1.5"),
        ({"train": 0, "ood": 0}, "parquet", "at least one instance"),
        ({"dev": 5}, "parquet", "no dev split"),
        ({"train": 5}, "csv", "parquet, arrow"),
    ],
)
def test_bad_requests_create_nothing(task, tmp_path, sizes, file_format, message):
    with pytest.raises(ConfigurationError, match=message):
        write_dataset(task, sizes, tmp_path / "raven", file_format=file_format)
    assert not (tmp_path / "raven").exists()


def test_formats_are_those_of_the_table():
    assert set(FORMATS) == {"parquet", "arrow"}


def test_empty_split_is_not_written(task, tmp_path):
    manifest = write_dataset(task, {"train": 10, "test": 0, "ood": 0}, tmp_path / "raven")
    assert list(manifest["splits"]) == ["train"]
    assert list(load_dataset(str(tmp_path / "raven"))) == ["train"]
