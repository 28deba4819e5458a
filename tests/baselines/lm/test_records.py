"""Reading sources: every format, and everything that can be wrong with a record."""

import gzip

import numpy as np
import pytest

from baselines.lm import records as records_module
from baselines.lm.prepare import prepare
from baselines.lm.sources import find_sources
from helpers.records import preparation_of, read, write_jsonl
from helpers.refusals import assert_refused

LINES = [
    (b'{"text": "a", "url": 3}', "a"),
    (b'{"text": "b"}\r', "b"),
    (b"", "empty"),
    (b'{"text": " \\n"}', "empty"),
    (b'{"text": "c"', "bad_json"),
    (b"nonsense", "bad_json"),
    (b"[" * 100_000, "bad_json"),
    (b'{"text": "c"} {}', "bad_json"),
    (b'{"texts": "c"}', "no_text"),
    (b'{"text": 1}', "no_text"),
    (b'{"text": null}', "no_text"),
    (b'["text"]', "no_text"),
    (b'{"text": "\xff"}', "bad_unicode"),
    (b'{"text": "\\ud800"}', "bad_unicode"),
    (b'{"text": "\\ud83d\\ude00 \\u0000"}', "😀 \0"),
]


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".json.gz"])
def test_json_lines(tmp_path, suffix):
    content = b"\n".join(line for line, _ in LINES)
    path = tmp_path / f"lines{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    expected = [(number, result) for number, (_, result) in enumerate(LINES, 1)]
    assert read(path) == expected


def test_text(tmp_path):
    (tmp_path / "lines.txt").write_bytes(b"one \n\n \ntw\xff\n{\r\nend")
    expected = ["one ", "empty", "empty", "bad_unicode", "{", "end"]
    assert read(tmp_path / "lines.txt") == list(enumerate(expected, 1))


@pytest.mark.parametrize("kept", [-1, -9, 600])
def test_a_gzip_file_that_is_cut_off_is_read_to_the_cut(tmp_path, kept):
    texts = [str(number) * 7 for number in np.random.default_rng(0).integers(0, 1 << 60, 100)]
    whole = gzip.compress(b"".join(b'{"text": "%s"}\n' % text.encode() for text in texts))
    (tmp_path / "cut.json.gz").write_bytes(whole[:kept])
    *found, last = read(tmp_path / "cut.json.gz")
    assert last == (len(found) + 1, "damaged_file")
    assert found == list(enumerate(texts[: len(found)], 1)) and len(found) > 10
    if kept == -1:
        assert len(found) == 100


def test_records_that_are_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(records_module, "LONGEST", 10)
    texts = ["x" * 10, "x" * 11, "x" * 1000, "end"]
    (tmp_path / "long.txt").write_text("\n".join(texts))
    assert read(tmp_path / "long.txt") == [(1, "x" * 10), (2, "too_long"), (3, "too_long"), (4, "end")]


def test_broken_records_are_counted_and_the_first_named(tmp_path, tokenizer):
    """Of a good source, and one with a record of each kind."""
    write_jsonl(tmp_path / "a.jsonl", ["right", ""])
    lines = [b'{"text": "first"}', *(line for line, _ in LINES), *[b"no"] * 30]
    (tmp_path / "broken.jsonl").write_bytes(b"\n".join(lines))
    broken = preparation_of(tokenizer, tmp_path / "*.jsonl")
    manifest = prepare(broken, tmp_path / "out", processes=1)
    assert manifest["documents"] == 5
    assert manifest["skipped"] == {"empty": 3, "bad_json": 34, "no_text": 4, "bad_unicode": 2}
    assert len(manifest["first_skipped"]) == 20
    assert manifest["first_skipped"][0] == f"{tmp_path / 'broken.jsonl'}:6: not valid JSON"


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
