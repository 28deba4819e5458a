"""Reading sources: every format, and everything that can be wrong with a line."""

import gzip
import os

import pytest

from baselines.lm import sources as sources_module
from baselines.lm.sources import find_sources, read_documents
from helpers.records import read
from helpers.refusals import assert_refused

LINES = [
    (b'{"text": "a", "url": 3}', "a"),
    (b'{"text": "b"}\r', "b"),
    (b"", ""),
    (b'{"text": " \\n"}', ""),
    (b'{"text": "\\ud83d\\ude00 \\u0000"}', "😀 \0"),
]

BROKEN = [
    b'{"text": "c"',
    b"nonsense",
    b"[" * 100_000,
    b'{"text": "c"} {}',
    b'{"texts": "c"}',
    b'{"text": 1}',
    b'{"text": null}',
    b'["text"]',
    b'{"text": "\xff"}',
    b'{"text": "\\ud800"}',
]


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".json.gz"])
def test_json_lines(tmp_path, suffix):
    content = b"\n".join(line for line, _ in LINES)
    path = tmp_path / f"lines{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    assert read(path) == [(number, text) for number, (_, text) in enumerate(LINES, 1) if text]


def test_text(tmp_path):
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"one \n\n \n{\r\nend"))
    (tmp_path / "link.txt.gz").symlink_to(tmp_path / "text.gz")
    assert read(tmp_path / "link.txt.gz") == [(1, "one "), (4, "{"), (5, "end")]


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_named(tmp_path, line):
    (tmp_path / "lines.jsonl").write_bytes(b"\n".join([LINES[0][0], line, LINES[1][0]]))
    assert_refused(r"lines\.jsonl:2: expected a JSON object with a text", read, tmp_path / "lines.jsonl")
    (tmp_path / "lines.txt").write_bytes(b"\ntw\xff")
    assert_refused(r"lines\.txt:2: expected UTF-8", read, tmp_path / "lines.txt")


@pytest.mark.parametrize("kept", [-1, -9, 40])
def test_a_gzip_file_that_is_cut_off_is_named(tmp_path, kept):
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(os.urandom(100).hex().encode() + b"\n")[:kept])
    assert_refused(r"cut\.txt\.gz: damaged or cut off after line [01];", read, tmp_path / "cut.txt.gz")


def test_lines_that_are_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(sources_module, "LONGEST", 12)
    (tmp_path / "long.txt").write_text("\n".join(["x" * 10, "x" * 11, "x" * 1000]))
    assert_refused(r"long\.txt:3: longer than 12 bytes", read, tmp_path / "long.txt")


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
    assert_refused("give a plain file", list, read_documents(source))


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["{}/none*.json"], "no such file"),
        (["none.json.gz"], "no such file"),
        (["./none"], "no such file"),
        (["{}/table.csv"], "expected a name that ends in .json, "),
        (["{}/folder"], "is a pipe, a device or a directory"),
        (["owner/corpus"], "no such file"),
    ],
)
def test_sources_that_can_not_be(patterns, message, tmp_path):
    (tmp_path / "table.csv").touch()
    (tmp_path / "folder").mkdir()
    assert_refused(message, find_sources, [pattern.format(tmp_path) for pattern in patterns])
