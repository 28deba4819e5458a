"""Files and directories that appear whole or not at all, beside others who write the same."""

import ast
import errno
import os
import threading
import tracemalloc
from pathlib import Path
from unittest.mock import Mock

import pytest

from helpers.example import all_bytes
from helpers.refusals import assert_refused
from sraven import OutputError
from sraven.core.packages import PACKAGES
from sraven.files import files
from sraven.files.files import read_bounded, replacing, write_bytes, write_text
from sraven.files.lock import LOCK, Lock
from sraven.files.staging import staged, take_file


def test_a_file_is_replaced(tmp_path):
    for text in ("one", "two"):
        write_text(tmp_path / "file", text)
        assert all_bytes(tmp_path) == {"file": text.encode()}
    os.umask(mask := os.umask(0))
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask


def test_two_at_once_write_one_or_the_other_whole(tmp_path):
    contents = [bytes([number]) * 300_000 for number in range(4)]
    threads = [
        threading.Thread(target=lambda each=each: [write_bytes(tmp_path / "file", each) for _ in range(10)])
        for each in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(all_bytes(tmp_path)) == ["file"]
    assert (tmp_path / "file").read_bytes() in contents


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error):
    write_bytes(tmp_path / "file", b"old")
    monkeypatch.setattr(files, "move_into_place", Mock(side_effect=error))
    with pytest.raises(type(error)) as caught:
        write_bytes(tmp_path / "file", b"new")
    assert all_bytes(tmp_path) == {"file": b"old"}
    if isinstance(error, OSError):
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "file"))


def test_an_error_names_the_path_of_the_caller(tmp_path):
    (tmp_path / "other").touch()
    with pytest.raises(NotADirectoryError) as caught:
        write_bytes(tmp_path / "other" / "below" / "file", b"")
    assert caught.value.filename == str(tmp_path / "other" / "below" / "file")


def test_a_link_in_its_place_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("ten years of work")
    (tmp_path / "file").symlink_to(tmp_path / "precious")
    write_text(tmp_path / "file", "new")
    assert (tmp_path / "precious").read_text() == "ten years of work"
    assert not (tmp_path / "file").is_symlink()


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    (tmp_path / "null").symlink_to(os.devnull)
    write_text(tmp_path / "null", "gone")
    assert (tmp_path / "null").is_symlink()
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "text")


def test_replacing_gives_a_path_beside_in_a_directory_that_is_made(tmp_path):
    path = tmp_path / "new" / "below" / "file.png"
    with replacing(path) as temporary:
        assert temporary.parent == path.parent and temporary != path
        temporary.write_bytes(b"picture")
        assert not path.exists()
    assert all_bytes(tmp_path) == {"new/below/file.png": b"picture"}


# Directories


def test_a_staged_directory_appears_whole(tmp_path):
    goal = tmp_path / "more" / "goal"
    with staged(goal) as folder:
        (folder / "file").write_text("text")
        assert not goal.exists()
    assert all_bytes(tmp_path) == {"more/goal/file": b"text"}
    assert os.listdir(tmp_path / "more") == ["goal"]


def fail_within(goal, error):
    with staged(goal) as folder:
        (folder / "file").write_text("text")
        raise error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_staged_directory_that_fails_leaves_nothing(tmp_path, error):
    with pytest.raises(type(error)):
        fail_within(tmp_path / "goal", error)
    assert os.listdir(tmp_path) == []


def test_what_a_kill_left_of_a_staged_directory_goes(tmp_path):
    left = tmp_path / ".goal.sraven-partial" / "new" / "deep"
    left.mkdir(parents=True)
    (left.parent.parent / LOCK).touch()
    with staged(tmp_path / "goal") as folder:
        (folder / "file").write_text("text")
    assert all_bytes(tmp_path) == {"goal/file": b"text"}


def test_two_that_stage_the_same(tmp_path):
    with staged(tmp_path / "goal") as folder:
        (folder / "file").write_text("first")
        with pytest.raises(OutputError, match=rf"goal is being written by process {os.getpid()} "):
            fail_within(tmp_path / "goal", AssertionError())
        assert (folder / "file").exists()
    assert all_bytes(tmp_path) == {"goal/file": b"first"}


