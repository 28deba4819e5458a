"""Documents to shards: the bytes, whatever happens on the way to them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baselines.lm import token_shards as shards_module
from baselines.lm.corpus import Corpus
from baselines.lm.prepare import prepare
from baselines.lm.tokenizer import Tokenizer, train_tokenizer
from helpers.example import all_bytes
from helpers.records import preparation_of, write_jsonl
from helpers.refusals import assert_refused
from sraven.core.errors import ConfigurationError
from sraven.files.files import sha256_of_file


def train_characters(text, size, **special):
    """Return a tokenizer of single characters, the most frequent first."""
    return train_tokenizer([text], size, model_type="char", byte_fallback=False, **special)


def test_golden(tmp_path, monkeypatch):
    # "▁aaa▁b" has a three times, ▁ twice and b once: a is 4, ▁ is 5, b is 6; BOS is 2, EOS 1.
    tokenizer = train_characters("aaa b", 7)
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "first.json", ["ab", "", "b  a", "bb"])
    (tmp_path / "second.txt").write_text("a\n\nba\n")
    preparation = preparation_of(tokenizer, "first.json", "second.txt")
    manifest = prepare(preparation, tmp_path / "out", processes=1)

    shards = tmp_path / "out" / "shards"
    assert [shard["name"] for shard in manifest["shards"]] == ["00000", "00001"]
    tokens = [np.load(shards / f"{shard['name']}.tokens.npy", mmap_mode="r") for shard in manifest["shards"]]
    assert [part.tolist() for part in tokens] == [
        [2, 5, 4, 6, 1, 2, 5, 6, 5, 4, 1, 2, 5, 6, 6, 1],
        [2, 5, 4, 1, 2, 5, 6, 4, 1],
    ]
    assert all(part.dtype == np.uint16 for part in tokens)
    tables = [np.load(shards / f"{shard['name']}.documents.npy") for shard in manifest["shards"]]
    assert [table.tolist() for table in tables] == [
        [(0, 5, 2, 1), (5, 6, 4, 3), (11, 5, 2, 4)],
        [(0, 4, 1, 1), (4, 5, 2, 3)],
    ]
    assert tables[0].dtype.names == ("start", "tokens", "bytes", "record")
    totals = [manifest[key] for key in ("documents", "tokens", "text_bytes")]
    assert totals == [5, 25, 11]
    assert Corpus(tmp_path / "out").read_documents()["record"].tolist() == [1, 3, 4, 1, 3]
    sha256 = sha256_of_file(tmp_path / "out" / "tokenizer.model")
    known = {"file": "tokenizer.model", "sha256": sha256, "pieces": 7}
    assert manifest["tokenizer"] == {**known, "pad": 0, "eos": 1, "bos": 2, "unk": 3}


def test_manifest_names_every_file_with_its_digest(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    found = {path.name: sha256_of_file(path) for path in (directory / "shards").iterdir()}
    assert found == {
        f"{shard['name']}.{array}.npy": digest
        for shard in manifest["shards"]
        for array, digest in shard["sha256"].items()
    }
    assert sum(shard["documents"] for shard in manifest["shards"]) == manifest["documents"] == 29
    assert sorted(path.name for path in directory.iterdir()) == ["manifest.json", "shards", "tokenizer.model"]


def test_same_bytes_for_any_number_of_processes_and_batches_of_the_tokenizer(
    preparation, directory, tmp_path, monkeypatch
):
    progress = []
    prepare(preparation, tmp_path / "two", processes=2, on_progress=lambda *more: progress.append(more))
    assert tuple(map(sum, zip(*progress, strict=True))) == (29, Corpus(directory).text_bytes)
    monkeypatch.setattr(shards_module, "_BATCH_DOCUMENTS", 2)
    prepare(preparation, tmp_path / "one", processes=1)
    assert all_bytes(tmp_path / "one") == all_bytes(tmp_path / "two") == all_bytes(directory)


def test_sources_without_documents(tokenizer, tmp_path):
    (tmp_path / "empty.jsonl").write_text('\n{"text": ""}\n')
    with pytest.raises(ConfigurationError, match=r"no document in 1 sources; check them"):
        prepare(preparation_of(tokenizer, tmp_path / "empty.jsonl"), tmp_path / "out", processes=1)
    assert not (tmp_path / "out").exists()


def test_tokenizers_that_can_not_be_used(tokenizer, monkeypatch):
    for content in (b"no model", b""):
        assert_refused("not a SentencePiece model", Tokenizer, content, "file")
    monkeypatch.setattr("baselines.lm.tokenizer.MOST_PIECES", 284)
    assert_refused("has 285 pieces", Tokenizer, tokenizer.model, "file")
    assert_refused("has no bos", train_characters, "a b", 6, bos_id=-1)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=8))
def test_round_trip(tmp_path_factory, tokenizer, texts):
    folder = tmp_path_factory.mktemp("round")
    texts = [*texts, "last"]
    write_jsonl(folder / "texts.jsonl", texts)
    prepare(preparation_of(tokenizer, folder / "texts.jsonl"), folder / "out", processes=1)
    kept = [text for text in texts if text.strip()]
    corpus = Corpus(folder / "out")
    table = corpus.read_documents()
    assert table["bytes"].tolist() == [len(text.encode()) for text in kept]
    for row, text in zip(table, kept, strict=True):
        tokens = corpus.read(int(row["start"]), int(row["tokens"]))
        assert tokens[0] == 2 and tokens[-1] == 1
        normalized = tokenizer.processor.normalize(text).replace("▁", " ").removeprefix(" ")
        assert tokenizer.processor.decode(tokens.tolist()) == normalized
