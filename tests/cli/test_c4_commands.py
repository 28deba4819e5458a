"""`sraven c4`: what it prints, its exit codes, and what it doesn't import."""

import json
from pathlib import Path

import pytest

from baselines.lm.tokenizer import train_tokenizer

WORDS = ["red", "green", "blue", "round", "square"]


@pytest.fixture(autouse=True)
def corpus(tmp_path, monkeypatch):
    """A folder with two files, one of which has an empty document, to work in."""
    monkeypatch.chdir(tmp_path)
    texts = [f"{first} {second} things" for first in WORDS for second in WORDS]
    lines = [json.dumps({"text": text}) for text in texts]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "b.jsonl").write_text("\n".join([*lines, '{"text": ""}']))
    (tmp_path / "own.model").write_bytes(train_tokenizer(texts, 278).model)
    return tmp_path


def prepare(run, *more, source="*.jsonl", tokenizer="own.model", out="tokens"):
    return run(
        *("c4", "prepare", "--source", source, "--tokenizer", tokenizer),
        *("--out", out, "--processes", 1, *more),
    )


def test_what_was_prepared_is_printed(run):
    code, out, err = prepare(run)
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:2] == ["50 documents in 2 shards below tokens", "860 bytes of text"]
    assert len(lines) == 3 and err == ""
    assert prepare(run) == (code, out, err)
    first = json.loads(Path("tokens/manifest.json").read_text())
    again = json.loads(prepare(run, "--json", tokenizer="tokens/tokenizer.model", out="again")[1])
    assert all(again[name] == first[name] for name in ("tokenizer", "shards"))
    code, out, err = prepare(run, source="a.jsonl")
    assert (code, err.count("\n")) == (2, 1) and "sources differ" in err and "--force" in err
    result = json.loads(prepare(run, "--force", "--json", source="a.jsonl")[1])
    manifest = json.loads(Path("tokens/manifest.json").read_text())
    assert result == {"path": "tokens", **{name: manifest[name] for name in manifest if name != "plan"}}
    assert result["documents"] == 25


def test_errors_are_one_line_and_leave_nothing(refused, corpus):
    before = sorted(corpus.iterdir())
    assert "x.model': No such file or directory; give a" in prepare(refused, tokenizer="x.model")
    assert sorted(corpus.iterdir()) == before


def test_a_tokenizer_is_trained_of_the_documents(run, refused, tmp_path):
    text = "\n".join(f"line {number} of {number % 7} and {number % 11} words" for number in range(300))
    (tmp_path / "own.txt").write_text(text)
    first, again = (
        json.loads(prepare(run, "--json", source="own.txt", tokenizer="train:300", out=out)[1])
        for out in ("one", "two")
    )
    assert first["tokenizer"]["pieces"] == 300 and first["shards"] == again["shards"]
    line = ("c4", "prepare", "--source", "own.txt", "--out", "three", "--tokenizer")
    assert "--tokenizer train:N=10: expected an integer from 260" in refused(*line, "train:10")
    assert "train:N='many': expected an integer" in refused(*line, "train:many")
    assert "tokenizer='train:60000': Vocabulary size" in refused(*line, "train:60000")
