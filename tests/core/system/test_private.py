"""A folder of the user's own: made whatever the umask, refused if anybody else has power over it."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.refusals import assert_refused
from sraven import OutputError
from sraven.core.system import lock as lock_module
from sraven.core.system.lock import LOCK, Lock
from sraven.core.system.private import UnsafeFolderError, describe, private_folder

NOBODY = 65_534


@pytest.fixture
def give_away(monkeypatch):
    """Make a path another user's: by its owner if this is root, else by who this is."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, NOBODY, -1, follow_symlinks=False)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: NOBODY)

    return give


@pytest.fixture
def set_umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


def refused(match, *arguments):
    with pytest.raises(UnsafeFolderError, match=match):
        private_folder(*arguments)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o777])
def test_mode_is_700_for_any_umask(tmp_path, set_umask, umask):
    base = tmp_path / "not" / "there"
    set_umask(umask)
    folder = private_folder(base, "project", "code")
    assert folder == base / "project" / "code"
    for made in (base.parent, base, folder.parent, folder):
        assert mode_of(made) == 0o700
    assert private_folder(base, "project", "code") == folder


def test_processes_at_once_make_one_folder(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: private_folder(tmp_path / "base", "a", "b"), range(64)))
    assert set(made) == {tmp_path / "base" / "a" / "b"}


@pytest.mark.parametrize("which", ["above", "base", "between"])
def test_a_folder_that_others_can_change_is_refused(tmp_path, which):
    base = tmp_path / "above" / "base"
    folder = private_folder(base, "between", "code")
    path = {"above": base.parent, "base": base, "between": folder.parent}[which]
    path.chmod(0o707)
    refused(f"{path} can be written to by others", base, "between", "code")


@pytest.mark.parametrize(
    ("name", "members", "is_own"),
    [
        ("ada", [], True),
        ("ada", ["ada"], True),
        ("ada", ["ada", "eve"], False),
        ("users", [], False),
        ("", [], False),
    ],
)
def test_a_group_counts_as_others_unless_it_is_the_users_alone(tmp_path, monkeypatch, name, members, is_own):
    groups = {0: SimpleNamespace(gr_name=name, gr_mem=members)} if name else {}
    monkeypatch.setattr("pwd.getpwuid", lambda number: SimpleNamespace(pw_name="ada"))
    monkeypatch.setattr("grp.getgrgid", lambda number: groups[0])
    tmp_path.chmod(0o770)
    with nullcontext() if is_own else pytest.raises(UnsafeFolderError, match="by others"):
        assert private_folder(tmp_path, "code") == tmp_path / "code"


def test_below_a_sticky_directory_the_users_own_folder_is_safe(tmp_path, give_away):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)  # as /tmp is
    assert private_folder(shared, "code") == shared / "code"
    assert private_folder(shared / "new", "code") == shared / "new" / "code"
    (shared / "first").mkdir(mode=0o700)
    give_away(shared / "first")
    refused("belongs to another user", shared, "first")


@pytest.mark.parametrize("mode", [0o755, 0o600])
def test_a_folder_of_another_mode_is_refused(tmp_path, mode):
    private_folder(tmp_path, "code").chmod(mode)
    refused(f"mode {mode:o}; expected 700", tmp_path, "code")


def test_links_to_the_base_are_followed_and_what_they_lead_through_is_checked(tmp_path):
    (tmp_path / "open" / "base").mkdir(parents=True)
    (tmp_path / "second").symlink_to(Path("open", "..", "open", "base"))
    (tmp_path / "first").symlink_to(tmp_path / "second")
    assert private_folder(tmp_path / "first", "code") == tmp_path / "open" / "base" / "code"
    (tmp_path / "open").chmod(0o777)
    refused("open can be written to by others", tmp_path / "first", "code")


def test_a_file_in_the_way_is_an_error(tmp_path):
    path = tmp_path / "file"
    path.touch(0o700)
    for base, names in ((tmp_path, ("file",)), (path, ("code",))):
        with pytest.raises(NotADirectoryError) as caught:
            private_folder(base, *names)
        assert str(path) in describe(caught.value) and "Errno" not in describe(caught.value)


# The lock of a directory


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
