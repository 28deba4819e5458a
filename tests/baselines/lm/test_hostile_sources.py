"""Sources that are bombs, pipes or devices: refused or read to a bound, and soon."""

import gzip
import os

import pytest

from baselines.lm import records as records_module
from baselines.lm.records import read_source
from baselines.lm.sources import find_sources
from helpers.records import read
from helpers.refusals import assert_refused


def test_a_gzip_of_newlines_ends(tmp_path, monkeypatch):
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(b"\n" * 1_000_000))
    monkeypatch.setattr(records_module, "MOST_SKIPPED", 1000)
    found = read(tmp_path / "bomb.txt.gz")
    assert found[-1] == (1001, "no_documents")
    assert found[:-1] == [(number, "empty") for number in range(1, 1001)]


@pytest.mark.parametrize("line", [b"a\n", b"\n", b"x" * 100])
def test_a_gzip_that_unpacks_to_much_more_ends(tmp_path, monkeypatch, line):
    """In the middle of a line, too."""
    monkeypatch.setattr(records_module, "DENSE_BYTES", 1 << 12)
    monkeypatch.setattr(records_module, "LONGEST", 1 << 10)
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(line * (1_000_000 // len(line))))
    number, fault = read(tmp_path / "bomb.txt.gz")[-1]
    assert fault == "too_dense"
    assert number * len(line) < 500_000


def test_text_is_never_too_dense_and_may_be_behind_a_link(tmp_path, monkeypatch):
    monkeypatch.setattr(records_module, "DENSE_BYTES", 0)
    text = b"".join(b"line %d of an ordinary text\n" % number for number in range(20_000))
    (tmp_path / "text.gz").write_bytes(gzip.compress(text))
    (tmp_path / "link.txt.gz").symlink_to(tmp_path / "text.gz")
    assert len(read(tmp_path / "link.txt.gz")) == 20_000


@pytest.mark.parametrize(("target", "suffix"), [("pipe", ".txt"), ("/dev/zero", ".json.gz")])
def test_pipes_and_devices_are_refused_without_waiting(tmp_path, target, suffix):
    path = tmp_path / f"source{suffix}"
    if target == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(target)
    assert_refused("is a pipe, a device or a directory; give a plain file", find_sources, [str(path)])
    plain = tmp_path / f"plain{suffix}"
    plain.write_bytes(b"")
    [source] = find_sources([str(plain)])
    plain.unlink()
    path.rename(plain)  # what was plain when it was found
    assert_refused("give a plain file", list, read_source(source))