def link_to_nowhere(path):
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [os.mkdir, link_to_nowhere, Path.touch])
def test_a_goal_that_appears_meanwhile_is_kept(tmp_path, make):
    def stage():
        with staged(tmp_path / "goal") as folder:
            (folder / "file").write_text("text")
            make(tmp_path / "goal")

    assert_refused("goal exists; choose another directory", stage, error=OutputError)
    assert os.listdir(tmp_path) == ["goal"] and not (tmp_path / "goal" / "file").exists()


def test_a_link_in_place_of_the_staging_is_refused(tmp_path):
    (tmp_path / "precious" / "new").mkdir(parents=True)
    (tmp_path / ".goal.sraven-partial").symlink_to(tmp_path / "precious")
    with pytest.raises(OutputError, match="is a link or no directory; remove it"):
        fail_within(tmp_path / "goal", AssertionError())
    assert (tmp_path / "precious" / "new").exists()
    assert Lock(tmp_path / "precious").release() is None


def test_a_full_disk_is_that_of_the_copy(tmp_path, monkeypatch):
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr("shutil.copyfile", full)
    (tmp_path / "origin").touch()
    (tmp_path / "staging").mkdir()
    with pytest.raises(OSError, match="No space") as refused:
        take_file(tmp_path / "origin", tmp_path / "staging" / "goal", tmp_path / "staging")
    assert refused.value.filename == str(tmp_path / "staging" / "goal")


# Reading ---------------------------------------------------------------------------------------------


def test_a_plain_file_is_read_whole_and_a_link_to_one_too(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert read_bounded(tmp_path / "file", 5) == read_bounded(tmp_path / "link") == b"12345"
    assert_refused("it has more than 4 bytes", read_bounded, tmp_path / "file", 4, error=OSError)


def test_a_high_bound_takes_no_memory(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    tracemalloc.start()
    try:
        assert read_bounded(tmp_path / "file", 1 << 30) == b"12345"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_what_is_endless_or_waits_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for name in ("pipe", "zeros"):
        assert_refused("it is no plain file", read_bounded, tmp_path / name, error=OSError)


OWN_READERS = {
    "a file of the package": [
        *("baselines/paper/figures.py", "sraven/board/board.py"),
        *("sraven/core/jit.py", "sraven/leaderboard/snapshot.py", "sraven/palette.py"),
        *("sraven/leaderboard/page/render.py", "sraven/files/schemas/__init__.py"),
    ],
    "waits until a file of its own is on disk": ["baselines/train/checkpoint.py"],
    "text of any size, a line at a time": ["baselines/lm/sources.py"],
    "a file of JAX": ["baselines/model/fast/foreign.py"],
    "a picture that it wrote": ["baselines/paper/plots.py", "sraven/palette.py"],
    "code that its user imports, and a run's copies": ["baselines/train/code.py"],
    "a file of the system's": ["baselines/train/provenance.py"],
    "texts of a checkout, beside the pages to be written": ["baselines/paper/pages.py"],
    "a page that it wrote": ["baselines/paper/render.py"],
    "a checkout's board, which is to be written": ["sraven/board/freeze.py"],
    "files of the package": [
        *("sraven/board/paths.py", "sraven/board/reference_levels.py"),
        "sraven/data/card.py",
    ],
    "a journal, a line of bounded length at a time": ["sraven/data/directory.py"],
    "the reader itself": ["sraven/files/files.py"],
}
"""Modules that read files by themselves, by why they may."""


def reads(tree):
    """Return whether a module opens a file to read it."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        modes = [each.value for each in call.args[1:2] if isinstance(each, ast.Constant)]
        if name in ("read_text", "read_bytes"):
            return True
        if ast.unparse(call.func) in ("open", "gzip.open") and not set(str(*modes)) & set("wax"):
            return True
    return False


def test_files_of_others_are_read_by_one_function():
    root = Path(__file__).parents[2]
    paths = [path for package in PACKAGES for path in (root / package).rglob("*.py")]
    found = {str(path.relative_to(root)) for path in paths if reads(ast.parse(path.read_text("utf-8")))}
    assert found == {path for paths in OWN_READERS.values() for path in paths}
