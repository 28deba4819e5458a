"""A writer killed between any two operations on files leaves what the same command finishes."""

import os
import shutil
from functools import partial
from unittest.mock import patch

import pytest

from helpers.example import all_bytes
from helpers.killing import Killed, killed_everywhere, stopped_at
from helpers.refusals import assert_refused
from sraven import SRAVEN, OutputError
from sraven.data.directory import DatasetDirectory
from sraven.data.write import make_plan, write_dataset
from sraven.files import staging
from sraven.files.staging import MANIFEST, STAGING

SIZES = {"ood": 20}

TASK = SRAVEN(M=3, K=7, holdout=0.3)

BEFORE = {
    "nothing": None,
    "another name": SRAVEN(M=2, K=5, holdout=0.3),
    "the same name": SRAVEN(M=3, K=7, holdout=0.3, seed=9),
    "itself": TASK,
}
"""What lies there before, by name."""

THIRD = SRAVEN(M=2, K=7, holdout=0.3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Datasets by task, and their bytes."""
    folder, made = tmp_path_factory.mktemp("whole"), {}
    for number, task in enumerate([*BEFORE.values(), THIRD]):
        if task is not None and task not in made:
            write(folder / str(number), task)
            made[task] = folder / str(number), all_bytes(folder / str(number))
    return made


def write(out, task=TASK, **options):
    write_dataset(task, SIZES, out, threads=1, **options)


def lay_out(before, whole, out):
    shutil.rmtree(out, ignore_errors=True)
    if before is not None:
        shutil.copytree(whole[before][0], out)


def holds_something_whole(before, whole, out):
    """Return whether the dataset from before is there, or all of the new one, here or in the staging."""
    found, bytes_of = all_bytes(out), whole[TASK][1]
    if before is not None and whole[before][1].items() <= found.items():
        return True
    places = f"{STAGING}/", ""
    return all(bytes_of[name] in [found.get(place + name) for place in places] for name in bytes_of)


def check_what_loads(before, whole, out):
    """Check that a card leads to its own dataset's files, or to none: so do readers."""
    found = all_bytes(out)
    for task in filter(None, (before, TASK)):
        files = whole[task][1]
        if found.get("README.md") == files["README.md"]:
            name = f"{task.config_name}/ood-00000-of-00001.parquet"
            assert found.get(name) in (None, files[name])


@pytest.mark.parametrize("before", BEFORE)
def test_killed_anywhere(before, whole, tmp_path):
    """The same command, by turns with and without --force, ends in the same bytes; nothing whole is lost."""
    before, out = BEFORE[before], tmp_path / "out"
    force, prepare = before is not None, partial(lay_out, before, whole, out)
    for operations in killed_everywhere(partial(write, out, force=force), prepare):
        again = force and operations % 2 == 0
        check_what_loads(before, whole, out)
        if before is not None:
            assert holds_something_whole(before, whole, out), operations
        is_whole = before not in (None, TASK) and whole[before][1].items() <= all_bytes(out).items()
        if is_whole and not again:
            assert_refused("another dataset", write, out, error=OutputError)
            again = True
        write(out, force=again)
        assert all_bytes(out) == whole[TASK][1], operations
    assert operations > 15


def test_a_third_dataset_replaces_what_was_cut_short(whole, tmp_path):
    out = tmp_path / "out"
    prepare = partial(lay_out, BEFORE["another name"], whole, out)
    for operations in killed_everywhere(partial(write, out, force=True), prepare, step=2):
        write(out, THIRD, force=True)
        assert all_bytes(out) == whole[THIRD][1], operations


def test_what_was_cut_short_is_exported_before_a_third_is_made(whole, tmp_path):
    """What it replaces is taken apart by then: without it, there would be no whole dataset for hours."""
    out, before = tmp_path / "out", BEFORE["another name"]
    lay_out(before, whole, out)
    replace = os.replace

    def die_before_the_data_is_moved(source, goal):
        if str(goal) == str(out / TASK.config_name):
            raise Killed
        replace(source, goal)

    with patch.object(os, "replace", die_before_the_data_is_moved), pytest.raises(Killed):
        write(out, force=True)
    assert not (out / MANIFEST).exists()
    with DatasetDirectory(out, make_plan(THIRD, SIZES, "parquet"), True).open():
        assert whole[TASK][1].items() <= all_bytes(out).items()


def test_a_finished_dataset_leaves_a_living_writer_alone(whole, tmp_path):
    """The same command again, beside a --force at work: it removed what that one had made."""
    out = tmp_path / "out"
    lay_out(TASK, whole, out)
    with DatasetDirectory(out, make_plan(TASK, SIZES, "parquet"), True).open():
        (out / STAGING / "work").touch()
        assert_refused(f"written by process {os.getpid()} ", write, out, error=OutputError)
        assert (out / STAGING / "work").exists()
    write(out)
    assert all_bytes(out) == whole[TASK][1]


def test_whoever_waited_for_the_lock_finds_it_finished(whole, tmp_path, monkeypatch):
    """Between looking and locking, another process finishes: nothing is made a second time."""
    out, real = tmp_path / "out", staging.Lock

    def finish_first(*arguments, **options):
        monkeypatch.undo()
        write(out)
        return real(*arguments, **options)

    monkeypatch.setattr(staging, "Lock", finish_first)
    assert DatasetDirectory(out, make_plan(TASK, SIZES, "parquet")).open() is None
    assert all_bytes(out) == whole[TASK][1]


def test_a_staging_directory_that_is_a_link_is_refused(tmp_path, whole):
    """What it points to would be emptied."""
    out, precious = tmp_path / "out", tmp_path / "precious"
    lay_out(TASK, whole, out)
    precious.mkdir()
    (precious / "work").touch()
    (out / STAGING).symlink_to(precious)
    assert_refused("is a link or no directory; remove it", write, out, force=True, error=OutputError)
    assert (precious / "work").exists()


@pytest.mark.parametrize("junk", [b"\xff\x00\n" * 9, b"[" * 100_000, b'{"path": 1}\n[]\n7\n'])
def test_a_damaged_journal_begins_anew(junk, whole, tmp_path):
    out = tmp_path / "out"
    plan = make_plan(TASK, SIZES, "parquet")
    with DatasetDirectory(out, plan, False).open():
        journal = out / STAGING / "journal.jsonl"
        first = journal.read_bytes()
    journal.write_bytes(first + junk)
    write(out)
    assert all_bytes(out) == whole[TASK][1]
    with DatasetDirectory(out, plan, True).open():
        journal.write_bytes(junk)
    write(out)
    assert all_bytes(out) == whole[TASK][1]


def test_a_staged_shard_that_was_lost_is_made_again_before_anything_is_replaced(whole, tmp_path):
    out = tmp_path / "out"
    lay_out(BEFORE["another name"], whole, out)
    stopped_at(DatasetDirectory, "publish", lambda: write(out, force=True))
    for shard in (out / STAGING / TASK.config_name).iterdir():
        shard.unlink()
    write(out, force=True)
    assert all_bytes(out) == whole[TASK][1]
