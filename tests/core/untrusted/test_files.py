"""Untrusted files: plain ones, up to a limit."""

import os
import socket

import pytest

from helpers.untrusted import refusal
from sraven.core.untrusted.read import list_files, read_file


def test_files_are_listed_below_all_directories(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    for name in ("z", "a/y", "a/b/x", ".hidden"):
        (tmp_path / name).write_text("")
    assert list_files(tmp_path, 9) == [".hidden", "a/b/x", "a/y", "z"]
    assert "has more than 3 files" in refusal(list_files, tmp_path, 3)


def make_socket(path):
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket has to be short
    try:
        server.bind(path.name)
    finally:
        os.chdir(here)
        server.close()


SPECIAL = {
    "link to a file": lambda path: path.symlink_to("plain"),
    "link to a directory": lambda path: path.symlink_to("directory"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "fifo": os.mkfifo,
    "socket": make_socket,
}


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
def test_special_files_are_refused(make, tmp_path):
    (tmp_path / "directory").mkdir()
    (tmp_path / "plain").write_text("secret")
    make(tmp_path / "special")
    assert refusal(list_files, tmp_path, 9).startswith("special: is a link or no plain file")
    found = refusal(read_file, tmp_path, "special", 100)
    assert found.startswith("special: ") and "secret" not in found


def test_directory_is_no_file_and_no_descriptor_is_left(tmp_path):
    (tmp_path / "x").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        assert refusal(read_file, tmp_path, "x", 100) == "x: is no plain file"
    assert len(os.listdir("/proc/self/fd")) == before


def test_file_is_read_up_to_its_limit(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert read_file(tmp_path, "x", 5) == b"12345"
    assert refusal(read_file, tmp_path, "x", 4) == "x: has 5 bytes; expected 4 or fewer"
    assert refusal(read_file, tmp_path, "y", 4) == "y: can't be read: No such file or directory"


def test_directory_of_a_submission_may_not_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert "links aren't followed" in refusal(list_files, tmp_path / "link", 9)
    assert "links aren't followed" in refusal(list_files, tmp_path / "nowhere", 9)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_strange_names_are_printed_as_ascii(tmp_path):
    os.mkfifo(os.fsencode(tmp_path) + b"/\xff\n\x1b")
    assert refusal(list_files, tmp_path, 9).startswith(r"\udcff\n\x1b: is a link")
