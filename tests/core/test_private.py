"""Folders of the user's own, and the lock of a directory."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from helpers.refusals import assert_refused
from sraven import OutputError
from sraven.core.private import private_folder
from sraven.files import lock as lock_module
from sraven.files.lock import LOCK, Lock


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
def test_a_folder_is_the_users_alone(tmp_path, mode):
    folder = private_folder(tmp_path / "not" / "there")
    assert folder == tmp_path / "not" / "there" and stat.S_IMODE(folder.stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to(folder)
    assert private_folder(folder) == private_folder(tmp_path / "link") == folder
    folder.chmod(mode)
    for path, problem in ((folder, "others may read or write it"), (Path("here"), "it is relative")):
        with pytest.raises(OSError) as caught:  # noqa: PT011  # its text is asserted
            private_folder(path)
        assert caught.value.strerror.startswith(problem)


def test_a_folder_of_another_user_and_a_file_are_refused(tmp_path, monkeypatch):
    (tmp_path / "file").touch(0o700)
    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "file")
    folder = private_folder(tmp_path / "folder")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert_refused("a folder of yours", private_folder, folder, error=OSError)


# The lock of a directory


HOLD = """
import sys
from pathlib import Path
from sraven.files.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_is_named_and_once_it_is_killed_holds_nothing(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        said = rf"out is being written by process {other.pid} on \S+; wait"
        assert_refused(said, Lock, tmp_path / "out", error=OutputError)
        other.kill()
    assert os.listdir(tmp_path / "out") == [LOCK]
    with Lock(tmp_path / "out"):
        assert (tmp_path / "out" / LOCK).read_text().startswith(f"process {os.getpid()} on ")


def test_the_same_process_is_refused_too_and_nothing_is_left_behind(tmp_path):
    with Lock(tmp_path / "a"), pytest.raises(OutputError, match=f"process {os.getpid()} "):
        Lock(tmp_path / "a")
    with Lock(tmp_path / "a" / "b"):
        pass
    assert os.listdir(tmp_path / "a") == []
    (tmp_path / "a" / "file").touch()
    with Lock(tmp_path / "a"):
        pass
    assert os.listdir(tmp_path / "a") == ["file"]


def test_a_lock_that_stays_marks_what_was_begun(tmp_path):
    out, staging = tmp_path / "out", tmp_path / "out" / "staging"
    with Lock(staging, of=out, stays=True):
        pass
    assert not out.exists()
    with Lock(staging, of=out, stays=True):
        (staging / "begun").touch()
    assert set(os.listdir(staging)) == {LOCK, "begun"}


IN_ITS_PLACE = {
    "link": os.symlink,
    "hard link": os.link,
    "link to nowhere": lambda precious, path: path.symlink_to(precious.with_name("elsewhere")),
    "pipe": lambda precious, path: os.mkfifo(path),
    "directory": lambda precious, path: path.mkdir(),
}


@pytest.mark.parametrize("make", IN_ITS_PLACE.values(), ids=IN_ITS_PLACE)
def test_what_is_no_lock_is_refused_and_kept_without_waiting(tmp_path, make):
    precious = tmp_path / "precious"
    precious.write_text("ten years of work")
    (tmp_path / "out").mkdir()
    make(precious, tmp_path / "out" / LOCK)
    with pytest.raises(OutputError, match="lock isn't a lock that this program made; remove it"):
        Lock(tmp_path / "out")
    assert precious.read_text() == "ten years of work" and not (tmp_path / "elsewhere").exists()


def test_a_holder_who_removes_it_meanwhile_leaves_no_lock_on_nothing(tmp_path, monkeypatch):
    """Between opening and locking, the file loses its name: what was locked then guards nothing."""
    first, found = Lock(tmp_path), []
    flock = fcntl.flock

    def slow(descriptor, operation):
        if not found:
            found.append(first.release())
        flock(descriptor, operation)

    monkeypatch.setattr(lock_module.fcntl, "flock", slow)
    with Lock(tmp_path):
        assert found == [None]
        assert_refused("being written", Lock, tmp_path, error=OutputError)


def test_a_full_disk_loses_the_name_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_module.os, "pwrite", Mock(side_effect=OSError(errno.ENOSPC, "no space")))
    with Lock(tmp_path), pytest.raises(OutputError, match="being written by another process; wait"):
        Lock(tmp_path)


def test_a_file_system_without_locks_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_module.fcntl, "flock", Mock(side_effect=OSError(errno.ENOSYS, "no locks")))
    with pytest.warns(UserWarning, match="without locks; let nothing else write there"), Lock(tmp_path):
        pass
