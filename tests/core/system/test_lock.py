"""The lock of a directory: one holder at a time, none after a kill, nothing harmed in its place."""

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest

from sraven import OutputError
from sraven.core.system import lock as lock_module
from sraven.core.system.lock import LOCK, Lock

HOLD = """
import sys
from pathlib import Path
from sraven.core.system.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """A process that holds the lock of a directory."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_is_refused_and_learns_who_has_it(other, tmp_path):
    with pytest.raises(OutputError, match=rf"out is being written by process {other.pid} on \S+; wait"):
        Lock(tmp_path / "out")


def test_a_killed_process_holds_nothing(other, tmp_path):
    other.send_signal(signal.SIGKILL)
    other.wait()
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


def test_it_can_be_released_twice(tmp_path):
    lock = Lock(tmp_path / "out")
    lock.release()
    with Lock(tmp_path / "out"):
        lock.release()
        assert (tmp_path / "out" / LOCK).exists()


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
        with pytest.raises(OutputError, match="being written"):
            Lock(tmp_path)


def failing(number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    return fail


def test_a_full_disk_loses_the_name_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_module.os, "pwrite", failing(errno.ENOSPC))
    with Lock(tmp_path), pytest.raises(OutputError, match="being written by another process; wait"):
        Lock(tmp_path)


def test_a_file_system_without_locks_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_module.fcntl, "flock", failing(errno.ENOSYS))
    with pytest.warns(UserWarning, match="without locks; let nothing else write there"), Lock(tmp_path):
        pass
