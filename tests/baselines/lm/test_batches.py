"""Batches as a pure function of the step: windows to train on, and documents to be evaluated on.

Of those, every token but BOS is a target once, and every byte is counted once.
"""

import grain
import numpy as np
import pytest

from baselines.lm import corpus as corpus_module
from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.prepare import prepare
from baselines.lm.share import BatchShare
from baselines.lm.tokenizer import train_tokenizer
from baselines.lm.windows import Windows
from helpers.records import preparation_of, write_jsonl
from helpers.refusals import assert_refused
from sraven.core.errors import ConfigurationError, OutputError

T = 5


@pytest.fixture(scope="module")
def corpus(directory):
    return Corpus(directory)


@pytest.fixture(scope="module")
def tokens(directory):
    """All tokens, without the code under test."""
    return np.concatenate([np.load(path) for path in sorted((directory / "shards").glob("*.tokens.npy"))])


def test_reading_crosses_shards_of_which_few_stay_open(directory, tokens, monkeypatch):
    monkeypatch.setattr(corpus_module, "OPEN_SHARDS", 2)
    corpus = Corpus(directory)
    assert len(tokens) == corpus.tokens
    for start in range(0, corpus.tokens, 13):
        for count in (0, 1, 90, corpus.tokens - start):
            count = min(count, corpus.tokens - start)
            np.testing.assert_array_equal(corpus.read(start, count), tokens[start : start + count])
    assert corpus._map.cache_info().currsize == 2
    with pytest.raises(IndexError):
        corpus.read(corpus.tokens, 1)


def test_every_window_once_an_epoch_in_an_order_of_its_own(corpus, tokens):
    expected = np.lib.stride_tricks.sliding_window_view(tokens, T + 1)[::T].tolist()
    orders = []
    for seed, epoch in ((0, 0), (0, 1), (0, 7), (1, 0), (1, 1)):
        windows = Windows(corpus, T, BatchShare(1), seed)
        assert windows.count == (len(tokens) - 1) // T
        first = epoch * windows.count
        rows = [windows.batch(step)[0].tolist() for step in range(first, first + windows.count)]
        assert sorted(rows) == sorted(expected) and rows not in orders
        orders.append(rows)


def test_the_order_is_pinned(corpus):
    # A run that resumes with another version of Grain would else repeat and skip windows unawares.
    shuffled = grain.MapDataset.range(1000).seed(3).shuffle().repeat()
    assert [shuffled[index] for index in (0, 1, 2, 1000, 1001)] == [104, 380, 921, 531, 982]
    windows = Windows(corpus, T, BatchShare(4), seed=3)
    shuffled = grain.MapDataset.range(windows.count).seed(3).shuffle().repeat()
    rows = np.stack([corpus.read(T * shuffled[index], T + 1) for index in range(4)])
    np.testing.assert_array_equal(windows.batch(0), rows)


@pytest.mark.parametrize("length", [1, 4, 1000])
def test_documents_come_in_order(corpus, length):
    documents = Documents(corpus, length, BatchShare(5))
    batches = [documents.batch(step) for step in range(documents.steps)]
    each_row = (
        row for batch in batches for row in zip(batch.tokens, batch.mask, batch.document, strict=True)
    )
    rows = [row for row in each_row if row[2] >= 0]
    for index, entry in enumerate(corpus.read_documents()):
        whole = corpus.read(int(entry["start"]), int(entry["tokens"]))
        own = [(tokens, mask) for tokens, mask, document in rows if document == index]
        np.testing.assert_array_equal(np.concatenate([tokens[1:][mask] for tokens, mask in own]), whole[1:])
        assert [int(tokens[0]) for tokens, _ in own] == whole[:-1:length].tolist()
    assert [document for *_, document in rows] == sorted(document for *_, document in rows)
    assert sum(int(batch.text_bytes.sum()) for batch in batches) == corpus.text_bytes
    assert sum(int(batch.targets.sum()) for batch in batches) == corpus.tokens - corpus.documents
    assert all((batch.mask.sum(1) == batch.targets).all() for batch in batches)
    assert all((batch.tokens[:, 1:][~batch.mask] == 0).all() for batch in batches)
    if length == 1000:  # rows fill the last batch
        last = batches[-1]
        assert documents.pieces == 29 and last.document.tolist() == [25, 26, 27, 28, -1]
        assert last.targets[-1] == last.text_bytes[-1] == 0 and not last.mask[-1].any()


@pytest.mark.parametrize("step", [0, 3, 10**9])
def test_same_batch_for_any_number_of_processes(corpus, step):
    whole = Windows(corpus, T, BatchShare(12)).batch(step)
    assert whole.shape == (12, T + 1) and whole.dtype == np.int32
    for count in (2, 3, 12):
        parts = [Windows(corpus, T, BatchShare(12, process, count)).batch(step) for process in range(count)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_same_rows_of_documents_for_any_number_of_processes(corpus):
    whole = Documents(corpus, 4, BatchShare(6)).batch(2)
    parts = [Documents(corpus, 4, BatchShare(6, process, 3)).batch(2) for process in range(3)]
    for name, values in vars(whole).items():
        np.testing.assert_array_equal(np.concatenate([vars(part)[name] for part in parts]), values)


def test_several_directories_are_one_corpus(corpus, directory, tokenizer, tmp_path):
    write_jsonl(tmp_path / "more.jsonl", ["some more"])
    prepare(preparation_of(tokenizer, tmp_path / "more.jsonl"), tmp_path / "more", processes=1)
    both, more = Corpus(directory, tmp_path / "more"), Corpus(tmp_path / "more")
    assert both.documents == corpus.documents + 1
    wanted = [corpus.read(corpus.tokens - 3, 3), more.read(0, more.tokens)]
    np.testing.assert_array_equal(both.read(corpus.tokens - 3, 3 + more.tokens), np.concatenate(wanted))
    assert both.read_documents()["start"][-1] == corpus.tokens
    other = train_tokenizer(["a b c", "c b a"], 265)
    prepare(preparation_of(other, tmp_path / "more.jsonl"), tmp_path / "other", processes=1)
    assert_refused("another tokenizer", Corpus, directory, tmp_path / "other", error=OutputError)


def test_damaged_shards_are_named(preparation, tmp_path):
    prepare(preparation, tmp_path, processes=1)
    path = tmp_path / "shards" / "00001.tokens.npy"
    np.save(path, np.zeros(3, np.uint16))
    for found in (r"has uint16 \[3\]", ".*can't be read"):
        with pytest.raises(OutputError, match=rf"00001.tokens.npy {found}"):
            Corpus(tmp_path).read(0, Corpus(tmp_path).tokens)
        path.write_bytes(b"")
    (tmp_path / "tokenizer.model").write_bytes(b"")
    with pytest.raises(ConfigurationError):
        Corpus(tmp_path).read_tokenizer()
